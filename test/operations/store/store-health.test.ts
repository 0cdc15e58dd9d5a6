import { describe, expect, it } from 'vitest';
import { createHttpHandler, requestFrom } from '../../../adapters/compat/index.js';
import { flaky, manualClock, memoryStorage, recordingDelivery, sequentialIds } from '../../../adapters/memory/index.js';
import { sqliteStorage } from '../../../adapters/sqlite/index.js';
import { loadDriver, type OpenFile } from '../../../adapters/sqlite/sqlite-handle.js';
import { createEngine, type Engine, hostPrincipal } from '../../../src/index.js';
import { listNodes } from '../../../src/operations/scheduling/read-nodes.js';
import { storeHealth } from '../../../src/operations/store/store-health.js';
import { scratchFolder } from '../../adapters/sqlite/sqlite-files.js';

/** An engine whose writes fail as planned, while its reads go on. */
function engineWith(failing: (n: number) => boolean, clock = manualClock()): Engine {
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

  it('goes and comes back with the writes', async () => {
    let failing = false;
    const clock = manualClock();
    const engine = engineWith(() => failing, clock);
    const handler = createHttpHandler(engine, { access: 'open' });
    const asked = async (target: string): Promise<unknown> => (await handler(requestFrom({ target }))).status;
    const both = async () => [await asked('/ready'), await asked('/v1/agent/health')];
    expect(await both()).toEqual([200, 200]);
    failing = true;
    // Within a second all are told the same.
    await clock.advance(1000);
    for (let passed = 0; passed < 3; passed += 1) {
      expect(await both()).toEqual([503, 500]);
      await clock.advance(1000);
    }
    failing = false;
    expect(await both()).toEqual([200, 200]);
  });

  it('is denied while a file cannot be written, and not longer', async () => {
    const folder = scratchFolder();
    const file = folder.path('store.db');
    const storage = (await sqliteStorage(file, { busyMs: 20 }))._unsafeUnwrap();
    const clock = manualClock();
    const engine = createEngine({ storage, clock, ids: sequentialIds(), delivery: recordingDelivery({ clock }) });
    const handler = createHttpHandler(engine, { access: 'open' });
    const ready = async () => {
      await clock.advance(1000);
      const { status, body } = await handler(requestFrom({ target: '/ready' }));
      return [status, JSON.parse(body.toString()).message];
    };
    const nodes = async () => (await listNodes(engine, hostPrincipal)).map(({ value }) => value.items);
    expect([await ready(), (await nodes())._unsafeUnwrap()]).toEqual([[200, 'ok'], []]);
    const other = (await loadDriver(undefined)) as OpenFile;
    const blocker = other(file, false);
    blocker.exec('BEGIN IMMEDIATE');
    expect(await ready()).toEqual([503, 'the store cannot be written: busy']);
    expect((await nodes())._unsafeUnwrap()).toEqual([]);
    blocker.exec('ROLLBACK');
    expect(await ready()).toEqual([200, 'ok']);
    blocker.close();
    await storage.close();
    folder.remove();
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
