import { describe, expect, it } from 'vitest';
import { createHttpHandler, requestFrom } from '../../../adapters/compat/index.js';
import { manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { createEngine, hostPrincipal } from '../../../src/index.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { type MonitorLogInput, monitorLog } from '../../../src/operations/store/monitor-log.js';
import { second } from '../../../src/shared/duration.js';
import { serviceJob } from '../jobs/world.js';

function logged() {
  const clock = manualClock();
  const engine = createEngine({
    storage: memoryStorage(),
    clock,
    ids: sequentialIds(),
    delivery: recordingDelivery({ clock }),
  });
  const reading = new AbortController();
  const read = async (input: MonitorLogInput = {}) => {
    const entries = (await monitorLog(engine, hostPrincipal, { ...input, signal: reading.signal }))._unsafeUnwrap();
    const iterator = entries[Symbol.asyncIterator]();
    // The sign of life with which every reading begins.
    expect(await iterator.next()).toEqual({ done: false, value: undefined });
    return async () => (await iterator.next()).value;
  };
  return { engine, clock, read, reading };
}

describe('a log that is read along', () => {
  it('gives what is logged from then on, of the level or above', async () => {
    const { engine, read } = logged();
    engine.logger.error({}, 'before');
    const all = await read({ level: 'DEBUG' });
    const warnings = await read({ level: 'warn' });
    engine.logger.debug({ a: 1 }, 'one');
    engine.logger.warn({ b: 2 }, 'two');
    expect(await all()).toMatchObject({ level: 'debug', message: 'one', fields: { a: 1 } });
    expect(await all()).toMatchObject({ level: 'warn', message: 'two' });
    expect(await warnings()).toMatchObject({ level: 'warn', message: 'two', fields: { b: 2 } });
  });

  it('tells every fact at the level trace', async () => {
    const { engine, read } = logged();
    const next = await read({ level: 'trace' });
    (await registerJob(engine, hostPrincipal, { job: serviceJob('web') }))._unsafeUnwrap();
    expect(await next()).toMatchObject({ level: 'trace', fields: { namespace: 'default', jobId: 'web' } });
  });

  it('tells every request at the level debug, without its query', async () => {
    const { engine, read } = logged();
    const [next, others] = [await read({ level: 'debug' }), await read({ level: 'info' })];
    const ask = createHttpHandler(engine, { access: 'open' });
    await ask(requestFrom({ target: '/v1/job/none?namespace=secret' }));
    await ask(requestFrom({ method: 'DELETE', target: '/v1/jobs' }));
    await ask(requestFrom({ target: '/v1/regions' }));
    engine.logger.info({}, 'then');
    const message = 'http: request complete';
    const fields = { method: 'GET', path: '/v1/job/none', status: 404, duration: expect.stringMatching(/^[0-9.]+ms$/) };
    expect(await next()).toMatchObject({ level: 'debug', message, fields });
    expect(await next()).toMatchObject({ level: 'debug', message, fields: { path: '/v1/regions', status: 200 } });
    expect(await next()).toMatchObject({ message: 'then' });
    expect(await others()).toMatchObject({ message: 'then' });
  });

  it('gives a sign of life while nothing is logged, and ends with its reader', async () => {
    const { clock, read, reading } = logged();
    const next = await read();
    const quiet = next();
    await clock.advance(10 * second);
    expect(await quiet).toBe(undefined);
    const last = next();
    reading.abort();
    await last;
    expect(await next()).toBe(undefined);
  });

  it('tells a slow reader how much it missed, and holds no more for it', async () => {
    const { engine, read } = logged();
    const next = await read();
    for (let i = 0; i < 600; i += 1) engine.logger.info({ i }, 'many');
    for (let i = 0; i < 512; i += 1) expect((await next())?.fields).toEqual({ i });
    expect(await next()).toMatchObject({ level: 'warn', fields: { entries: 88 } });
  });

  it.each([
    [{ level: 'loud' }, 'Unknown log level: loud'],
    [{ serverId: 'nobody' }, 'unknown server nobody'],
    [{ nodeId: 'nonsense' }, 'node lookup failed: a node ID is a UUID of 36 characters'],
    [{ nodeId: '00000000-1111-2222-3333-444444444444' }, 'Unknown node "00000000-1111-2222-3333-444444444444"'],
  ])('is refused for %j', async (input, message) => {
    const { engine } = logged();
    const refused = await monitorLog(engine, hostPrincipal, { ...input, signal: new AbortController().signal });
    expect(refused._unsafeUnwrapErr()).toMatchObject({ message });
  });

  it('needs the right to read the agent', async () => {
    const { engine } = logged();
    const log = engine.as({ ...hostPrincipal, management: false }).system.monitor();
    await expect(log[Symbol.asyncIterator]().next()).rejects.toMatchObject({ type: 'permission_denied' });
  });

  it('is answered as lines of text, as JSON, and in frames', async () => {
    const { engine } = logged();
    const handler = createHttpHandler(engine, { access: 'open' });
    const begun = async (query: string) => {
      const { body } = await handler(requestFrom({ target: `/v1/agent/monitor?${query}` }));
      return (body as AsyncIterable<Uint8Array | string>)[Symbol.asyncIterator]();
    };
    const text = async (iterator: AsyncIterator<Uint8Array | string>) =>
      Buffer.from((await iterator.next()).value as Uint8Array).toString();
    const plain = await begun('plain=true');
    const waiting = text(plain);
    const json = await begun('plain=true&log_json=true');
    const waitingForJson = text(json);
    const frames = await begun('');
    expect(await text(frames)).toBe('{}');
    await Promise.resolve();
    const hostile = Object.assign(Object.create(null), { id: 'a b', line: 'x\n[ERROR] forged', n: 1n });
    engine.logger.info(hostile, 'two\nlines');
    expect(await waiting).toBe(
      '2026-01-01T00:00:00.000Z [INFO]  two lines: id="a b" line="x\\n[ERROR] forged" n="unprintable"\n',
    );
    expect((await waitingForJson).trim().split('\n')).toHaveLength(1);
    const { Data } = JSON.parse(await text(frames));
    expect(Buffer.from(Data, 'base64').toString()).toContain('[INFO]  two lines');
  });
});
