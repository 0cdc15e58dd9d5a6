import { expect, test } from 'vitest';
import { hostPrincipal } from '../../../src/access/principal.js';
import { events } from '../../../src/notifications/events/event.js';
import { listNotificationConfigurations } from '../../../src/operations/notifications/configurations/list-notification-configurations.js';
import {
  eraseNotificationEvent,
  listNotificationEvents,
  showNotificationEvent,
} from '../../../src/operations/notifications/events/events-log.js';
import { listDeliveries, showDelivery } from '../../../src/operations/notifications/log/list-deliveries.js';
import {
  cancelBulkRedelivery,
  countRecoverable,
  listBulkRedeliveries,
  startBulkRedelivery,
} from '../../../src/operations/notifications/log/recoveries.js';
import { redeliver } from '../../../src/operations/notifications/log/redeliver.js';
import {
  putWorkspace,
  removeWorkspace,
} from '../../../src/operations/notifications/workspaces/workspaces-and-users.js';

import { day, minute, second } from '../../../src/shared/duration.js';
import { create, must, mustFail, owner, publish, testEngine, workspaceId, workspaceInput } from './engine-setup.js';

/** A workspace with a dead delivery and a bulk redelivery, removed and created again with its ID. */
async function world() {
  const engine = await testEngine();
  engine.start();
  await must(create(engine));
  engine.delivery.answer({ status: 410 });
  const sent = await publish(engine, {}, 'key-1');
  await engine.clock.advance(minute);
  const recovery = await must(startBulkRedelivery(engine, owner, { workspaceId, since: 0 }));
  await engine.clock.advance(minute);
  await must(removeWorkspace(engine, hostPrincipal, { workspaceId }));
  await engine.clock.advance(minute);
  await must(putWorkspace(engine, hostPrincipal, workspaceInput));
  engine.delivery.answer({ status: 204 });
  engine.delivery.clear();
  return { engine, eventId: sent.eventId, deliveryId: sent.deliveryIds[0] ?? '', recoveryId: recovery.id };
}

test('a workspace that is created again with its ID begins with empty logs', async () => {
  const { engine } = await world();
  expect(await must(listNotificationConfigurations(engine, owner, { workspaceId }))).toMatchObject({ items: [] });
  expect(await must(listNotificationEvents(engine, owner, { workspaceId }))).toMatchObject({
    items: [],
    totalCount: 0,
  });
  expect((await must(listBulkRedeliveries(engine, owner, { workspaceId }))).items).toEqual([]);
  const { id } = await must(create(engine));
  expect((await must(listDeliveries(engine, owner, { configurationId: id }))).items).toEqual([]);
  expect(await must(countRecoverable(engine, owner, { workspaceId, since: 0 }))).toMatchObject({ count: 0 });
  await engine.stop();
});

test('idempotency keys of the earlier workspace are free', async () => {
  const { engine, eventId } = await world();
  const { id } = await must(create(engine));
  engine.delivery.clear();
  const other = await publish(engine, { runId: 'run-other' }, 'key-1');
  expect(other).toMatchObject({ repeated: false });
  expect(other.eventId).not.toBe(eventId);
  expect(await publish(engine, { runId: 'run-other' }, 'key-1')).toMatchObject({
    eventId: other.eventId,
    repeated: true,
  });
  await engine.clock.advance(minute);
  expect(engine.delivery.requests).toHaveLength(1);
  expect((await must(listNotificationEvents(engine, owner, { workspaceId }))).items.map((event) => event.id)).toEqual([
    other.eventId,
  ]);
  expect((await must(listDeliveries(engine, owner, { configurationId: id }))).items).toHaveLength(1);
  await engine.stop();
});

test('what the earlier workspace had is unknown to those who administer the new one', async () => {
  const { engine, eventId, deliveryId, recoveryId } = await world();
  const refused = [
    await mustFail(showNotificationEvent(engine, owner, { eventId })),
    await mustFail(eraseNotificationEvent(engine, owner, { eventId })),
    await mustFail(showDelivery(engine, owner, { deliveryId })),
    await mustFail(redeliver(engine, owner, { deliveryId })),
    await mustFail(cancelBulkRedelivery(engine, owner, { recoveryId })),
  ];
  expect(new Set(refused.map(({ type }) => type))).toEqual(new Set(['not_found']));
  await engine.stop();
});

test('the host can read and erase it by its ID, and it is kept as long as any other', async () => {
  const { engine, eventId, deliveryId } = await world();
  expect(await must(showDelivery(engine, hostPrincipal, { deliveryId }))).toMatchObject({ outcome: 'dead' });
  await must(eraseNotificationEvent(engine, hostPrincipal, { eventId }));
  expect(await must(showNotificationEvent(engine, hostPrincipal, { eventId }))).toMatchObject({
    message: '',
    explanations: [],
    deliveries: [{ id: deliveryId, outcome: 'dead' }],
  });
  const count = () => engine.storage.read((view) => view.list(events, {}).length);
  expect(await must(count())).toBe(1);
  await engine.clock.advance(100 * day);
  expect(await must(count())).toBe(0);
  await engine.stop();
});

test('an attempt for the earlier workspace that ends later is not reported to the new one', async () => {
  const engine = await testEngine();
  engine.start();
  await must(create(engine));
  engine.delivery.answer({ status: 410, after: 5 * second });
  await publish(engine);
  await engine.clock.advance(second);
  engine.delivery.answer({ status: 204 });
  await must(removeWorkspace(engine, hostPrincipal, { workspaceId }));
  await must(putWorkspace(engine, hostPrincipal, workspaceInput));
  const url = 'https://ops.example.net/';
  await must(create(engine, { name: 'Ops', url, triggers: [], delivery: { eventTypes: ['signalbox.*'] } }));
  engine.delivery.clear();
  await engine.clock.advance(minute);
  expect(engine.delivery.requests.map(({ body }) => body)).toEqual([]);
  expect(await must(listNotificationEvents(engine, owner, { workspaceId }))).toMatchObject({ items: [] });
  await engine.stop();
});

test('a change of a workspace keeps its logs', async () => {
  const engine = await testEngine();
  await publish(engine, {}, 'key-1');
  await must(putWorkspace(engine, hostPrincipal, { ...workspaceInput, name: 'renamed' }));
  expect(await must(listNotificationEvents(engine, owner, { workspaceId }))).toMatchObject({ totalCount: 1 });
  expect(await publish(engine, {}, 'key-1')).toMatchObject({ repeated: true });
  await engine.stop();
});
