import { existsSync, readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  acquireLock,
  type LockedVariable,
  releaseLock,
  renewLock,
} from '../../../../adapters/cli/variables/held-lock.js';
import { manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../../../adapters/memory/index.js';
import { connect, orThrow } from '../../../../src/client/index.js';
import { createEngine, hostPrincipal } from '../../../../src/index.js';
import type { Clock } from '../../../../src/ports/index.js';
import { endAll, signalbox, temporaryFolder } from '../cli-process.js';
import { typed } from '../typed-commands.js';

let origin = '';

beforeAll(async () => {
  origin = await signalbox(['serve', '--listen', '127.0.0.1:0', '--access', 'open', '--no-runner']).origin();
});
afterAll(endAll);

const run = (...words: readonly string[]) => typed(origin, {}, 'var', 'lock', ...words);

describe('var lock', () => {
  it('runs a command with its exit code, keeps the items, and gives the lock back', async () => {
    const file = join(temporaryFolder(), 'out');
    await typed(origin, {}, 'var', 'put', 'leader', 'who=me');
    expect(await run('leader', 'sh', '-c', 'echo "$1" > "$2"; exit 3', '-', 'a b', file)).toEqual({
      code: 3,
      out: '',
      error: '',
    });
    expect(readFileSync(file, 'utf8')).toBe('a b\n');
    expect((await typed(origin, {}, 'var', 'get', '-item', 'who', 'leader')).out).toBe('me');
    expect((await run('-delay', '1s', 'leader', `exit 4`)).code).toBe(4);
    expect((await run('leader', 'kill -TERM $$')).code).toBe(143);
  });

  it('runs one command at a time, and the next when the first has ended', async () => {
    const folder = temporaryFolder();
    const [begun, go] = [join(folder, 'begun'), join(folder, 'go')];
    const first = run('turn', `touch '${begun}'; until [ -e '${go}' ]; do sleep 0.05; done`);
    await expect.poll(() => existsSync(begun)).toBe(true);
    expect(await run('-max-wait', '0s', 'turn', 'true')).toEqual({
      code: 1,
      out: '',
      error: 'signalbox: variable turn is locked\n',
    });
    expect((await typed(origin, {}, 'var', 'put', 'turn', 'a=1')).error).toBe('signalbox: variable turn is locked\n');
    const second = run('turn', `test -e '${go}'`);
    expect((await run('-max-wait', '0s', 'other', `touch '${go}'`)).code).toBe(0);
    expect((await first).code).toBe(0);
    expect((await second).code).toBe(0);
  });

  it('gives the lock back when the command cannot be run, and tells it', async () => {
    const refused = await run('broken', '/does/not/exist', 'x');
    expect(refused.code).toBe(127);
    expect(refused.error).toContain('/does/not/exist cannot be run');
    expect((await run('-max-wait', '0s', 'broken', 'true')).code).toBe(0);
  });

  it('passes SIGTERM on to the command, and gives the lock back behind it', async () => {
    const file = join(temporaryFolder(), 'runs');
    const script = `trap 'exit 9' TERM; touch '${file}'; while true; do sleep 0.05; done`;
    const held = signalbox(['var', 'lock', '-ttl', '10s', 'ended', script], { SIGNALBOX_ADDR: origin });
    await expect.poll(() => existsSync(file)).toBe(true);
    const { value } = await orThrow(connect({ url: origin }).variables.read('ended'));
    expect(value?.Lock).toMatchObject({ ID: '', TTL: '10s' });
    held.process.kill('SIGTERM');
    expect((await held.ended).code).toBe(9);
    expect((await run('-max-wait', '0s', 'ended', 'true')).code).toBe(0);
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('gives a lock back that it got while %s came, and runs nothing', async (signal, code) => {
    const file = join(temporaryFolder(), signal);
    const path = `late-${signal}`;
    const server = await firstAnswerHeldBack();
    const ended = typed(server.origin, {}, 'var', 'lock', '-ttl', '10m', path, `touch '${file}'`);
    await server.held;
    process.emit(signal, signal);
    server.release();
    expect(await ended).toEqual({ code, out: '', error: '' });
    expect(existsSync(file)).toBe(false);
    expect((await run('-max-wait', '0s', path, 'true')).code).toBe(0);
    await server.close();
  });

  it('ends at SIGTERM while it waits for a lock that another one holds', async () => {
    await orThrow(connect({ url: origin }).variables.put('kept', { acquire: true }));
    const server = await firstAnswerHeldBack();
    const ended = typed(server.origin, {}, 'var', 'lock', 'kept', 'true');
    await server.held;
    server.release();
    await server.second;
    process.emit('SIGTERM', 'SIGTERM');
    expect((await ended).code).toBe(143);
    await server.close();
    expect((await run('-max-wait', '0s', 'kept', 'true')).error).toBe('signalbox: variable kept is locked\n');
  });

  it.each([
    [['-ttl', 'soon', 'x', 'true'], 2, '--ttl takes a duration'],
    [['-ttl', '1s', 'x', 'true'], 1, 'TTL must be between 10 seconds and 24 hours'],
    [['x'], 2, 'COMMAND'],
  ])('%j is refused', async (words, code, message) => {
    const refused = await run(...words);
    expect([refused.code, refused.error]).toEqual([code, expect.stringContaining(message)]);
  });
});

/** A server before the real one that keeps the first answer to itself for a while. */
async function firstAnswerHeldBack() {
  const [held, second, released] = [signalOnce(), signalOnce(), signalOnce()];
  let asked = 0;
  const server = createServer((message, answer) => {
    const nth = ++asked;
    if (nth === 2) second.give();
    const { method, url, headers } = message;
    const forwarded = request(`${origin}${url}`, { method, headers }, (answered) => {
      const passOn = (): void => {
        answer.writeHead(answered.statusCode ?? 0, answered.headers);
        answered.pipe(answer);
      };
      if (nth !== 1) return passOn();
      held.give();
      void released.given.then(passOn);
    });
    forwarded.on('error', () => answer.destroy());
    message.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    held: held.given,
    second: second.given,
    release: released.give,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

function signalOnce() {
  let give = (): void => undefined;
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { given, give };
}

describe('a held lock', () => {
  const ttl = 30_000;
  const at = (clock: Clock) => ({ clock, maximumWait: 0, signal: new AbortController().signal });

  function world() {
    const clock = manualClock();
    const ports = { storage: memoryStorage(), clock, ids: sequentialIds(), delivery: recordingDelivery({ clock }) };
    const variable: LockedVariable = {
      box: createEngine(ports).as(hostPrincipal),
      path: 'leader',
      inNamespace: {},
    };
    return { clock, variable };
  }

  it('outlives its time while it is renewed', async () => {
    const { clock, variable } = world();
    const lock = await acquireLock(variable, { ttl }, at(clock));
    if (lock === undefined) throw new Error('nobody else has it');
    const ended = new AbortController();
    const renewing = renewLock(variable, lock, clock, ended.signal);
    for (let i = 0; i < 10; i += 1) await clock.advance(ttl / 2);
    expect(await acquireLock(variable, {}, at(clock))).toBeUndefined();
    ended.abort();
    await renewing;
    await releaseLock(variable, lock);
    expect(await acquireLock(variable, {}, at(clock))).toBeDefined();
  });

  it.each([
    ['another one has', 0],
    ['was lost and cannot be acquired again yet', ttl],
  ])('that %s is waited for no longer than was asked', async (_, elapsed) => {
    const { clock, variable } = world();
    await acquireLock(variable, { ttl, delay: 60_000 }, at(clock));
    await clock.advance(elapsed);
    let given: unknown = 'nothing yet';
    const waiting = { clock, maximumWait: 400, signal: new AbortController().signal };
    const acquired = acquireLock(variable, {}, waiting).then((lock) => {
      given = lock;
    });
    await clock.advance(300);
    expect(given).toBe('nothing yet');
    await clock.advance(200);
    expect(given).toBeUndefined();
    await acquired;
  });

  it('is told to be lost when another one has it', async () => {
    const { clock, variable } = world();
    const lock = await acquireLock(variable, { ttl, delay: 1 }, at(clock));
    if (lock === undefined) throw new Error('nobody else has it');
    await releaseLock(variable, lock);
    expect(await acquireLock(variable, {}, at(clock))).toBeDefined();
    const renewing = expect(renewLock(variable, lock, clock, new AbortController().signal)).rejects.toThrow(
      'the lock of leader is lost',
    );
    await clock.advance(ttl / 2);
    await renewing;
  });

  it('is told to be lost when no server has answered for as long as it lasts', async () => {
    const { clock } = world();
    const box = connect({
      url: 'http://127.0.0.1:1',
      fetch: () => Promise.reject(new TypeError('down')),
    });
    const variable: LockedVariable = { box, path: 'leader', inNamespace: {} };
    let isLost = false;
    const renewing = renewLock(variable, { id: 'x', ttl }, clock, new AbortController().signal).catch(() => {
      isLost = true;
    });
    await clock.advance(ttl / 2);
    expect(isLost).toBe(false);
    await clock.advance(ttl);
    await renewing;
    expect(isLost).toBe(true);
  });
});
