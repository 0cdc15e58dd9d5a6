import { ResultAsync } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { memoryStorage } from '../../../adapters/memory/memory-storage.js';
import { recordingDelivery } from '../../../adapters/memory/recording-delivery.js';
import { sequentialIds } from '../../../adapters/memory/sequential-ids.js';
import { hostPrincipal } from '../../../src/access/principal.js';
import { createEngine } from '../../../src/engine.js';
import { deliveries } from '../../../src/notifications/delivery/delivery.js';
import { events } from '../../../src/notifications/events/event.js';
import { queues } from '../../../src/notifications/queue/queue-record.js';
import {
  listNotificationConfigurations,
  showNotificationConfiguration,
} from '../../../src/operations/notifications/configurations/list-notification-configurations.js';
import { deleteNotificationConfiguration } from '../../../src/operations/notifications/configurations/pause-and-delete-configuration.js';
import { updateNotificationConfiguration } from '../../../src/operations/notifications/configurations/update-notification-configuration.js';
import { verifyNotificationConfiguration } from '../../../src/operations/notifications/configurations/verify-notification-configuration.js';
import { sendNotificationEvent } from '../../../src/operations/notifications/events/send-notification-event.js';
import { listDeliveries, showDelivery } from '../../../src/operations/notifications/log/list-deliveries.js';
import { countRecoverable } from '../../../src/operations/notifications/log/recoveries.js';
import { recoverDeliveries, redeliver } from '../../../src/operations/notifications/log/redeliver.js';
import { removeUser } from '../../../src/operations/notifications/workspaces/workspaces-and-users.js';

import type { Storage } from '../../../src/ports/storage.js';
import { day, hour, minute, second } from '../../../src/shared/duration.js';
import {
  create,
  destination,
  must,
  mustFail,
  owner,
  publish,
  recordingLogger,
  runEvent,
  stranger,
  type TestEngine,
  testEngine,
  workspaceId,
} from './engine-setup.js';

const log = async (engine: TestEngine, configurationId: string, filter = {}) =>
  (await must(listDeliveries(engine, owner, { configurationId, ...filter }))).items;
const runOf = (request: { body: string }): string => JSON.parse(request.body).run_id;
const triggerOf = (request: { body: string }): string => JSON.parse(request.body).notifications[0].trigger;
const queuesLeft = async (engine: TestEngine) =>
  must(engine.storage.read((view) => view.list(queues).map((row) => row.record)));
const unfinished = async (engine: TestEngine) =>
  must(engine.storage.read((view) => view.list(deliveries, { index: 'unfinished' }).length));

async function started(settings = {}, attributes = {}, options = {}) {
  const engine = await testEngine(settings, options);
  const configuration = await must(create(engine, attributes));
  engine.delivery.clear();
  engine.start();
  return { engine, id: configuration.id };
}

describe('events in', () => {
  test('an accepted event names its deliveries; a repeated key is the same event', async () => {
    const { engine, id } = await started();
    const facts: unknown[] = [];
    engine.events.on('notification.event', (fact) => facts.push(fact));
    const first = await publish(engine, {}, 'key');
    const second = await publish(engine, {}, 'key');
    expect(first.deliveryIds).toHaveLength(1);
    expect(second).toEqual({ ...first, repeated: true });
    expect(facts).toHaveLength(1);
    const other = { workspaceId, event: runEvent({ message: 'other' }), idempotencyKey: 'key' };
    expect((await mustFail(sendNotificationEvent(engine, owner, other))).type).toBe('conflict');
    await engine.clock.advance(2 * day);
    expect((await publish(engine, {}, 'key')).repeated).toBe(false);
    await engine.clock.advance(0);
    expect(await log(engine, id)).toHaveLength(2);
    await engine.stop();
  });

  test('who may send, and faults', async () => {
    const { engine } = await started();
    const attributes = { trigger: 'run:errored', run_id: 'run-1' };
    const sender = { ...stranger, workspaces: { [workspaceId]: 'events' as const } };
    expect((await sendNotificationEvent(engine, sender, { workspaceId, attributes })).isOk()).toBe(true);
    const refused = await mustFail(sendNotificationEvent(engine, stranger, { workspaceId, attributes }));
    expect(refused.type).toBe('not_found');
    const faulty = await mustFail(sendNotificationEvent(engine, sender, { workspaceId, attributes: { trigger: 'x' } }));
    expect(faulty.type).toBe('invalid_attributes');
    const event = { ...runEvent(), trigger: 'assessment:drifted' as never };
    expect((await mustFail(sendNotificationEvent(engine, sender, { workspaceId, event }))).type).toBe(
      'invalid_attributes',
    );
    await engine.stop();
  });
});

describe('attempts', () => {
  test('a receiver that fails for three hours gets the event once, later', async () => {
    const { engine, id } = await started();
    const start = engine.clock.now();
    engine.delivery.answer(() => ({ status: engine.clock.now() < start + 3 * hour ? 503 : 204 }));
    await publish(engine);
    await engine.clock.advance(6 * hour);
    const [delivery] = await log(engine, id);
    expect(delivery?.outcome).toBe('delivered');
    const shown = await must(showDelivery(engine, owner, { deliveryId: delivery?.id ?? '' }));
    const at = shown.attempts.map((attempt) => (Date.parse(attempt.startedAt) - start) / second);
    expect(shown.attempts.map((attempt) => attempt.status)).toEqual([503, 503, 503, 503, 503, 503, 503, 204]);
    expect(at).toEqual([0, 5, 35, 155, 755, 2555, 6155, 13355]);
    expect(new Set(engine.delivery.requests.map((request) => request.body)).size).toBe(1);
    expect(await queuesLeft(engine)).toMatchObject([{ wakeAt: null, breaker: { failures: 0 } }]);
    expect(await engine.stop()).toBe(true);
  });

  test('after the last wait the delivery is dead, and its history stays', async () => {
    const { engine, id } = await started({ notifications: { delivery: { retry: { generic: [second, second] } } } });
    engine.delivery.answer({ status: 500, body: 'no' });
    await publish(engine);
    await engine.clock.advance(minute);
    const [delivery] = await log(engine, id, { outcome: 'dead' });
    expect(delivery).toMatchObject({
      reason: 'exhausted',
      attemptCount: 3,
      lastStatus: 500,
      lastFailure: 'server_error',
    });
    expect(await queuesLeft(engine)).toMatchObject([{ wakeAt: null, breaker: { type: 'closed', failures: 3 } }]);
    await engine.stop();
  });

  test.each([
    ['generic', 410, 'dead'],
    ['chat-a', 404, 'dead'],
    ['generic', 404, 'pending'],
  ])('%s answering %i at once: %s', async (destinationType, status, outcome) => {
    const { engine, id } = await started({}, { destinationType });
    engine.delivery.answer({ status });
    await publish(engine);
    await engine.clock.advance(second);
    expect((await log(engine, id))[0]).toMatchObject({ outcome, attemptCount: 1 });
    await engine.stop();
  });

  test('Retry-After is kept', async () => {
    const { engine } = await started();
    const start = engine.clock.now();
    engine.delivery.answer((_request, n) =>
      n === 2 ? { status: 429, headers: { 'Retry-After': '90' } } : { status: 204 },
    );
    await publish(engine);
    await engine.clock.advance(hour);
    expect(engine.delivery.requests.map((request) => request.sentAt - start)).toEqual([0, 90 * second]);
    await engine.stop();
  });

  describe('a hook of a chat service that asks to be left alone', () => {
    const hook = `${destination}/hook`;
    const limited = { status: 429, headers: { 'Retry-After': '600' } };
    const urls = (engine: TestEngine) => engine.delivery.requests.map(({ url }) => url);
    const chat = { destinationType: 'chat-a', triggers: ['run:errored'] };
    const three = async () => {
      const engine = await testEngine();
      for (const name of ['one', 'two']) await must(create(engine, { ...chat, name, url: hook, enabled: false }));
      await must(create(engine, { ...chat, name: 'other', url: `${destination}/other`, enabled: false }));
      const { items } = await must(listNotificationConfigurations(engine, owner, { workspaceId }));
      const enable = async (...names: readonly string[]) => {
        for (const { id, name } of items) {
          const attributes = { enabled: names.includes(name) };
          await must(updateNotificationConfiguration(engine, owner, { configurationId: id, attributes }));
        }
        engine.delivery.clear();
      };
      return { engine, enable };
    };

    test('gets nothing until then, from none of its configurations; other hooks of the same origin do', async () => {
      const { engine, enable } = await three();
      await enable('one', 'two', 'other');
      engine.delivery.answer(({ url }) => (url === hook ? limited : { status: 200 }));
      engine.start();
      await publish(engine, { runId: 'run-1' });
      await engine.clock.advance(0);
      const first = urls(engine).filter((url) => url === hook).length;
      for (let n = 2; n < 7; n += 1) await publish(engine, { runId: `run-${n}` });
      await engine.clock.advance(9 * minute);
      expect(urls(engine).filter((url) => url === hook)).toHaveLength(first);
      expect(urls(engine).filter((url) => url !== hook)).toHaveLength(6);
      engine.delivery.answer({ status: 200 });
      await engine.clock.advance(2 * minute);
      expect(urls(engine).filter((url) => url === hook)).toHaveLength(first + 12);
      await engine.stop();
    });

    test('is what its deliveries wait for, and until when', async () => {
      const { engine, enable } = await three();
      await enable('one', 'two');
      const start = engine.clock.now();
      engine.delivery.answer(limited);
      engine.start();
      await publish(engine, { runId: 'run-1' });
      await engine.clock.advance(second);
      await publish(engine, { runId: 'run-2' });
      await engine.clock.advance(second);
      const until = new Date(start + 10 * minute).toISOString();
      const { items } = await must(listNotificationConfigurations(engine, owner, { workspaceId }));
      const waits = await Promise.all(items.map(({ id }) => log(engine, id)));
      const held = waits.flat().filter(({ attemptCount }) => attemptCount === 0);
      expect(held.map(({ waitsFor }) => waitsFor)).toEqual(Array(held.length).fill({ reason: 'rate', until }));
      expect(held).toHaveLength(3);
      const [shown] = held;
      const one = await must(showDelivery(engine, owner, { deliveryId: shown?.id ?? '' }));
      expect(one.waitsFor).toEqual({ reason: 'rate', until });
      await engine.stop();
    });

    test.each(['after a restart', 'from another process'])('gets nothing %s', async (how) => {
      const { engine, enable } = await three();
      const { storage, clock, delivery } = engine;
      await enable('one');
      delivery.answer(limited);
      engine.start();
      await publish(engine, { runId: 'run-1' });
      await clock.advance(second);
      expect(urls(engine)).toEqual([hook]);
      if (how === 'after a restart') await engine.stop();
      delivery.answer({ status: 200 });
      await enable('two');
      const next = createEngine({ storage, clock, delivery, ids: sequentialIds() });
      next.start();
      await publish(engine, { runId: 'run-2' });
      await clock.advance(9 * minute);
      expect(urls(engine)).toEqual([]);
      await clock.advance(2 * minute);
      expect(urls(engine)).toEqual([hook]);
      await next.stop();
      await engine.stop();
    });

    test.each([
      ['a generic destination', 'generic', 429, '600'],
      ['an answer of 503', 'chat-a', 503, '600'],
      ['an answer without a time', 'chat-a', 429, undefined],
    ])('%s holds back nothing but its own message', async (_name, destinationType, status, after) => {
      const { engine } = await started({}, { destinationType });
      const headers = after === undefined ? {} : { 'Retry-After': after };
      let answers = 0;
      engine.delivery.answer(() => (++answers === 1 ? { status, headers } : { status: 200 }));
      await publish(engine, { runId: 'run-1' });
      await engine.clock.advance(second);
      engine.delivery.clear();
      await publish(engine, { runId: 'run-2' });
      await engine.clock.advance(2 * second);
      expect(engine.delivery.requests).toHaveLength(1);
      await engine.stop();
    });
  });

  test('each attempt is signed with the secret of its moment and goes to the URL of its moment', async () => {
    const { engine, id } = await started();
    engine.delivery.answer((_request, n) => ({ status: n === 2 ? 500 : 204 }));
    await publish(engine);
    await engine.clock.advance(second);
    const changed = { token: 'new', url: 'https://other.example/x', enabled: true };
    await must(updateNotificationConfiguration(engine, owner, { configurationId: id, attributes: changed }));
    await engine.clock.advance(minute);
    const [first, , last] = engine.delivery.requests;
    expect(last?.url).toBe('https://other.example/x');
    expect(last?.body).toBe(first?.body);
    expect(last?.headers['x-svc-notification-signature']).not.toBe(first?.headers['x-svc-notification-signature']);
    await engine.stop();
  });

  test('a disabled or deleted configuration gets nothing more', async () => {
    for (const how of ['disable', 'delete'] as const) {
      const { engine, id } = await started();
      engine.delivery.answer({ status: 500 });
      const { deliveryIds } = await publish(engine);
      await engine.clock.advance(second);
      const request = { configurationId: id };
      if (how === 'delete') await must(deleteNotificationConfiguration(engine, owner, request));
      else await must(updateNotificationConfiguration(engine, owner, { ...request, attributes: { enabled: false } }));
      await engine.clock.advance(hour);
      expect(engine.delivery.requests).toHaveLength(1);
      const shown = await must(showDelivery(engine, owner, { deliveryId: deliveryIds[0] ?? '' }));
      expect(shown).toMatchObject({ outcome: 'cancelled', reason: `configuration_${how}d`, attemptCount: 1 });
      await engine.stop();
    }
  });

  test('also in the middle of its queue', async () => {
    const { engine, id } = await started({}, { destinationType: 'chat-a' });
    for (let n = 0; n < 5; n++) await publish(engine, { runId: `run-${n}` });
    await engine.clock.advance(1500);
    const attributes = { enabled: false };
    await must(updateNotificationConfiguration(engine, owner, { configurationId: id, attributes }));
    await engine.clock.advance(minute);
    expect(engine.delivery.requests).toHaveLength(2);
    expect((await log(engine, id)).map((it) => it.outcome)).toEqual([
      ...['cancelled', 'cancelled', 'cancelled'],
      ...['delivered', 'delivered'],
    ]);
    await engine.stop();
  });

  test('the log keeps no credentials of the answer, and no secret of ours', async () => {
    const { engine, id } = await started({}, { url: 'https://u:p4ss@hooks.example.net/s3cret' });
    engine.delivery.answer({ status: 200, headers: { 'Set-Cookie': 'session=1', Date: 'now' } });
    await publish(engine);
    await engine.clock.advance(second);
    const shown = await must(showDelivery(engine, owner, { deliveryId: (await log(engine, id))[0]?.id ?? '' }));
    expect(shown.attempts[0]).toMatchObject({
      destination: 'https://hooks.example.net',
      address: '192.0.2.1',
      headers: { 'set-cookie': ['[redacted]'], date: ['now'] },
      failure: null,
      number: 1,
      manual: false,
    });
    expect(JSON.stringify(shown)).not.toMatch(/p4ss|s3cret|s3cr3t/);
    await engine.stop();
  });
});

describe('order', () => {
  const triggers = ['run:created', 'run:completed', 'run:errored'] as const;
  test('one run waits for its first, others do not', async () => {
    const { engine } = await started({ notifications: { delivery: { breaker: { failures: 0 } } } });
    engine.delivery.answer((request) => ({
      status: runOf(request) === 'a' && engine.clock.now() < start + minute ? 500 : 204,
    }));
    const start = engine.clock.now();
    for (const trigger of triggers) for (const runId of ['a', 'b']) await publish(engine, { trigger, runId });
    await engine.clock.advance(second);
    const sent = () => engine.delivery.requests.map((request) => `${runOf(request)} ${triggerOf(request)}`);
    expect(sent().filter((it) => it.startsWith('b'))).toEqual(triggers.map((trigger) => `b ${trigger}`));
    expect(sent().filter((it) => it.startsWith('a'))).toEqual(['a run:created']);
    await publish(engine, { trigger: 'run:completed', runId: 'a', message: 'late' });
    await engine.clock.advance(10 * minute);
    const ofA = sent().filter((it) => it.startsWith('a'));
    expect(ofA.slice(-4)).toEqual(['a run:created', 'a run:completed', 'a run:errored', 'a run:completed']);
    expect(ofA.slice(0, -4).every((it) => it === 'a run:created')).toBe(true);
    expect(await unfinished(engine)).toBe(0);
    await engine.stop();
  });

  test('without order, nobody waits', async () => {
    const settings = { notifications: { delivery: { ordering: 'none', breaker: { failures: 0 } } } };
    const { engine } = await started(settings);
    engine.delivery.answer((request) => ({ status: triggerOf(request) === 'run:created' ? 500 : 204 }));
    for (const trigger of triggers) await publish(engine, { trigger });
    await engine.clock.advance(second);
    expect(engine.delivery.requests.map(triggerOf)).toEqual([...triggers]);
    await engine.stop();
  });

  test('a run whose first is dead goes on with the next', async () => {
    const { engine } = await started();
    engine.delivery.answer((request) => ({ status: triggerOf(request) === 'run:created' ? 410 : 204 }));
    for (const trigger of triggers) await publish(engine, { trigger });
    await engine.clock.advance(second);
    expect(engine.delivery.requests.map(triggerOf)).toEqual([...triggers]);
    await engine.stop();
  });
});

describe('one destination does not trouble another', () => {
  test('50 that hang beside one that answers', async () => {
    const engine = await testEngine({ notifications: { maximumPerWorkspace: 100 } });
    for (let n = 0; n < 50; n++) await must(create(engine, { url: `https://dead${n}.example/` }));
    await must(create(engine, { url: 'https://good.example/' }));
    engine.delivery.clear();
    engine.delivery.answer((request) => (request.url.includes('good') ? { status: 204 } : { hang: true }));
    engine.start();
    for (let n = 0; n < 20; n++) await publish(engine, { runId: `run-${n}` });
    await engine.clock.advance(10);
    const good = engine.delivery.requests.filter((request) => request.url.includes('good'));
    expect(good).toHaveLength(20);
    expect(engine.delivery.requests.length - good.length).toBeGreaterThanOrEqual(50);
    for (let n = 20; n < 40; n++) await publish(engine, { runId: `run-${n}` });
    await engine.clock.advance(10);
    expect(engine.delivery.requests.filter((request) => request.url.includes('good'))).toHaveLength(40);
    const stopping = engine.stop({ deadline: 20_000 });
    await engine.clock.advance(30 * second);
    expect(await stopping).toBe(true);
  });

  test('the breaker asks a dead destination rarely, then everything follows', async () => {
    const { engine, id } = await started();
    const start = engine.clock.now();
    engine.delivery.answer(() => ({ status: engine.clock.now() < start + 2 * hour ? 500 : 204 }));
    for (let n = 0; n < 100; n++) await publish(engine, { runId: `run-${n}` });
    await engine.clock.advance(2 * hour);
    expect(engine.delivery.requests.length).toBeLessThan(30);
    expect((await queuesLeft(engine))[0]?.breaker.type).toBe('open');
    await engine.clock.advance(day);
    expect(await log(engine, id, { outcome: 'delivered', pageSize: 100 })).toHaveLength(100);
    await engine.stop();
  });

  test('the rate of a chat is kept without using up attempts', async () => {
    const { engine, id } = await started({}, { destinationType: 'chat-a' });
    const start = engine.clock.now();
    for (let n = 0; n < 5; n++) await publish(engine, { runId: `run-${n}` });
    await engine.clock.advance(minute);
    expect(engine.delivery.requests.map((request) => (request.sentAt - start) / second)).toEqual([0, 1, 2, 3, 4]);
    expect((await log(engine, id)).every((delivery) => delivery.attemptCount === 1)).toBe(true);
    await engine.stop();
  });

  test('attempts to one destination at once are limited', async () => {
    const { engine } = await started({ notifications: { delivery: { concurrencyPerDestination: 3 } } });
    engine.delivery.answer({ status: 204, after: second });
    for (let n = 0; n < 7; n++) await publish(engine, { runId: `run-${n}` });
    const seen: number[] = [];
    for (let n = 0; n < 3; n++) {
      await engine.clock.advance(n === 0 ? 1 : second);
      seen.push(engine.delivery.requests.length);
    }
    expect(seen).toEqual([3, 6, 7]);
    const stopping = engine.stop();
    await engine.clock.advance(minute);
    expect(await stopping).toBe(true);
  });
});

describe('redelivery', () => {
  const failing = { notifications: { delivery: { retry: { generic: [second] } } } };
  test('one attempt with the same event; a failure changes nothing, a success delivers', async () => {
    const { engine, id } = await started(failing);
    engine.delivery.answer({ status: 500 });
    const { deliveryIds } = await publish(engine);
    await engine.clock.advance(minute);
    const deliveryId = deliveryIds[0] ?? '';
    const dead = await must(showDelivery(engine, owner, { deliveryId }));
    expect(dead.outcome).toBe('dead');
    expect((await must(redeliver(engine, owner, { deliveryId }))).outcome).toBe('pending');
    await engine.clock.advance(day);
    expect(await must(showDelivery(engine, owner, { deliveryId }))).toMatchObject({
      outcome: 'dead',
      settledAt: dead.settledAt,
      attemptCount: 3,
      attempts: [{ manual: false }, { manual: false }, { manual: true, number: 3 }],
    });
    engine.delivery.answer({ status: 204 });
    await must(redeliver(engine, owner, { deliveryId }));
    await engine.clock.advance(second);
    const delivered = await must(showDelivery(engine, owner, { deliveryId }));
    expect(delivered).toMatchObject({ outcome: 'delivered', body: engine.delivery.requests[0]?.body });
    expect(new Set(engine.delivery.requests.map((request) => request.body)).size).toBe(1);
    expect((await mustFail(redeliver(engine, stranger, { deliveryId }))).type).toBe('not_found');
    await must(updateNotificationConfiguration(engine, owner, { configurationId: id, attributes: { enabled: false } }));
    expect((await mustFail(redeliver(engine, owner, { deliveryId }))).type).toBe('conflict');
    await engine.stop();
  });

  test('it passes an open breaker, and what waited behind it follows', async () => {
    const { engine } = await started({ notifications: { delivery: { breaker: { failures: 1 } } } });
    engine.delivery.answer({ status: 500 });
    const first = await publish(engine, { trigger: 'run:created' });
    await engine.clock.advance(6 * minute);
    await publish(engine, { trigger: 'run:completed' });
    await engine.clock.advance(second);
    engine.delivery.clear();
    engine.delivery.answer({ status: 204 });
    await must(redeliver(engine, owner, { deliveryId: first.deliveryIds[0] ?? '' }));
    await engine.clock.advance(second);
    expect(engine.delivery.requests.map(triggerOf)).toEqual(['run:created', 'run:completed']);
    await engine.stop();
  });

  test('of one that waits behind its run is sent in its turn, when that came while the redelivery failed', async () => {
    const { engine, id } = await started();
    engine.delivery.answer({ status: 500 });
    await publish(engine, { trigger: 'run:created' });
    await engine.clock.advance(second);
    const later = await publish(engine, { trigger: 'run:completed' });
    await engine.clock.advance(second);
    engine.delivery.answer({ status: 500, after: 10 * second });
    await must(redeliver(engine, owner, { deliveryId: later.deliveryIds[0] ?? '' }));
    await engine.clock.advance(second);
    engine.delivery.answer({ status: 204 });
    await engine.clock.advance(minute);
    expect(engine.delivery.requests.map(triggerOf)).toEqual([
      'run:created',
      'run:completed',
      'run:created',
      'run:completed',
    ]);
    expect(await log(engine, id, { outcome: 'pending' })).toEqual([]);
    await engine.stop();
  });

  test('while the scheduled attempt is under way', async () => {
    const { engine } = await started();
    engine.delivery.answer((_request, n) => (n === 2 ? { status: 500, after: 5 * second } : { status: 500 }));
    const { deliveryIds } = await publish(engine);
    await engine.clock.advance(second);
    const deliveryId = deliveryIds[0] ?? '';
    await must(redeliver(engine, owner, { deliveryId }));
    await engine.clock.advance(6 * second);
    const shown = await must(showDelivery(engine, owner, { deliveryId }));
    expect(shown.attempts.map((attempt) => attempt.manual)).toEqual([false, true]);
    expect(shown).toMatchObject({ outcome: 'pending' });
    await engine.stop();
  });

  test('recovery of a span of time, up to its limit', async () => {
    const settings = { notifications: { ...failing.notifications, maximumRecover: 3 } };
    const { engine, id } = await started({
      ...settings,
      notifications: { ...settings.notifications, delivery: { retry: { generic: [] }, breaker: { failures: 0 } } },
    });
    engine.delivery.answer({ status: 500 });
    const start = engine.clock.now();
    for (let n = 0; n < 5; n++) {
      await publish(engine, { runId: `run-${n}` });
      await engine.clock.advance(minute);
    }
    engine.delivery.answer({ status: 204 });
    const request = { configurationId: id, since: start + minute };
    expect(await must(recoverDeliveries(engine, owner, request))).toMatchObject({ count: 3, more: true });
    await engine.clock.advance(second);
    expect(await must(recoverDeliveries(engine, owner, { ...request, until: start + 9 * minute }))).toMatchObject({
      count: 1,
      more: false,
    });
    await engine.clock.advance(second);
    expect(await log(engine, id, { outcome: 'delivered' })).toHaveLength(4);
    expect(await log(engine, id, { outcome: 'dead' })).toHaveLength(1);
    const wrong = { ...request, until: 5 };
    expect((await mustFail(recoverDeliveries(engine, owner, wrong))).type).toBe('invalid_parameter');
    // Without an end, a beginning in the future is no mistake: nothing has ended since.
    const ahead = { configurationId: id, since: engine.clock.now() + minute };
    expect(await must(recoverDeliveries(engine, owner, ahead))).toMatchObject({ count: 0, more: false });
    expect(await must(countRecoverable(engine, owner, { workspaceId, since: ahead.since }))).toMatchObject({
      count: 0,
    });
    await engine.stop();
  });
});

describe('the log', () => {
  test('pages and filters', async () => {
    const { engine, id } = await started();
    for (let n = 0; n < 5; n++) {
      await publish(engine, { runId: `run-${n}`, trigger: n % 2 === 0 ? 'run:created' : 'run:errored' });
      await engine.clock.advance(10);
    }
    await engine.clock.advance(second);
    const request = { configurationId: id, pageSize: 2 };
    const first = await must(listDeliveries(engine, owner, request));
    expect(first).toMatchObject({ currentPage: 1, pageSize: 2, prevPage: null, nextPage: 2 });
    const last = await must(listDeliveries(engine, owner, { ...request, pageSize: 2, pageNumber: 3 }));
    expect(last).toMatchObject({ prevPage: 2, nextPage: null });
    expect(last.items).toHaveLength(1);
    expect((await log(engine, id, { trigger: 'run:errored' })).map((it) => it.trigger)).toEqual([
      'run:errored',
      'run:errored',
    ]);
    expect(
      await log(engine, id, { trigger: 'run:created', outcome: 'delivered', pageSize: 2, pageNumber: 2 }),
    ).toHaveLength(1);
    expect(await log(engine, id, { outcome: 'pending' })).toEqual([]);
    for (const filter of [{ outcome: 'lost' }, { trigger: 'lost' }, { pageSize: 0 }]) {
      const error = await mustFail(listDeliveries(engine, owner, { configurationId: id, ...filter }));
      expect(error.type).toBe('invalid_parameter');
    }
    expect((await mustFail(listDeliveries(engine, stranger, request))).type).toBe('not_found');
    await engine.stop();
  });

  test('ends with the time', async () => {
    const retention = { delivered: day, dead: 3 * day, idempotency: hour };
    const { engine, id } = await started({ notifications: { retention } });
    engine.delivery.answer((_request, n) => ({ status: n === 2 ? 410 : 204 }));
    await publish(engine, { runId: 'dead' });
    await engine.clock.advance(second);
    await publish(engine, { runId: 'fine' });
    await engine.clock.advance(2 * day);
    expect((await log(engine, id)).map((it) => it.outcome)).toEqual(['dead']);
    await engine.clock.advance(3 * day);
    expect(await log(engine, id)).toEqual([]);
    expect(await must(engine.storage.read((view) => view.list(events).length))).toBe(0);
    await engine.stop();
  });
});

test.each([
  [5 * minute, 5 * minute, 7 * minute],
  [40 * minute, 40 * minute, 51 * minute],
  [2 * second, 0, 15 * second],
])('a delivery that is kept for %i ms is there after %i and gone after %i ms', async (delivered, there, gone) => {
  const { engine, id } = await started({ notifications: { retention: { delivered } } });
  await publish(engine);
  await engine.clock.settle();
  await engine.clock.advance(there);
  expect(await log(engine, id)).toHaveLength(1);
  await engine.clock.advance(gone - there);
  expect(await log(engine, id)).toEqual([]);
  await engine.stop();
});

describe('e-mail', () => {
  const email = { destinationType: 'email', users: ['user-1', 'user-2'] };
  test('one message per recipient, again only to those it did not reach', async () => {
    const { engine, id } = await started({}, email, {
      mail: {
        fail: (mail: { to: string }, n: number) =>
          n === 2 ? { type: 'mail_unavailable', message: `later ${mail.to.length}` } : null,
      },
    });
    await publish(engine);
    await engine.clock.advance(minute);
    expect(engine.mailer.messages.map((mail) => mail.to)).toEqual(['user-1@example.org', 'user-2@example.org']);
    expect((await log(engine, id))[0]).toMatchObject({ outcome: 'delivered', attemptCount: 2 });
    await engine.stop();
  });
  test('a redelivery goes to everybody again when everybody has had it, else to those who have not', async () => {
    let refuses: (to: string) => boolean = () => false;
    const { engine, id } = await started({}, email, {
      mail: {
        fail: ({ to }: { to: string }) => (refuses(to) ? { type: 'mail_rejected', message: 'no such box' } : null),
      },
    });
    const { deliveryIds } = await publish(engine);
    await engine.clock.advance(second);
    const sentAgain = async () => {
      const before = engine.mailer.messages.length;
      await must(redeliver(engine, owner, { deliveryId: deliveryIds[0] ?? '' }));
      await engine.clock.advance(second);
      return engine.mailer.messages.slice(before).map(({ to }) => to);
    };
    expect(await sentAgain()).toEqual(['user-1@example.org', 'user-2@example.org']);
    expect((await log(engine, id))[0]).toMatchObject({ outcome: 'delivered', attemptCount: 2 });
    refuses = () => true;
    expect(await sentAgain()).toEqual([]);
    const [failed] = await log(engine, id);
    expect(failed).toMatchObject({ outcome: 'delivered', attemptCount: 3, lastFailure: 'mail_rejected' });
    const shown = await must(showDelivery(engine, owner, { deliveryId: failed?.id ?? '' }));
    expect(shown.recipients.map(({ outcome }) => outcome)).toEqual(['accepted', 'accepted']);
    const dead = await publish(engine, { runId: 'run-0' });
    await engine.clock.advance(second);
    expect((await log(engine, id))[0]).toMatchObject({ outcome: 'dead' });
    refuses = () => false;
    await must(redeliver(engine, owner, { deliveryId: dead.deliveryIds[0] ?? '' }));
    await engine.clock.advance(second);
    expect((await log(engine, id))[0]).toMatchObject({ outcome: 'delivered', attemptCount: 2 });

    refuses = (to) => to.startsWith('user-2');
    const partly = await publish(engine, { runId: 'run-2' });
    await engine.clock.advance(second);
    expect((await log(engine, id))[0]).toMatchObject({ outcome: 'partly_delivered' });
    refuses = () => false;
    const before = engine.mailer.messages.length;
    await must(redeliver(engine, owner, { deliveryId: partly.deliveryIds[0] ?? '' }));
    await engine.clock.advance(second);
    expect(engine.mailer.messages.slice(before).map(({ to }) => to)).toEqual(['user-2@example.org']);
    expect((await log(engine, id))[0]).toMatchObject({ outcome: 'delivered', attemptCount: 2 });
    await engine.stop();
  });
  test('nobody left, nothing sent; everybody refused, dead', async () => {
    const { engine, id } = await started({}, email);
    await must(removeUser(engine, hostPrincipal, { userId: 'user-1' }));
    await must(removeUser(engine, hostPrincipal, { userId: 'user-2' }));
    await publish(engine);
    await engine.clock.advance(minute);
    expect((await log(engine, id))[0]).toMatchObject({ outcome: 'cancelled', reason: 'no_recipients' });
    await engine.stop();
    const refusing = await started({}, email, {
      mail: { fail: () => ({ type: 'mail_rejected', message: 'no such box' }) },
    });
    await publish(refusing.engine);
    await refusing.engine.clock.advance(minute);
    expect((await log(refusing.engine, refusing.id))[0]).toMatchObject({
      outcome: 'dead',
      lastFailure: 'mail_rejected',
    });
    await refusing.engine.stop();
  });
});

test('a replaced secret signs beside the new one for its grace time', async () => {
  const signature = { standardWebhooks: true, rotationGrace: hour };
  const { engine, id } = await started({ notifications: { signature } });
  const signatures = () => engine.delivery.requests.at(-1)?.headers['webhook-signature']?.split(' ').length;
  await must(updateNotificationConfiguration(engine, owner, { configurationId: id, attributes: { token: 'second' } }));
  await publish(engine, { runId: 'a' });
  await engine.clock.advance(second);
  expect(signatures()).toBe(2);
  expect(engine.delivery.requests.at(-1)?.headers['webhook-id']).toMatch(/^ne-/);
  await engine.clock.advance(hour);
  await publish(engine, { runId: 'b' });
  await engine.clock.advance(second);
  expect(signatures()).toBe(1);
  await engine.stop();
});

test('verification requests are signed with the replaced secret, too, as long as messages are', async () => {
  const signature = { standardWebhooks: true, rotationGrace: hour };
  const { engine, id } = await started({ notifications: { signature } });
  const signatures = () => engine.delivery.requests.at(-1)?.headers['webhook-signature']?.split(' ').length;
  const attributes = { token: 'second', enabled: true };
  engine.delivery.clear();
  await must(updateNotificationConfiguration(engine, owner, { configurationId: id, attributes }));
  expect([engine.delivery.requests.length, signatures()]).toEqual([1, 2]);
  await must(verifyNotificationConfiguration(engine, owner, { configurationId: id }));
  expect([engine.delivery.requests.length, signatures()]).toEqual([2, 2]);
  await engine.clock.advance(hour);
  await must(verifyNotificationConfiguration(engine, owner, { configurationId: id }));
  expect([engine.delivery.requests.length, signatures()]).toEqual([3, 1]);
  await engine.stop();
});

test.each([
  ['the wall clock goes', 0],
  ['the wall clock was set forward by a day', day],
  ['the wall clock was set back by a day', -day],
])(
  'a replaced secret ends with its grace time also where there is always something to send: %s',
  async (_how, step) => {
    const signature = { standardWebhooks: true, rotationGrace: minute };
    const { engine, id } = await started({ notifications: { signature } });
    await engine.clock.step(step);
    await must(
      updateNotificationConfiguration(engine, owner, { configurationId: id, attributes: { token: 'second' } }),
    );
    engine.delivery.clear();
    for (let n = 0; n < 24; n += 1) {
      await publish(engine, { runId: `run-${n}` });
      await engine.clock.advance(5 * second);
    }
    const counts = engine.delivery.requests.map(({ headers }) => headers['webhook-signature']?.split(' ').length);
    expect(counts).toEqual([...Array(12).fill(2), ...Array(12).fill(1)]);
    await engine.stop();
  },
);

describe('the automatic switch-off', () => {
  test('is off by default, and works when asked for', async () => {
    for (const autoDisableAfter of [null, 12 * hour]) {
      const { engine, id } = await started({ notifications: { delivery: { autoDisableAfter } } });
      const changes: string[] = [];
      engine.events.on('notification.configuration', (fact) => changes.push(fact.change));
      engine.delivery.answer({ status: 500 });
      await publish(engine);
      await engine.clock.advance(3 * day);
      const shown = await must(showNotificationConfiguration(engine, owner, { configurationId: id }));
      expect(shown.enabled).toBe(autoDisableAfter === null);
      expect(changes).toEqual(autoDisableAfter === null ? [] : ['auto_disabled']);
      await engine.stop();
    }
  });
});

describe('several engines and restarts', () => {
  const second_ = (engine: TestEngine) =>
    createEngine({ storage: engine.storage, clock: engine.clock, ids: engine.ids, delivery: engine.delivery });

  test('two engines over one store send everything once', async () => {
    const { engine, id } = await started();
    const other = second_(engine);
    other.start();
    for (let n = 0; n < 50; n++) await publish(engine, { runId: `run-${n % 7}` });
    await engine.clock.advance(minute);
    expect(engine.delivery.requests).toHaveLength(50);
    expect(await log(engine, id, { outcome: 'delivered', pageSize: 100 })).toHaveLength(50);
    await Promise.all([engine.stop(), other.stop()]);
  });

  test('what the outbound rules of one engine forbid is left for another one, and told', async () => {
    const { engine, id } = await started();
    await engine.stop();
    const { storage, clock, ids } = engine;
    const { logger, lines } = recordingLogger();
    const refused = recordingDelivery({ clock, refuse: () => 'private addresses are not delivered to' });
    const strict = createEngine({ storage, clock, ids, logger, delivery: refused });
    strict.start();
    await publish(engine);
    await clock.advance(second);
    expect(await log(engine, id)).toMatchObject([{ outcome: 'pending', attemptCount: 1 }]);
    const [{ id: deliveryId } = { id: '' }] = await log(engine, id);
    const { attempts } = await must(showDelivery(strict, owner, { deliveryId }));
    expect(attempts[0]?.failure).toMatchObject({
      class: 'address_forbidden',
      message: expect.stringContaining('private addresses'),
    });
    expect(lines).toEqual(['warn A notification destination began to fail']);
    await strict.stop();
    engine.start();
    await clock.advance(minute);
    expect(await log(engine, id)).toMatchObject([{ outcome: 'delivered' }]);
    await engine.stop();
  });

  test('an engine that vanishes leaves its work to the next one when its leases end', async () => {
    const { storage, kill } = mortal(memoryStorage());
    const dying = await testEngine({}, { ports: { storage } });
    const { id } = await must(create(dying));
    dying.delivery.answer({ hang: true });
    dying.start();
    const { deliveryIds } = await publish(dying);
    await dying.clock.advance(second);
    const inner = kill();
    const delivery = recordingDelivery({ clock: dying.clock });
    const next = createEngine({ storage: inner, clock: dying.clock, ids: dying.ids, delivery });
    next.start();
    await dying.clock.advance(2 * second);
    expect(delivery.requests).toHaveLength(0);
    await dying.clock.advance(5 * second);
    expect(delivery.requests).toHaveLength(1);
    const shown = await must(showDelivery(next, owner, { deliveryId: deliveryIds[0] ?? '' }));
    expect(shown).toMatchObject({ configurationId: id, outcome: 'delivered', attemptCount: 1 });
    await next.stop();
  });

  test('what an engine sent that has lost its lease lets the next ones of the run go on, too', async () => {
    const { storage, stall, goOn } = stalling(memoryStorage());
    const slow = await testEngine({}, { ports: { storage } });
    const { id } = await must(create(slow));
    slow.delivery.answer({ status: 500 });
    slow.delivery.clear();
    slow.start();
    for (const trigger of ['run:created', 'run:completed', 'run:errored'] as const) {
      await publish(slow, { trigger });
      await slow.clock.advance(second);
    }
    slow.delivery.answer({ status: 204, after: 12 * second });
    expect(await slow.clock.advanceUntil(() => slow.delivery.requests.length === 2, 10 * second)).toBe(true);
    const inner = stall();
    const delivery = recordingDelivery({ clock: slow.clock, answer: { status: 500 } });
    const next = createEngine({ storage: inner, clock: slow.clock, ids: slow.ids, delivery });
    next.start();
    // The second engine takes the queue when its lease ends, and fails; then the attempt of the first one ends.
    await slow.clock.advance(10 * second);
    expect(delivery.requests.map(triggerOf)).toEqual(['run:created']);
    const sent = [...delivery.requests];
    goOn();
    for (const each of [slow.delivery, delivery]) {
      each.answer({ status: 204 });
      each.clear();
    }
    await slow.clock.advance(4 * second);
    sent.push(...[...slow.delivery.requests, ...delivery.requests].sort((a, b) => a.sentAt - b.sentAt));
    expect(sent.map(triggerOf)).toEqual(['run:created', 'run:completed', 'run:errored']);
    expect(await log(slow, id, { outcome: 'delivered' })).toHaveLength(3);
    await Promise.all([slow.stop(), next.stop()]);
  });

  test('stopping gives lanes back at once', async () => {
    const { engine, id } = await started();
    engine.delivery.answer({ status: 204, after: second });
    for (let n = 0; n < 20; n++) await publish(engine, { runId: `run-${n}` });
    await engine.clock.settle();
    const stopping = engine.stop();
    await engine.clock.advance(2 * second);
    expect(await stopping).toBe(true);
    expect(engine.delivery.requests).toHaveLength(4);
    expect(await queuesLeft(engine)).toMatchObject([{ wakeAt: 0 }]);
    const other = second_(engine);
    other.start();
    await engine.clock.advance(minute);
    expect(await log(engine, id, { outcome: 'delivered', pageSize: 50 })).toHaveLength(20);
    expect(engine.delivery.requests).toHaveLength(20);
    await other.stop();
  });
});

/** A store whose writes stand still for a while, as on a host that has something else to do. */
function stalling(inner: Storage): { storage: Storage; stall: () => Storage; goOn: () => void } {
  let gate = Promise.resolve();
  let open = (): void => undefined;
  const storage: Storage = {
    read: (work) => inner.read(work),
    write: (work) => ResultAsync.fromSafePromise(gate).andThen(() => inner.write(work)),
    waitForChange: (...about) => inner.waitForChange(...about),
    close: () => inner.close(),
  };
  const stall = (): Storage => {
    gate = new Promise((resolve) => {
      open = resolve;
    });
    return inner;
  };
  return { storage, stall, goOn: () => open() };
}

/** A store that its engine can be cut off from, as if the process had died: nothing is answered any more. */
function mortal(inner: Storage): { storage: Storage; kill: () => Storage } {
  let dead = false;
  const never = new Promise<never>(() => {});
  const storage: Storage = {
    read: (work) => (dead ? new ResultAsync(never) : inner.read(work)),
    write: (work) => (dead ? new ResultAsync(never) : inner.write(work)),
    waitForChange: (tables, after, signal) => (dead ? never : inner.waitForChange(tables, after, signal)),
    close: () => inner.close(),
  };
  const kill = (): Storage => {
    dead = true;
    return inner;
  };
  return { storage, kill };
}

test('a thousand deliveries in a lane arrive in order of their runs', async () => {
  const { engine, id } = await started();
  for (let n = 0; n < 1000; n++) await publish(engine, { runId: `run-${n % 10}`, message: String(n) });
  await engine.clock.advance(minute);
  expect(engine.delivery.requests).toHaveLength(1000);
  for (let run = 0; run < 10; run++) {
    const numbers = engine.delivery.requests
      .filter((request) => runOf(request) === `run-${run}`)
      .map((request) => Number(JSON.parse(request.body).notifications[0].message));
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
  }
  const states = await must(engine.storage.read((view) => view.list(deliveries).map((row) => row.record.state.type)));
  expect(new Set(states)).toEqual(new Set(['delivered']));
  expect(id).not.toBe('');
  await engine.stop();
});
