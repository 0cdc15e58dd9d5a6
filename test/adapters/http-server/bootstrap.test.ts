import { describe, expect, it } from 'vitest';
import { createHttpHandler, type HttpHandlerOptions, requestFrom } from '../../../adapters/compat/index.js';
import { memoryStorage, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { manualClock } from '../../../adapters/memory/manual-clock.js';
import { createEngine, type Engine, hostPrincipal } from '../../../src/index.js';
import { listTokens } from '../../../src/operations/access/tokens/put-token.js';
import { removeToken } from '../../../src/operations/access/tokens/save-token.js';
import type { ReadView, Storage } from '../../../src/ports/storage.js';
import { engineUnderTest } from './engine-under-test.js';

const uuid = '6f1d2e3c-0000-4000-8000-00000000000a';

async function bootstrap(engine: Engine, options: HttpHandlerOptions, body?: unknown) {
  const handler = createHttpHandler(engine, options);
  const request = { method: 'POST', target: '/v1/acl/bootstrap' };
  const response = await handler(requestFrom(body === undefined ? request : { ...request, body }));
  return { status: response.status, text: String(response.body) };
}

const tokensOf = async (engine: Engine) => (await listTokens(engine, hostPrincipal))._unsafeUnwrap();

describe('the first token over HTTP', () => {
  it.each<[string, HttpHandlerOptions, number]>([
    ['tokens of the store', { access: 'token' }, 403],
    ['tokens of the store, in the names of Nomad', { access: 'token', names: 'upstream' }, 403],
    ['bootstrap: false', { access: 'token', bootstrap: false }, 403],
    ['a host that knows nobody', { authenticate: () => undefined }, 403],
    ['a host that knows everybody', { authenticate: () => hostPrincipal }, 403],
    ['open access', { access: 'open' }, 400],
  ])('is not created with %s', async (_name, options, status) => {
    const engine = engineUnderTest();
    for (const body of [undefined, { BootstrapSecret: uuid }, { BootstrapSecret: 'x' }]) {
      const { status: answered, text } = await bootstrap(engine, options, body);
      expect(answered, text).toBe(status);
      expect(text).not.toMatch(/SecretID|token_secret/);
    }
    expect(await tokensOf(engine)).toEqual([]);
  });

  it('is created once with bootstrap: true', async () => {
    const engine = engineUnderTest();
    const options = { access: 'token', bootstrap: true } as const;
    expect(await bootstrap(engine, options, { BootstrapSecret: 'x' })).toMatchObject({ status: 400 });
    const { status, text } = await bootstrap(engine, options, { BootstrapSecret: uuid });
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ SecretID: uuid, Type: 'management' });
    for (const body of [undefined, { BootstrapSecret: uuid }, { BootstrapSecret: 'x' }]) {
      const again = await bootstrap(engine, options, body);
      expect(again.status).toBe(400);
      expect(again.text).toMatch(/ACL bootstrap already done \(reset index: \d+\)/);
    }
  });

  it('is not created again when every management token was removed: the next caller may be anybody', async () => {
    const engine = engineUnderTest();
    const options = { access: 'token', bootstrap: true } as const;
    const { AccessorID } = JSON.parse((await bootstrap(engine, options)).text);
    (await removeToken(engine, hostPrincipal, { accessor: AccessorID }))._unsafeUnwrap();
    expect(await tokensOf(engine)).toEqual([]);
    expect((await bootstrap(engine, options)).status).toBe(400);
  });

  it('is not created beside tokens of the host', async () => {
    const engine = engineUnderTest();
    await engine.as(hostPrincipal).tokens.create({ name: 'ci', type: 'client', policies: ['ci'] });
    expect((await bootstrap(engine, { access: 'token', bootstrap: true })).status).toBe(400);
  });

  it.each([
    { access: 'open', bootstrap: true },
    { authenticate: () => undefined, bootstrap: true },
  ])('cannot be asked for where tokens of the store are not used: %j', (options) => {
    expect(() => createHttpHandler(engineUnderTest(), options as never)).toThrow(/`bootstrap` needs `access: 'token'`/);
  });

  it('is refused at a cost that does not depend on the number of tokens', async () => {
    const counted = { rows: 0 };
    const engine = createEngine({
      storage: counting(memoryStorage(), counted),
      clock: manualClock(),
      ids: sequentialIds(),
      delivery: recordingDelivery(),
    });
    for (let n = 0; n < 50; n += 1) {
      await engine.as(hostPrincipal).tokens.create({ name: `t${n}`, type: 'client', policies: ['p'] });
    }
    for (const type of ['client', 'management']) {
      if (type === 'management') await engine.as(hostPrincipal).tokens.create({ name: 'boss', type });
      for (const body of [undefined, { BootstrapSecret: 'x' }, { BootstrapSecret: uuid }]) {
        counted.rows = 0;
        await bootstrap(engine, { access: 'token', bootstrap: true }, body);
        expect(counted.rows).toBeLessThan(5);
      }
    }
  });

  it('comes from the host, before the handler is exposed', async () => {
    const engine = engineUnderTest();
    const created = await engine.as(hostPrincipal).tokens.create({ name: 'operator', type: 'management' });
    const handler = createHttpHandler(engine, { access: 'token' });
    const headers = { 'x-svc-token': created._unsafeUnwrap().value.SecretID };
    expect((await handler(requestFrom({ target: '/v1/acl/tokens', headers }))).status).toBe(200);
  });
});

/** The same storage; counts the rows that lists answer. */
function counting(storage: Storage, counted: { rows: number }): Storage {
  const watch = <V extends ReadView>(view: V): V =>
    new Proxy(view, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          const answer: unknown = Reflect.apply(value, target, args);
          if (name === 'list' && Array.isArray(answer)) counted.rows += answer.length;
          return answer;
        };
      },
    });
  return {
    ...storage,
    read: (work) => storage.read((view) => work(watch(view))),
    write: (work) => storage.write((view) => work(watch(view))),
    waitForChange: (...args) => storage.waitForChange(...args),
    close: () => storage.close(),
  };
}
