import { describe, expect, it } from 'vitest';
import { createHttpHandler, requestFrom } from '../../../adapters/http-server/index.js';
import { flaky, manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { createEngine, type Engine, hostPrincipal, listNodes } from '../../../src/index.js';
import { storeHealth } from '../../../src/operations/store/store-health.js';

/** An engine whose writes fail as planned, while its reads go on. */
function engineWith(failing: (n: number) => boolean): Engine {
  const clock = manualClock();
  const storage = flaky(memoryStorage(), {
    write: { calls: failing, error: { type: 'storage_failed', reason: 'full', message: 'no space left on /secret' } },
  });
  return createEngine({ storage, clock, ids: sequentialIds(), delivery: recordingDelivery({ clock }) });
}

describe('readiness', () => {
  it('is denied while writes fail, whatever can be read', async () => {
    const engine = engineWith(() => true);
    const handler = createHttpHandler(engine, { access: 'open' });
    expect((await listNodes(engine, hostPrincipal)).isOk()).toBe(true);
    const ready = await handler(requestFrom({ target: '/ready' }));
    expect([ready.status, ready.body]).toEqual([503, '{"ok":false,"message":"the store cannot be written: full"}']);
    expect((await handler(requestFrom({ target: '/v1/agent/health' }))).status).toBe(500);
    expect((await handler(requestFrom({ target: '/health' }))).status).toBe(200);
  });

  it('comes back with the writes', async () => {
    const engine = engineWith((n) => n === 1);
    expect((await storeHealth(engine, 0)).ok).toBe(false);
    expect((await storeHealth(engine, 0)).ok).toBe(true);
  });

  it('writes once for many who ask together', async () => {
    let writes = 0;
    const engine = engineWith(() => {
      writes += 1;
      return false;
    });
    const handler = createHttpHandler(engine, { access: 'open' });
    await Promise.all(Array.from({ length: 50 }, () => handler(requestFrom({ target: '/ready' }))));
    expect(writes).toBe(1);
  });

  it('wakes nobody', async () => {
    const engine = engineWith(() => false);
    const waiting = listNodes(engine, hostPrincipal, { waiting: { after: 1, wait: 10 } });
    while (engine.parked.size === 0) await new Promise((resolve) => setImmediate(resolve));
    for (let i = 0; i < 3; i++) await storeHealth(engine, 0);
    expect(engine.parked.size).toBe(1);
    await engine.stop();
    expect((await waiting)._unsafeUnwrap().value.items).toEqual([]);
  });
});
