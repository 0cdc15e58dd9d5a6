import { describe, expect, test } from 'vitest';
import { memoryStorage } from '../../../adapters/memory/memory-storage.js';
import { hostPrincipal } from '../../../src/access/principal.js';
import { createEngine } from '../../../src/engine.js';
import { events } from '../../../src/notifications/events/event.js';
import { listNotificationConfigurations } from '../../../src/operations/notifications/configurations/list-notification-configurations.js';
import { putNotificationConfiguration } from '../../../src/operations/notifications/configurations/put-notification-configuration.js';
import { putEventType } from '../../../src/operations/notifications/events/event-types.js';
import {
  eraseNotificationEvent,
  listNotificationEvents,
  showNotificationEvent,
} from '../../../src/operations/notifications/events/events-log.js';
import { sendNotificationEvent } from '../../../src/operations/notifications/events/send-notification-event.js';
import { listDeliveries, showDelivery } from '../../../src/operations/notifications/log/list-deliveries.js';
import {
  cancelBulkRedelivery,
  countRecoverable,
  listBulkRedeliveries,
  startBulkRedelivery,
} from '../../../src/operations/notifications/log/recoveries.js';
import { recoverDeliveries, redeliver } from '../../../src/operations/notifications/log/redeliver.js';
import { putWorkspace } from '../../../src/operations/notifications/workspaces/workspaces-and-users.js';

import { day, hour, minute, second } from '../../../src/shared/duration.js';
import {
  create,
  destination,
  MortalStorage,
  must,
  mustFail,
  owner,
  publish,
  runEvent,
  stranger,
  testEngine,
  workspaceId,
} from './engine-setup.js';

const noBreaker = { notifications: { delivery: { breaker: { failures: 0 } } } };

async function world(settings = {}) {
  const engine = await testEngine(settings);
  const { id } = await must(create(engine));
  engine.delivery.clear();
  engine.start();
  return { engine, id };
}

describe('events as a resource', () => {
  test('are listed with outcomes and counts, filtered by outcome, trigger, time and fields', async () => {
    const { engine } = await world();
    await publish(engine, { runId: 'run-a', trigger: 'run:created' });
    await engine.clock.advance(minute);
    engine.delivery.answer({ status: 410 });
    const { eventId } = await publish(engine, { runId: 'run-b', runStatus: 'errored' }, 'key-1');
    await engine.clock.advance(minute);
    await publish(engine, { runId: 'run-c', trigger: 'run:planning' });
    const list = (request = {}) => must(listNotificationEvents(engine, owner, { workspaceId, ...request }));
    const all = await list();
    expect(all.items.map(({ trigger, deliveries }) => [trigger, deliveries.map(({ outcome }) => outcome)])).toEqual([
      ['run:planning', []],
      ['run:errored', ['dead']],
      ['run:created', ['delivered']],
    ]);
    expect(all).toMatchObject({ totalCount: 3, counted: true, nextPage: null });
    const only = async (request: object) => (await list(request)).items.map(({ id }) => id);
    expect(await only({ outcome: 'dead' })).toEqual([eventId]);
    expect(await only({ trigger: 'run:errored' })).toEqual([eventId]);
    expect(await only({ filter: 'run_id == "run-b"' })).toEqual([eventId]);
    expect(await list({ since: engine.clock.now() - 90 * second, pageSize: 1 })).toMatchObject({
      totalCount: 2,
      nextPage: 2,
    });
    expect(all.items[1]?.idempotencyKey).toBe('key-1');
    for (const wrong of [{ outcome: 'x' }, { filter: '(' }, { since: Number.NaN }]) {
      expect((await mustFail(listNotificationEvents(engine, owner, { workspaceId, ...wrong }))).type).toBe(
        'invalid_parameter',
      );
    }
    await engine.stop();
  });

  test('one is shown with its content, its attempts and who would be notified', async () => {
    const { engine, id } = await world();
    const { eventId } = await publish(engine, { runId: 'run-a' });
    await engine.clock.advance(second);
    const shown = await must(showNotificationEvent(engine, owner, { eventId }));
    expect(shown).toMatchObject({
      attributes: { run_id: 'run-a', trigger: 'run:errored' },
      attempts: [{ configurationId: id, outcome: 'delivered', attempts: [{ status: 204 }] }],
      explanations: [{ configurationId: id, fires: true }],
    });
    expect((await mustFail(showNotificationEvent(engine, stranger, { eventId }))).type).toBe('not_found');
    await engine.stop();
  });
});

describe('erasing a message', () => {
  test('removes what it said and what was answered, and keeps its record', async () => {
    const { engine, id } = await world();
    engine.delivery.answer({ status: 503, body: 'secret answer', headers: { 'x-secret': 'a' } });
    const { eventId, deliveryIds } = await publish(engine, { runId: 'run-a', runMessage: 'secret content' }, 'key');
    await publish(engine, { runId: 'run-a', trigger: 'run:completed' });
    await engine.clock.advance(second);
    engine.delivery.answer({ status: 204 });
    await must(eraseNotificationEvent(engine, owner, { eventId }));
    const rows = await must(engine.storage.read((view) => view.list(events, {})));
    expect(JSON.stringify(rows)).not.toContain('secret content');
    const shown = await must(showDelivery(engine, owner, { deliveryId: deliveryIds[0] ?? '' }));
    expect(JSON.stringify(shown)).not.toContain('secret');
    expect(shown).toMatchObject({
      outcome: 'cancelled',
      reason: 'content_erased',
      attempts: [{ status: 503, body: '' }],
    });
    engine.delivery.clear();
    await engine.clock.advance(hour);
    expect(engine.delivery.requests.map(({ body }) => JSON.parse(body).notifications[0].trigger)).toEqual([
      'run:completed',
    ]);
    const { items } = await must(listDeliveries(engine, owner, { configurationId: id }));
    expect(items.map(({ outcome }) => outcome)).toEqual(['delivered', 'cancelled']);
    expect((await publish(engine, { runId: 'run-a', runMessage: 'secret content' }, 'key')).repeated).toBe(true);
    await engine.stop();
  });

  test.each([
    ['fails', 503],
    ['delivers', 200],
  ])('of one with an attempt under way, which then %s', async (_how, status) => {
    const { engine } = await world();
    engine.delivery.answer({ status, body: 'secret answer', headers: { 'x-echo': 'secret' }, after: 5 * second });
    const { eventId, deliveryIds } = await publish(engine, { runId: 'run-a', runMessage: 'secret content' });
    await engine.clock.advance(second);
    await must(eraseNotificationEvent(engine, owner, { eventId }));
    await engine.clock.advance(hour);
    const shown = await must(showDelivery(engine, owner, { deliveryId: deliveryIds[0] ?? '' }));
    expect(shown).toMatchObject({ outcome: 'cancelled', attempts: [{ status, body: '', headers: {} }] });
    expect(JSON.stringify(shown)).not.toContain('secret');
    expect(engine.delivery.requests).toHaveLength(1);
    await engine.stop();
  });

  test('of one that is being sent again', async () => {
    const { engine } = await world();
    const { eventId, deliveryIds } = await publish(engine, { runId: 'run-a', runMessage: 'secret content' });
    const [deliveryId = ''] = deliveryIds;
    await engine.clock.advance(second);
    engine.delivery.answer({ status: 500, body: 'secret answer', after: 5 * second });
    await must(redeliver(engine, owner, { deliveryId }));
    await engine.clock.advance(second);
    await must(eraseNotificationEvent(engine, owner, { eventId }));
    await engine.clock.advance(minute);
    const shown = await must(showDelivery(engine, owner, { deliveryId }));
    expect(shown).toMatchObject({ outcome: 'delivered', attempts: [{ status: 204 }, { status: 500, body: '' }] });
    expect(JSON.stringify(shown)).not.toContain('secret');
    await engine.stop();
  });

  test('of one that has ended: neither a redelivery nor a recovery sends what is left of it', async () => {
    const { engine, id } = await world(noBreaker);
    const since = engine.clock.now();
    engine.delivery.answer({ status: 410 });
    const { eventId, deliveryIds } = await publish(engine, { runId: 'run-a', runMessage: 'secret content' });
    const unsent = await publish(engine, { runId: 'run-b' });
    await engine.clock.advance(second);
    await must(eraseNotificationEvent(engine, owner, { eventId }));
    engine.delivery.answer({ status: 204 });
    engine.delivery.clear();
    const refused = await mustFail(redeliver(engine, owner, { deliveryId: deliveryIds[0] ?? '' }));
    expect(refused).toMatchObject({ type: 'conflict', message: expect.stringContaining('erased') });
    expect((await must(countRecoverable(engine, owner, { workspaceId, since }))).count).toBe(1);
    await must(recoverDeliveries(engine, owner, { configurationId: id, since }));
    await engine.clock.advance(minute);
    expect(engine.delivery.requests.map(({ body }) => JSON.parse(body).run_id)).toEqual(['run-b']);
    await must(eraseNotificationEvent(engine, owner, { eventId: unsent.eventId }));
    await must(startBulkRedelivery(engine, owner, { workspaceId, since }));
    await engine.clock.advance(minute);
    expect((await must(listBulkRedeliveries(engine, owner, { workspaceId }))).items).toMatchObject([
      { state: 'done', total: 0, redelivered: 0 },
    ]);
    expect(engine.delivery.requests).toHaveLength(1);
    await engine.stop();
  });

  test('of one that was never attempted', async () => {
    const { engine } = await world();
    await engine.stop();
    const { eventId } = await publish(engine, { runId: 'run-a' });
    await must(eraseNotificationEvent(engine, owner, { eventId }));
    engine.start();
    await engine.clock.advance(day);
    expect(engine.delivery.requests).toEqual([]);
    expect((await must(showNotificationEvent(engine, owner, { eventId }))).deliveries).toMatchObject([
      { outcome: 'cancelled' },
    ]);
    await engine.stop();
  });
});

describe('bulk redelivery', () => {
  test('is forgotten when what it sent is: a finished one is kept as long as deliveries that were not delivered', async () => {
    const retention = { delivered: day, dead: 3 * day, idempotency: hour };
    const { engine } = await world({ notifications: { retention } });
    const since = engine.clock.now();
    const recoveries = async () => (await must(listBulkRedeliveries(engine, owner, { workspaceId }))).items.length;
    await publish(engine);
    await must(startBulkRedelivery(engine, owner, { workspaceId, since }));
    await engine.clock.advance(2 * day);
    await must(startBulkRedelivery(engine, owner, { workspaceId, since }));
    expect(await recoveries()).toBe(2);
    await engine.clock.advance(2 * day);
    expect(await recoveries()).toBe(1);
    // Also when nothing else is kept any more.
    await engine.clock.advance(4 * day);
    expect(await recoveries()).toBe(0);
    await engine.stop();
  });

  test('counts first, sends again without holding up what is new, and has an end', async () => {
    const { engine } = await world(noBreaker);
    const since = engine.clock.now();
    engine.delivery.answer({ status: 410 });
    for (let n = 0; n < 100; n += 1)
      await publish(engine, { runId: `run-${n}`, trigger: n % 2 === 0 ? 'run:created' : 'run:errored' });
    await engine.clock.advance(minute);
    engine.delivery.clear();
    const seen: number[] = [];
    engine.delivery.answer(() => ({ status: 204, after: 100 }));
    const request = { workspaceId, since, trigger: 'run:errored' };
    expect(await must(countRecoverable(engine, owner, request))).toEqual({ count: 50, whole: true });
    const begun = await must(startBulkRedelivery(engine, owner, request));
    expect(begun).toMatchObject({ state: 'running', total: 50, redelivered: 0 });
    const progress = async () => (await must(listBulkRedeliveries(engine, owner, { workspaceId }))).items[0];
    for (let n = 0; n < 40; n += 1) {
      await engine.clock.advance(250);
      seen.push((await progress())?.redelivered ?? 0);
    }
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(seen[0]).toBeLessThan(50);
    expect(await progress()).toMatchObject({ state: 'done', redelivered: 50 });
    expect(engine.delivery.requests).toHaveLength(50);
    expect(await must(countRecoverable(engine, owner, request))).toEqual({ count: 0, whole: true });
    await engine.stop();
  });

  test('goes on after a restart, and can be cancelled', async () => {
    const { engine, id } = await world(noBreaker);
    const since = engine.clock.now();
    engine.delivery.answer({ status: 410 });
    for (let n = 0; n < 100; n += 1) await publish(engine, { runId: `run-${n}` });
    await engine.clock.advance(minute);
    await engine.stop();
    const request = { workspaceId, configurationId: id, since };
    const { id: recoveryId } = await must(startBulkRedelivery(engine, owner, request));
    engine.delivery.answer({ status: 204 });
    engine.start();
    await engine.clock.advance(400);
    const ended = await must(cancelBulkRedelivery(engine, owner, { recoveryId }));
    expect(ended.state).toBe('cancelled');
    expect(ended.redelivered).toBeGreaterThan(0);
    expect(ended.redelivered).toBeLessThan(100);
    expect((await mustFail(cancelBulkRedelivery(engine, stranger, { recoveryId }))).type).toBe('not_found');
    const wrong = { workspaceId, configurationId: 'nc-none', since };
    expect((await mustFail(startBulkRedelivery(engine, owner, wrong))).type).toBe('not_found');
    await engine.stop();
  });
});

test('bulk redeliveries that wait for a slow destination hold up no others, however many they are', async () => {
  const { engine, id: slowId } = await world(noBreaker);
  const { id: otherId } = await must(create(engine, { name: 'Other hook', url: 'https://other.example.net/tf' }));
  const since = engine.clock.now();
  engine.delivery.answer({ status: 410 });
  for (let n = 0; n < 100; n += 1) await publish(engine, { runId: `run-${n}` });
  await engine.clock.advance(minute);
  engine.delivery.answer(({ url }) => ({ status: 204, after: url === destination ? 20 * second : 10 }));
  for (let n = 0; n < 60; n += 1) {
    await must(startBulkRedelivery(engine, owner, { workspaceId, configurationId: slowId, since }));
  }
  const { id } = await must(startBulkRedelivery(engine, owner, { workspaceId, configurationId: otherId, since }));
  await engine.clock.advance(15 * second);
  const { items: all } = await must(listBulkRedeliveries(engine, owner, { workspaceId }));
  expect(all.filter(({ state }) => state === 'done')).toEqual([expect.objectContaining({ id, redelivered: 100 })]);
  // Deliveries to the slow destination are still on their way.
  await engine.stop({ deadline: 0 });
});

test('a bulk redelivery over a workspace goes on with the other configurations while one is slow, and sends each once', async () => {
  const { engine } = await world(noBreaker);
  const fast = Array.from({ length: 5 }, (_none, n) => `https://other-${n}.example.net/tf`);
  for (const [n, url] of fast.entries()) await must(create(engine, { name: `Other hook ${n}`, url }));
  const since = engine.clock.now();
  engine.delivery.answer({ status: 410 });
  for (let n = 0; n < 50; n += 1) await publish(engine, { runId: `run-${n}` });
  await engine.clock.advance(minute);
  engine.delivery.clear();
  engine.delivery.answer(({ url }) => ({ status: 204, after: url === destination ? 20 * second : 10 }));
  const request = { workspaceId, since };
  await must(startBulkRedelivery(engine, owner, request));
  await engine.clock.advance(minute);
  const perUrl = (url: string) => engine.delivery.requests.filter((sent) => sent.url === url).length;
  expect(fast.map(perUrl)).toEqual(fast.map(() => 50));
  expect(perUrl(destination)).toBeLessThan(50);
  await engine.clock.advance(hour);
  expect(perUrl(destination)).toBe(50);
  const [done] = (await must(listBulkRedeliveries(engine, owner, { workspaceId }))).items;
  expect(done).toMatchObject({ state: 'done', total: 6 * 50, redelivered: 6 * 50 });
  await engine.stop();
});

test('a bulk redelivery that is cancelled after a kill between any two writes sends what it has asked for, once', async () => {
  const seen = new Set<number>();
  for (let writes = 0; writes < 48; writes += 1) {
    const inner = memoryStorage();
    const process = new MortalStorage(inner);
    const dying = await testEngine(noBreaker, { ports: { storage: process } });
    const { id } = await must(create(dying));
    dying.start();
    const since = dying.clock.now();
    dying.delivery.answer({ status: 410 });
    for (let n = 0; n < 40; n += 1) await publish(dying, { runId: `run-${n}` });
    await dying.clock.advance(minute);
    dying.delivery.answer(() => ({ status: 204, after: 20 }));
    dying.delivery.clear();
    // Its own write, and so many after it.
    process.writesLeft = 1 + writes;
    const { id: recoveryId } = await must(startBulkRedelivery(dying, owner, { workspaceId, since }));
    await dying.clock.advance(3 * second);
    process.writesLeft = -1;
    const stopped = dying.stop();

    const { clock, ids, delivery } = dying;
    const next = createEngine({ storage: inner, clock, ids, delivery }, noBreaker);
    const cancelled = await must(cancelBulkRedelivery(next, owner, { recoveryId }));
    next.start();
    await clock.advance(minute);
    const [after] = (await must(listBulkRedeliveries(next, owner, { workspaceId }))).items;
    expect(after).toEqual(cancelled);
    const { items } = await must(
      listDeliveries(next, owner, { configurationId: id, outcome: 'delivered', pageSize: 100 }),
    );
    expect(items).toHaveLength(cancelled.redelivered);
    seen.add(cancelled.redelivered);
    await next.stop();
    await stopped;
  }
  // Before the first step, between steps, and after the last one.
  expect([...seen].sort((a, b) => a - b)).toEqual([0, 32, 40]);
});

describe('declaring configurations at every start', () => {
  test('creates, leaves alone, and changes by name', async () => {
    const engine = await testEngine();
    const declare = (attributes: object) =>
      must(
        putNotificationConfiguration(engine, owner, {
          workspaceId,
          attributes: { name: 'Hook', destinationType: 'generic', url: destination, enabled: true, ...attributes },
        }),
      );
    const first = await declare({ token: 'a', triggers: ['run:errored'] });
    expect(await declare({ token: 'a', triggers: ['run:errored'] })).toEqual(first);
    expect(engine.delivery.requests).toHaveLength(1);
    const changed = await declare({ token: 'b', triggers: ['run:created'] });
    expect(changed).toMatchObject({ id: first.id, triggers: ['run:created'] });
    expect(engine.delivery.requests).toHaveLength(2);
    expect((await must(listNotificationConfigurations(engine, owner, { workspaceId }))).items).toHaveLength(1);
  });

  test('by several processes at once makes one of a name', async () => {
    const engine = await testEngine();
    const { storage, clock, delivery } = engine;
    const other = createEngine({ storage, clock, delivery, ids: engine.ids });
    const attributes = { name: 'Hook', destinationType: 'generic', url: destination, enabled: true };
    const declared = await Promise.all(
      [engine, other, engine, other].map((each, n) =>
        must(
          putNotificationConfiguration(each, owner, {
            workspaceId,
            attributes: n < 2 ? attributes : { ...attributes, triggers: ['run:errored'] },
          }),
        ),
      ),
    );
    const { items } = await must(listNotificationConfigurations(engine, owner, { workspaceId }));
    expect(items).toHaveLength(1);
    expect(new Set(declared.map(({ id }) => id))).toEqual(new Set([items[0]?.id]));
  });
});

describe('the owner is told', () => {
  const subscribed = async (settings = {}) => {
    const { engine, id } = await world(settings);
    await must(
      create(engine, {
        name: 'Ops',
        url: `${destination}/ops`,
        triggers: [],
        delivery: { eventTypes: ['signalbox.*'] },
      }),
    );
    engine.delivery.clear();
    const told = () =>
      engine.delivery.requests
        .filter(({ url }) => url.endsWith('/ops'))
        .map(({ body }) => JSON.parse(body) as { type: string; data: { configuration_id: string; reason?: string } });
    return { engine, id, told };
  };
  const failing = (status: number) => (request: { url: string }) => ({
    status: request.url.endsWith('/ops') ? 204 : status,
  });

  test('when a destination keeps failing, and once when it works again', async () => {
    const { engine, id, told } = await subscribed();
    engine.delivery.answer(failing(503));
    await publish(engine);
    await engine.clock.advance(5 * minute);
    expect(told()).toEqual([]);
    await engine.clock.advance(2 * hour);
    expect(told()).toMatchObject([
      { type: 'signalbox.destination.failing', data: { configuration_id: id, configuration_name: 'Deploy hook' } },
    ]);
    engine.delivery.answer({ status: 204 });
    await engine.clock.advance(4 * hour);
    expect(told().map(({ type }) => type)).toEqual([
      'signalbox.destination.failing',
      'signalbox.destination.recovered',
    ]);
    await engine.stop();
  });

  test('when deliveries die', async () => {
    const { engine, told } = await subscribed();
    engine.delivery.answer(failing(410));
    const { deliveryIds } = await publish(engine);
    await engine.clock.advance(minute);
    expect(told()).toMatchObject([
      { type: 'signalbox.deliveries.dead', data: { count: 1, delivery_id: deliveryIds[0], tone: 'failure' } },
    ]);
    await engine.stop();
  });

  test('when a configuration is disabled', async () => {
    const { engine, told } = await subscribed({ notifications: { delivery: { autoDisableAfter: hour } } });
    engine.delivery.answer(failing(503));
    await publish(engine);
    await engine.clock.advance(day);
    expect(told().map(({ type }) => type)).toContain('signalbox.configuration.disabled');
    await engine.stop();
  });

  test('nobody is told of alerts that fail, and nothing is stored when nobody wants to know', async () => {
    const { engine } = await subscribed();
    engine.delivery.answer({ status: 410 });
    await publish(engine);
    await engine.clock.advance(day);
    const count = async () => (await must(engine.storage.read((view) => view.list(events, {})))).length;
    expect(await count()).toBe(2);
    const other = await world();
    other.engine.delivery.answer({ status: 410 });
    await publish(other.engine);
    await other.engine.clock.advance(day);
    expect(await must(other.engine.storage.read((view) => view.list(events, {}).length))).toBe(1);
    await engine.stop();
    await other.engine.stop();
  });
});

describe('a filter that nothing can match is refused by name, also for callers without types', () => {
  const wrongFilters: [string, object][] = [
    ['outcome', { outcome: 'failed' }],
    ['outcome', { outcome: 'delivered' }],
    ['outcome', { outcome: null }],
    ['trigger', { trigger: 'run:error' }],
    ['trigger', { trigger: '' }],
    ['trigger', { trigger: 5 }],
    ['trigger', { trigger: null }],
  ];

  test.each(wrongFilters)('of a recovery: %s %j', async (parameter, filter) => {
    const engine = await testEngine();
    const { id } = await must(create(engine));
    const request = { workspaceId, since: 0, ...filter } as never;
    const refusal = { type: 'invalid_parameter', parameter, message: expect.stringContaining(parameter) };
    expect(await mustFail(countRecoverable(engine, owner, request))).toMatchObject(refusal);
    expect(await mustFail(startBulkRedelivery(engine, owner, request))).toMatchObject(refusal);
    if (parameter !== 'outcome') return;
    const single = { configurationId: id, since: 0, ...filter } as never;
    expect(await mustFail(recoverDeliveries(engine, owner, single))).toMatchObject(refusal);
  });

  test.each(wrongFilters.filter(([, filter]) => !('outcome' in filter && filter.outcome === 'delivered')))(
    'of a list: %s %j',
    async (parameter, filter) => {
      const engine = await testEngine();
      const { id } = await must(create(engine));
      const refusal = { type: 'invalid_parameter', parameter: `filter[${parameter}]` };
      const listed = listNotificationEvents(engine, owner, { workspaceId, ...filter } as never);
      expect(await mustFail(listed)).toMatchObject(refusal);
      const log = listDeliveries(engine, owner, { configurationId: id, ...filter } as never);
      expect(await mustFail(log)).toMatchObject(refusal);
    },
  );

  test('of events: an expression that is no text', async () => {
    const engine = await testEngine();
    for (const filter of [5, null, {}, []]) {
      const listed = listNotificationEvents(engine, owner, { workspaceId, filter } as never);
      expect(await mustFail(listed)).toMatchObject({ type: 'invalid_parameter', parameter: 'filter[expression]' });
    }
  });

  test('an idempotency key that is none', async () => {
    const engine = await testEngine();
    for (const idempotencyKey of ['', 'k'.repeat(257), 5]) {
      const sent = sendNotificationEvent(engine, owner, { workspaceId, event: runEvent(), idempotencyKey } as never);
      expect(await mustFail(sent)).toMatchObject({
        type: 'invalid_attributes',
        faults: [{ pointer: '/data/attributes/idempotency_key' }],
      });
    }
  });

  test('registered types of one word and types that were removed can be asked for', async () => {
    const engine = await testEngine();
    const { id } = await must(create(engine));
    await must(putEventType(engine, hostPrincipal, { name: 'ordered' }));
    for (const trigger of ['ordered', 'order.created', 'workspace:auto_destroy_reminder']) {
      expect((await must(countRecoverable(engine, owner, { workspaceId, since: 0, trigger }))).count).toBe(0);
      expect((await must(listNotificationEvents(engine, owner, { workspaceId, trigger }))).items).toEqual([]);
      expect((await must(listDeliveries(engine, owner, { configurationId: id, trigger }))).items).toEqual([]);
    }
  });
});

test('a foreign workspace is not seen', async () => {
  const { engine } = await world();
  await must(putWorkspace(engine, hostPrincipal, { id: 'ws-2', name: 'x', organization: 'acme' }));
  expect((await mustFail(listNotificationEvents(engine, owner, { workspaceId: 'ws-2' }))).type).toBe('not_found');
  expect((await mustFail(countRecoverable(engine, owner, { workspaceId: 'ws-2', since: 0 }))).type).toBe('not_found');
  await engine.stop();
});
