import { describe, expect, it } from 'vitest';
import { createHttpHandler, type HttpResponse, requestFrom } from '../../../adapters/compat/index.js';
import { manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { createEngine, hostPrincipal } from '../../../src/index.js';
import { putToken } from '../../../src/operations/access/tokens/put-token.js';
import { hour } from '../../../src/shared/duration.js';
import { sampleJob } from './route-samples.js';

/** Callers whose token, roles or policies change while they wait or listen. */

const rules = (policy: string) => ({ Rules: `namespace "default" { policy = "${policy}" }` });

async function installation() {
  const clock = manualClock(Date.parse('2030-01-01T00:00:00Z'));
  const ports = { storage: memoryStorage(), clock, ids: sequentialIds(), delivery: recordingDelivery({ clock }) };
  const engine = createEngine(ports);
  const { secret } = (await putToken(engine, hostPrincipal, { name: 'm', management: true }))._unsafeUnwrap();
  const handler = createHttpHandler(engine, { access: 'token', names: 'upstream' });
  const ask = (target: string, token: string | undefined, more: object = {}) =>
    handler(requestFrom({ target, headers: token === undefined ? {} : { 'x-nomad-token': token }, ...more }));
  /** As an operator. */
  const change = async <T = unknown>(method: string, target: string, body?: object): Promise<T> => {
    const { status, body: answer } = await ask(target, secret, { method, ...(body && { body }) });
    expect(status, String(answer)).toBe(200);
    return (String(answer) === '' ? undefined : JSON.parse(String(answer))) as T;
  };
  for (const name of ['p', 'other']) await change('PUT', `/v1/acl/policy/${name}`, { Name: name, ...rules('read') });
  const role = await change<{ readonly ID: string }>('PUT', '/v1/acl/role', { Name: 'r', Policies: [{ Name: 'p' }] });
  const token = (more: object) =>
    change<{ readonly SecretID: string; readonly AccessorID: string }>('PUT', '/v1/acl/token', {
      Name: 't',
      Type: 'client',
      ...more,
    });
  return {
    engine,
    clock,
    handler,
    ask,
    change,
    register: (id: string) => change('PUT', '/v1/jobs', { Job: sampleJob(id) }),
    role,
    byPolicy: await token({ Policies: ['p'] }),
    byRole: await token({ Roles: [{ ID: role.ID }] }),
    short: await token({ Policies: ['p'], ExpirationTTL: '1h' }),
  };
}

type House = Awaited<ReturnType<typeof installation>>;

const losses: readonly [string, 'byPolicy' | 'byRole', (house: House) => Promise<unknown>][] = [
  [
    'the token was removed',
    'byPolicy',
    ({ change, byPolicy }) => change('DELETE', `/v1/acl/token/${byPolicy.AccessorID}`),
  ],
  ['the policy was removed', 'byPolicy', ({ change }) => change('DELETE', '/v1/acl/policy/p')],
  ['the role was removed', 'byRole', ({ change, role }) => change('DELETE', `/v1/acl/role/${role.ID}`)],
  ['the policy denies', 'byRole', ({ change }) => change('PUT', '/v1/acl/policy/p', { Name: 'p', ...rules('deny') })],
];

describe('a read that waited', () => {
  const indexOf = ({ headers }: HttpResponse) => Number(headers[headers.indexOf('X-Nomad-Index') + 1]);

  /** Begins to wait for the next change of the jobs. */
  async function waiting(house: House, secret: string | undefined) {
    await house.register('before');
    const index = indexOf(await house.ask('/v1/jobs', secret));
    const answer = Promise.resolve(house.ask(`/v1/jobs?index=${index}&wait=60s`, secret));
    await expect.poll(() => house.engine.parked.size).toBe(1);
    return { answer };
  }

  it.each(losses)('is refused when meanwhile %s', async (_how, holder, lose) => {
    const house = await installation();
    const { answer } = await waiting(house, house[holder].SecretID);
    await lose(house);
    await house.register('after');
    expect((await answer).status).toBe(403);
  });

  it('is refused when meanwhile the policy of those without a token was removed', async () => {
    const house = await installation();
    await house.change('PUT', '/v1/acl/policy/anonymous', { Name: 'anonymous', ...rules('read') });
    const { answer } = await waiting(house, undefined);
    await house.change('DELETE', '/v1/acl/policy/anonymous');
    await house.register('after');
    expect((await answer).status).toBe(403);
  });

  it('is answered when the rights of others changed', async () => {
    const house = await installation();
    const { answer } = await waiting(house, house.byPolicy.SecretID);
    await house.change('DELETE', '/v1/acl/policy/other');
    await house.register('after');
    const { status, body } = await answer;
    expect(status).toBe(200);
    expect(JSON.parse(String(body))).toMatchObject([{ ID: 'after' }, { ID: 'before' }]);
  });
});

describe('an event stream', () => {
  async function listening(house: House, secret: string) {
    const { status, body } = await house.ask('/v1/event/stream?topic=Job', secret);
    expect(status).toBe(200);
    const items = (body as AsyncIterable<string>)[Symbol.asyncIterator]();
    expect((await items.next()).value).toContain('{}');
    return items;
  }

  it.each(losses)('ends when %s, and tells nothing of what comes after', async (_how, holder, lose) => {
    const house = await installation();
    const items = await listening(house, house[holder].SecretID);
    const next = items.next();
    await lose(house);
    await house.register('after');
    expect(await next).toMatchObject({ done: true });
  });

  it('ends when the token expires', async () => {
    const house = await installation();
    const items = await listening(house, house.short.SecretID);
    await house.register('before');
    expect((await items.next()).value).toContain('"before"');
    await house.clock.advance(hour);
    await house.register('after');
    // At most a sign of life comes before the end.
    const heard = [];
    for (let item = await items.next(); item.done !== true; item = await items.next()) heard.push(item.value.trim());
    expect(heard.filter((line) => line !== '{}')).toEqual([]);
  });

  it('goes on when the rights of others change', async () => {
    const house = await installation();
    const items = await listening(house, house.byPolicy.SecretID);
    await house.change('DELETE', '/v1/acl/policy/other');
    await house.register('after');
    expect((await items.next()).value).toContain('"after"');
    await items.return?.();
  });
});

it('a caller within a trace is still the holder of its token', async () => {
  const { handler, byPolicy } = await installation();
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const headers = { 'x-nomad-token': byPolicy.SecretID, traceparent };
  const made = await handler(requestFrom({ method: 'PUT', target: '/v1/acl/token/onetime', headers }));
  expect(made.status).toBe(200);
  const own = await handler(requestFrom({ target: '/v1/acl/token/self', headers }));
  expect(JSON.parse(String(own.body))).toMatchObject({ SecretID: byPolicy.SecretID });
});
