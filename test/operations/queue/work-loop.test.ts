import { errAsync } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { memoryStorage } from '../../../adapters/memory/memory-storage.js';
import { deliveries } from '../../../src/notifications/delivery/delivery.js';
import { sendNotificationEvent } from '../../../src/operations/notifications/events/send-notification-event.js';
import { listDeliveries } from '../../../src/operations/notifications/log/list-deliveries.js';

import type { Storage } from '../../../src/ports/storage.js';
import { minute, second } from '../../../src/shared/duration.js';
import { create, must, owner, publish, runEvent, testEngine, workspaceId } from '../notifications/engine-setup.js';

/** A store whose writes fail as long as the given says so: before they are made, or after it, so that only their answer is lost. */
function failing(inner: Storage) {
  const mode: { next: 'good' | 'before' | 'after'; failed: number } = { next: 'good', failed: 0 };
  const failure = () => errAsync({ type: 'storage_failed', reason: 'io', message: 'the disk is gone' } as const);
  const storage: Storage = {
    ...inner,
    read: (work) => inner.read(work),
    write: (work) => {
      if (mode.next === 'good') return inner.write(work);
      mode.failed += 1;
      return mode.next === 'before' ? failure() : inner.write(work).andThen(failure);
    },
    waitForChange: (...about) => inner.waitForChange(...about),
    close: () => inner.close(),
  };
  return { storage, mode };
}

async function started() {
  const { storage, mode } = failing(memoryStorage());
  const engine = await testEngine({}, { ports: { storage } });
  const { id } = await must(create(engine));
  engine.delivery.clear();
  engine.start();
  await publish(engine, { runId: 'first' });
  await engine.clock.advance(second);
  engine.delivery.clear();
  const log = async () => (await must(listDeliveries(engine, owner, { configurationId: id }))).items;
  const held = () => must(storage.read((view) => view.list(deliveries, { index: 'held' }).length));
  return { engine, mode, log, held };
}

describe('a store that fails for a while', () => {
  test('keeps outcomes waiting: nothing is sent twice, and all is recorded', async () => {
    const { engine, mode, log, held } = await started();
    engine.delivery.answer({ status: 204, after: second });
    for (let n = 0; n < 3; n += 1) await publish(engine, { runId: `run-${n}` });
    await engine.clock.advance(10);
    mode.next = 'before';
    await engine.clock.advance(minute);
    expect(mode.failed).toBeGreaterThan(3);
    expect((await log()).map(({ outcome }) => outcome)).toEqual(['pending', 'pending', 'pending', 'delivered']);
    mode.next = 'good';
    await engine.clock.advance(2 * second);
    expect((await log()).map(({ outcome }) => outcome)).toEqual(Array(4).fill('delivered'));
    expect(engine.delivery.requests).toHaveLength(3);
    expect(await held()).toBe(0);
    await engine.stop();
  });

  test('may have claimed all the same: what a lost answer hides is sent once', async () => {
    const { engine, mode, log, held } = await started();
    mode.next = 'after';
    const sent = await sendNotificationEvent(engine, owner, { workspaceId, event: runEvent({ runId: 'lost' }) });
    expect(sent.isErr()).toBe(true);
    await engine.clock.advance(0);
    mode.next = 'good';
    await engine.clock.advance(minute);
    expect(engine.delivery.requests).toHaveLength(1);
    expect((await log()).map(({ outcome }) => outcome)).toEqual(['delivered', 'delivered']);
    expect(await held()).toBe(0);
    await engine.stop();
  });
});

test('a store that has lost writes, so that its index is lower than before, is watched further', async () => {
  const inner = memoryStorage();
  // What was waited for when it happened is answered once.
  const lost = new Set<string>();
  let isLost = false;
  const storage: Storage = {
    ...inner,
    read: (work) => inner.read(work),
    write: (work) => inner.write(work),
    waitForChange: async (tables, after, signal) => {
      const reached = await inner.waitForChange(tables, after, signal);
      if (!isLost || lost.has(tables.map(({ name }) => name).join())) return reached;
      lost.add(tables.map(({ name }) => name).join());
      return after;
    },
    close: () => inner.close(),
  };
  const engine = await testEngine({}, { ports: { storage } });
  await must(create(engine));
  engine.delivery.clear();
  engine.start();
  await engine.clock.advance(0);
  // Another process writes.
  const other = await testEngine({}, { ports: { storage: inner } });
  for (const runId of ['first', 'second']) {
    isLost = runId === 'first';
    await publish(other, { runId });
    await engine.clock.advance(10);
  }
  expect(engine.delivery.requests).toHaveLength(2);
  await engine.stop();
});
