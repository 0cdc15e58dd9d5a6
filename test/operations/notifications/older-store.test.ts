import { ok } from 'neverthrow';
import { afterAll, expect, test, vi } from 'vitest';
import { sqliteStorage } from '../../../adapters/sqlite/index.js';
import { type Delivery, deliveries, deliveryKey } from '../../../src/notifications/delivery/delivery.js';
import { events } from '../../../src/notifications/events/event.js';
import { queues } from '../../../src/notifications/queue/queue-record.js';
import { listDeliveries, showDelivery } from '../../../src/operations/notifications/log/list-deliveries.js';

import { day, minute, second } from '../../../src/shared/duration.js';
import { table } from '../../../src/shared/table.js';
import { scratchFolder } from '../../adapters/sqlite/sqlite-files.js';
import { create, must, owner, publish, type TestEngine, testEngine } from './engine-setup.js';

/*
 * A store of the version before: a delivery had a row only after its first attempt; the others are events after the `position` of their
 * queue, which a killed process may have leased.
 */

const messageOf = (request: { body: string }): string => JSON.parse(request.body).notifications[0].message;

/** Takes the rows of what has not been attempted, and the numbers of the others, as if the version before had accepted it. */
async function asBefore(engine: TestEngine, id: string, position: number, lease: unknown): Promise<void> {
  await must(
    engine.storage.write((view) => {
      for (const { record } of view.list(deliveries)) {
        view.remove(deliveries, deliveryKey(record));
        const { number: _number, ...kept } = record;
        if (record.attempts.length > 0) view.put(deliveries, kept);
      }
      for (const { record } of view.list(events)) {
        const { numbered: _numbered, ...kept } = record;
        view.put(events, kept);
      }
      const queue = view.get(queues, [id])?.record;
      if (queue !== undefined) view.put(queues, { ...queue, position, lease } as never);
      return ok(undefined);
    }),
  );
}

const folder = scratchFolder();
afterAll(() => folder.remove());

const leases = [
  ['nobody worked on', null],
  ['a killed process worked on', { owner: 'killed', until: 1 }],
] as const;

test.each(leases)('what %s is sent once, in the order of its runs, a few at a time', async (_who, lease) => {
  const engine = await testEngine({ notifications: { delivery: { window: 3, breaker: { failures: 0 } } } });
  const { id } = await must(create(engine));
  engine.delivery.clear();
  // Attempted once before: its row waits for the next attempt, and what follows it in its run has no row yet.
  engine.delivery.answer({ status: 500 });
  engine.start();
  await publish(engine, { runId: 'run-0', message: '0' });
  await engine.clock.advance(second);
  await engine.stop();
  const [first] = await must(engine.storage.read((view) => view.list(deliveries).map(({ record }) => record.sequence)));
  for (let n = 1; n < 20; n += 1) await publish(engine, { runId: `run-${n % 4}`, message: `${n}` });
  await asBefore(engine, id, first ?? 0, lease);
  // Accepted by this version before its loop has come so far.
  await publish(engine, { runId: 'run-1', message: '20' });
  engine.delivery.clear();
  engine.delivery.answer({ status: 204 });
  engine.start();
  await engine.clock.advance(minute);
  const sent = engine.delivery.requests.map(messageOf);
  expect([...sent].sort((a, b) => Number(a) - Number(b))).toEqual(Array.from({ length: 21 }, (_none, n) => `${n}`));
  for (const run of ['0', '1', '2', '3']) {
    const ofRun = engine.delivery.requests
      .filter(({ body }) => JSON.parse(body).run_id === `run-${run}`)
      .map(messageOf);
    expect(ofRun).toEqual([...ofRun].sort((a, b) => Number(a) - Number(b)));
  }
  const request = { configurationId: id, outcome: 'delivered', pageSize: 100 };
  expect((await must(listDeliveries(engine, owner, request))).items).toHaveLength(21);
  await engine.clock.advance(day);
  const stored = await must(engine.storage.read((view) => view.get(queues, [id])?.record));
  expect(stored).toMatchObject({ wakeAt: null });
  expect(stored).not.toHaveProperty('position');
  await engine.stop();
});

test('a file keeps the keys that its rows have', async () => {
  const storage = (await sqliteStorage(folder.path('older.db')))._unsafeUnwrap();
  const older = table<Delivery>(deliveries.name, ({ configurationId, sequence }) => [configurationId, sequence]);
  await must(storage.write((view) => ok(view.list(older, { limit: 0 }))));
  const engine = await testEngine({}, { ports: { storage } });
  const { id } = await must(create(engine));
  engine.delivery.clear();
  const published = [];
  for (let n = 0; n < 20; n += 1) published.push(await publish(engine, { runId: `run-${n % 4}`, message: `${n}` }));
  await asBefore(engine, id, 0, null);
  for (let n = 20; n < 24; n += 1) published.push(await publish(engine, { runId: `run-${n % 4}`, message: `${n}` }));
  engine.start();
  await vi.waitFor(
    async () => {
      await engine.clock.advance(second);
      const request = { configurationId: id, outcome: 'delivered', pageSize: 100 };
      expect((await must(listDeliveries(engine, owner, request))).items).toHaveLength(24);
    },
    { timeout: 20_000, interval: 1 },
  );
  const sent = engine.delivery.requests.map(messageOf).map(Number);
  for (let run = 0; run < 4; run += 1) {
    expect(sent.filter((n) => n % 4 === run)).toEqual([0, 1, 2, 3, 4, 5].map((n) => 4 * n + run));
  }
  for (const { deliveryIds } of published) {
    const deliveryId = deliveryIds[0] ?? '';
    expect(await must(showDelivery(engine, owner, { deliveryId }))).toMatchObject({
      id: deliveryId,
      outcome: 'delivered',
    });
  }
  await engine.stop();
  await storage.close();
}, 30_000);

test('events that a queue had passed are not sent again', async () => {
  const engine = await testEngine();
  const { id } = await must(create(engine));
  engine.delivery.clear();
  for (let n = 0; n < 3; n += 1) await publish(engine, { runId: `run-${n}` });
  const last = await must(engine.storage.read((view) => view.list(events).at(-1)?.record.sequence));
  await asBefore(engine, id, last ?? 0, null);
  engine.start();
  await publish(engine, { runId: 'new' });
  await engine.clock.advance(minute);
  expect(engine.delivery.requests).toHaveLength(1);
  await engine.stop();
});

test('a delivery without a row is found by its ID, and pending', async () => {
  const engine = await testEngine();
  const { id } = await must(create(engine));
  const { deliveryIds } = await publish(engine);
  await asBefore(engine, id, 0, null);
  const [deliveryId = ''] = deliveryIds;
  expect(await must(showDelivery(engine, owner, { deliveryId }))).toMatchObject({
    outcome: 'pending',
    attemptCount: 0,
  });
});
