import { expect, test } from 'vitest';
import { memoryStorage } from '../../../adapters/memory/memory-storage.js';
import { hostPrincipal } from '../../../src/access/principal.js';
import { createEngine } from '../../../src/engine.js';
import { triggerSpellings } from '../../../src/notifications/events/trigger.js';
import { pauseNotificationConfiguration } from '../../../src/operations/notifications/configurations/pause-and-delete-configuration.js';
import { updateNotificationConfiguration } from '../../../src/operations/notifications/configurations/update-notification-configuration.js';
import { putEventType } from '../../../src/operations/notifications/events/event-types.js';
import {
  listNotificationEvents,
  showNotificationEvent,
} from '../../../src/operations/notifications/events/events-log.js';
import { sendSampleEvent } from '../../../src/operations/notifications/events/send-notification-event.js';
import {
  listDeliveries,
  listDeliveriesOfWorkspace,
  showDelivery,
} from '../../../src/operations/notifications/log/list-deliveries.js';
import { countRecoverable } from '../../../src/operations/notifications/log/recoveries.js';
import { recoverDeliveries } from '../../../src/operations/notifications/log/redeliver.js';
import { day, minute, second } from '../../../src/shared/duration.js';
import {
  create,
  MortalStorage,
  must,
  mustFail,
  owner,
  publish,
  stranger,
  testEngine,
  workspaceId,
} from './engine-setup.js';

async function world(attributes = {}, settings = {}) {
  const engine = await testEngine(settings);
  const { id } = await must(create(engine, { url: 'https://one.example.net', ...attributes }));
  await must(create(engine, { name: 'other', url: 'https://other.example.net', delivery: { eventTypes: ['*'] } }));
  engine.delivery.clear();
  engine.start();
  const send = (trigger: string, caller = owner) =>
    sendSampleEvent(engine, caller, { configurationId: id, sample: { trigger } });
  return { engine, id, send };
}

test.each(triggerSpellings)('a sample of %s is sent to the one configuration, and says so', async (trigger) => {
  const { engine, id, send } = await world({ triggers: [] });
  const sample = await must(send(trigger));
  expect(sample).toMatchObject({ configurationId: id, sample: true, outcome: 'pending' });
  await engine.clock.advance(second);
  expect(engine.delivery.requests.map(({ url }) => url)).toEqual(['https://one.example.net']);
  const body = JSON.parse(engine.delivery.requests[0]?.body ?? '');
  const [{ message }] = body.notifications ?? [body];
  expect(message).toMatch(/^Sample: ./);
  const shown = await must(showDelivery(engine, owner, { deliveryId: sample.id }));
  expect(shown).toMatchObject({ sample: true, outcome: 'delivered', attemptCount: 1 });
  const event = await must(showNotificationEvent(engine, owner, { eventId: sample.eventId }));
  expect(event).toMatchObject({ sample: true, deliveries: [{ id: sample.id }], explanations: [] });
  const { items } = await must(listDeliveriesOfWorkspace(engine, owner, { workspaceId }));
  expect(items.map((delivery) => delivery.id)).toEqual([sample.id]);
  expect((await must(listNotificationEvents(engine, owner, { workspaceId }))).items).toMatchObject([{ sample: true }]);
  await engine.stop();
});

test.each(['generic', 'chat-a', 'chat-b', 'email'])('%s', async (destinationType) => {
  const { engine, send } = await world({ destinationType, users: ['user-1'], triggers: [] });
  for (const trigger of triggerSpellings) await must(send(trigger));
  await engine.clock.advance(minute);
  const bodies = [
    ...engine.delivery.requests.map(({ body }) => body),
    ...engine.mailer.messages.map(({ subject }) => subject),
  ];
  expect(bodies).toHaveLength(triggerSpellings.length);
  for (const body of bodies) expect(body).toContain('Sample: ');
  await engine.stop();
});

test('a type of the application is sent as its example; without one it is refused', async () => {
  const { engine, send } = await world();
  const example = { id: 'o-1', total: 12 };
  await must(putEventType(engine, hostPrincipal, { name: 'order.created', example }));
  await must(putEventType(engine, hostPrincipal, { name: 'order.paid', body: 'data', example }));
  await must(putEventType(engine, hostPrincipal, { name: 'order.lost' }));
  await must(send('order.created'));
  await must(send('order.paid'));
  await engine.clock.advance(second);
  const [created, paid] = engine.delivery.requests.map(({ body }) => JSON.parse(body));
  expect(created).toMatchObject({ type: 'order.created', data: example });
  expect(JSON.stringify(created)).toContain('Sample: order.created');
  expect(paid).toEqual(example);
  const refusals = [
    'order.lost',
    'order.unknown',
    'signalbox.deliveries.dead',
    'run:*',
    '',
    '__proto__',
    'constructor',
  ];
  for (const trigger of refusals) {
    expect(await mustFail(send(trigger))).toMatchObject({
      type: 'invalid_attributes',
      faults: [{ pointer: '/data/attributes/trigger', message: expect.stringMatching(/^trigger /) }],
    });
  }
  for (const trigger of [7, null, {}, []] as unknown[] as string[]) {
    expect((await mustFail(send(trigger))).type).toBe('invalid_attributes');
  }
  await engine.stop();
});

test('is refused for a disabled configuration, without recipients, and for strangers', async () => {
  const { engine, id, send } = await world();
  expect(await mustFail(send('run:errored', stranger))).toMatchObject({ type: 'not_found' });
  const change = (attributes: object) =>
    must(updateNotificationConfiguration(engine, owner, { configurationId: id, attributes }));
  await change({ enabled: false });
  expect(await mustFail(send('run:errored'))).toMatchObject({
    type: 'conflict',
    message: expect.stringContaining('enable it'),
  });
  const { id: mailId } = await must(create(engine, { destinationType: 'email', url: undefined, token: undefined }));
  const mail = { configurationId: mailId, sample: { trigger: 'run:errored' } };
  expect(await mustFail(sendSampleEvent(engine, owner, mail))).toMatchObject({ type: 'conflict' });
  await engine.clock.advance(minute);
  expect((await must(listDeliveriesOfWorkspace(engine, owner, { workspaceId }))).items).toEqual([]);
  await engine.stop();
});

test('waits like other deliveries, and is tried again on the same schedule', async () => {
  const { engine, id, send } = await world();
  await must(pauseNotificationConfiguration(engine, owner, { configurationId: id }));
  const { id: deliveryId } = await must(send('run:errored'));
  await engine.clock.advance(minute);
  expect(await must(showDelivery(engine, owner, { deliveryId }))).toMatchObject({ waitsFor: { reason: 'paused' } });
  await engine.stop();
});

test('a sample that nobody takes is no alert for others, and no bulk redelivery sends it', async () => {
  const { engine, id, send } = await world({}, { notifications: { delivery: { breaker: { failures: 0 } } } });
  engine.delivery.answer(({ url }) => ({ status: url.includes('one') ? 410 : 204 }));
  await must(send('run:errored'));
  await must(send('run:errored'));
  await engine.clock.advance(day);
  const { items } = await must(listDeliveries(engine, owner, { configurationId: id }));
  expect(items.map(({ outcome }) => outcome)).toEqual(['dead', 'dead']);
  expect(engine.delivery.requests.filter(({ url }) => url.includes('other'))).toEqual([]);
  await publish(engine);
  await engine.clock.advance(minute);
  expect(await must(countRecoverable(engine, owner, { workspaceId, since: 0 }))).toEqual({ count: 1, whole: true });
  expect(await must(recoverDeliveries(engine, owner, { configurationId: id, since: 0 }))).toMatchObject({ count: 1 });
  await engine.stop();
});

test('two engines on one store send a sample once, and a kill after its acceptance loses none', async () => {
  for (let writes = 1; writes < 12; writes += 1) {
    const inner = memoryStorage();
    const process = new MortalStorage(inner);
    const dying = await testEngine({}, { ports: { storage: process } });
    const { id } = await must(create(dying));
    dying.start();
    dying.delivery.clear();
    process.writesLeft = writes;
    const { id: deliveryId } = await must(
      sendSampleEvent(dying, owner, { configurationId: id, sample: { trigger: 'run:errored' } }),
    );
    await dying.clock.advance(10);
    process.writesLeft = -1;
    const stopped = dying.stop();
    const { clock, ids, delivery, mailer } = dying;
    const next = createEngine({ storage: inner, clock, ids, delivery, mailer });
    const beside = createEngine({ storage: inner, clock, ids, delivery, mailer });
    next.start();
    beside.start();
    await clock.advance(5 * minute);
    await stopped;
    expect(await must(showDelivery(next, owner, { deliveryId }))).toMatchObject({ outcome: 'delivered', sample: true });
    const received = delivery.requests.map(({ headers }) => headers['x-svc-notification-id'] ?? '');
    expect(new Set(received).size).toBe(1);
    expect(received.length).toBeLessThanOrEqual(2);
    await next.stop();
    await beside.stop();
  }
});
