import { err, ok } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { hostPrincipal } from '../../../src/access/principal.js';
import { deliveries } from '../../../src/notifications/delivery/delivery.js';
import { events } from '../../../src/notifications/events/event.js';
import { commit } from '../../../src/operations/commit.js';
import { findDelivery } from '../../../src/operations/notifications/find-resource.js';
import { touchQueue } from '../../../src/operations/notifications/log/change-queue.js';
import { showDelivery } from '../../../src/operations/notifications/log/list-deliveries.js';
import { requestAttempt } from '../../../src/operations/notifications/log/redeliver.js';
import { publishNotificationEvent } from '../../../src/operations/records/publish-notification-event.js';
import type { WriteView } from '../../../src/ports/storage.js';
import { minute, second } from '../../../src/shared/duration.js';
import {
  create,
  must,
  owner,
  publish,
  runEvent,
  type TestEngine,
  testEngine,
  workspaceId,
} from '../notifications/engine-setup.js';

test('an event belongs to the transaction that caused it', async () => {
  const engine = await testEngine();
  await must(create(engine));
  engine.delivery.clear();
  engine.start();
  const environment = { now: engine.clock.now(), ids: engine.ids, settings: engine.settings };
  const rolledBack = await engine.storage.write((view) => {
    publishNotificationEvent(view, environment, { ...runEvent(), workspaceId })._unsafeUnwrap();
    return err('the cause failed');
  });
  expect(rolledBack.isErr()).toBe(true);
  await engine.clock.advance(second);
  expect(engine.delivery.requests).toHaveLength(0);

  const triggers = ['run:created', 'run:errored', 'run:completed'] as const;
  const written = await must(
    engine.storage.write((view) =>
      ok(
        triggers.map((trigger) =>
          publishNotificationEvent(view, environment, { ...runEvent({ trigger }), workspaceId })._unsafeUnwrap(),
        ),
      ),
    ),
  );
  const stored = await must(
    engine.storage.read((view) => ({
      ids: view.list(events).map((row) => row.record.id),
      indexes: view.list(events).map((row) => row.modifyIndex),
    })),
  );
  expect(stored.ids).toEqual(written.value.map((published) => published.eventId));
  expect(new Set(stored.indexes)).toEqual(new Set([written.index]));
  await engine.clock.advance(second);
  expect(engine.delivery.requests.map((request) => JSON.parse(request.body).notifications[0].trigger)).toEqual([
    ...triggers,
  ]);
  await engine.stop();
});

test('any number of events in one write have deliveries of their own, and so have those after it', async () => {
  const engine = await testEngine();
  for (let n = 0; n < 3; n += 1) await must(create(engine, { name: `hook ${n}` }));
  const environment = { now: engine.clock.now(), ids: engine.ids, settings: engine.settings };
  const published = (view: WriteView) =>
    publishNotificationEvent(view, environment, { ...runEvent(), workspaceId })._unsafeUnwrap().deliveryIds;
  const many = await must(engine.storage.write((view) => ok(Array.from({ length: 1500 }, () => published(view)))));
  const one = await must(engine.storage.write((view) => ok(published(view))));
  const ids = [...many.value.flat(), ...one.value];
  const stored = await must(engine.storage.read((view) => view.list(deliveries).map(({ record }) => record)));
  expect(stored.map(({ id }) => id)).toEqual(ids);
  expect(new Set(stored.map(({ sequence }) => sequence)).size).toBe(1501);
  for (const id of ids.slice(-4)) expect((await must(showDelivery(engine, owner, { deliveryId: id }))).id).toBe(id);
});

describe('one write', () => {
  async function warm() {
    const engine = await testEngine();
    await must(create(engine));
    engine.start();
    const { deliveryIds } = await publish(engine, { runId: 'first' });
    await engine.clock.advance(second);
    engine.delivery.clear();
    engine.delivery.answer({ status: 204, after: second });
    return { engine, deliveryIds };
  }
  const messages = (engine: TestEngine): readonly string[] =>
    engine.delivery.requests.map(({ body }) => JSON.parse(body).notifications[0].message);

  test('that accepts two events of a run sends the second when the first has ended', async () => {
    const { engine } = await warm();
    await must(
      commit(engine, hostPrincipal, (tx) => {
        for (const message of ['1', '2'])
          publishNotificationEvent(tx, tx, { ...runEvent({ runId: 'r', message }), workspaceId })._unsafeUnwrap();
        return ok(undefined);
      }),
    );
    await engine.clock.advance(100);
    expect(messages(engine)).toEqual(['1']);
    await engine.clock.advance(second);
    expect(messages(engine)).toEqual(['1', '2']);
    await engine.clock.advance(minute);
    await engine.stop();
  });

  test('that accepts an event and asks for a redelivery sends both', async () => {
    const { engine, deliveryIds } = await warm();
    await must(
      commit(engine, hostPrincipal, (tx) => {
        publishNotificationEvent(tx, tx, { ...runEvent({ message: 'new' }), workspaceId })._unsafeUnwrap();
        const found = findDelivery(tx, hostPrincipal, deliveryIds[0] ?? '', true)._unsafeUnwrap();
        requestAttempt(tx, found.delivery);
        touchQueue(tx, found.delivery.configurationId);
        return ok(undefined);
      }),
    );
    await engine.clock.advance(100);
    expect(messages(engine)).toHaveLength(2);
    await engine.clock.advance(minute);
    await engine.stop();
  });

  test('that fails after it has accepted an event leaves its slot free', async () => {
    const { engine } = await warm();
    const failed = () =>
      commit(engine, hostPrincipal, (tx) => {
        publishNotificationEvent(tx, tx, { ...runEvent({ runId: 'r' }), workspaceId })._unsafeUnwrap();
        throw new Error('the cause failed');
      });
    for (let n = 0; n < 100; n += 1) await expect(failed()).rejects.toThrow('the cause failed');
    await publish(engine, { runId: 'r', message: 'after' });
    await engine.clock.advance(100);
    expect(messages(engine)).toEqual(['after']);
    await engine.clock.advance(minute);
    await engine.stop();
  });
});

test('an unknown workspace is said to be one, and nothing is written', async () => {
  const engine = await testEngine();
  const environment = { now: 0, ids: engine.ids, settings: engine.settings };
  const written = await must(
    engine.storage.write((view) =>
      ok(publishNotificationEvent(view, environment, { ...runEvent(), workspaceId: 'ws-9' })),
    ),
  );
  expect(written.changed).toBe(false);
  expect(written.value._unsafeUnwrapErr()).toEqual({ type: 'unknown_workspace', workspaceId: 'ws-9' });
});
