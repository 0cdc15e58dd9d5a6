import { errAsync, okAsync, ResultAsync } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { memoryStorage } from '../../../adapters/memory/memory-storage.js';
import { hostPrincipal } from '../../../src/access/principal.js';
import { events } from '../../../src/notifications/events/event.js';
import { showNotificationConfiguration } from '../../../src/operations/notifications/configurations/list-notification-configurations.js';
import {
  deleteNotificationConfiguration,
  pauseNotificationConfiguration,
  resumeNotificationConfiguration,
} from '../../../src/operations/notifications/configurations/pause-and-delete-configuration.js';
import {
  enableNotificationConfiguration,
  updateNotificationConfiguration,
} from '../../../src/operations/notifications/configurations/update-notification-configuration.js';
import { verifyNotificationConfiguration } from '../../../src/operations/notifications/configurations/verify-notification-configuration.js';
import { eraseNotificationEvent } from '../../../src/operations/notifications/events/events-log.js';
import { sendNotificationEvent } from '../../../src/operations/notifications/events/send-notification-event.js';
import { listDeliveries, showDelivery } from '../../../src/operations/notifications/log/list-deliveries.js';
import { recoverDeliveries, redeliver } from '../../../src/operations/notifications/log/redeliver.js';
import { putUser } from '../../../src/operations/notifications/workspaces/workspaces-and-users.js';

import type { Mailer } from '../../../src/ports/mailer.js';
import type { ReadView, Storage } from '../../../src/ports/storage.js';
import type { SettingsOverrides } from '../../../src/settings.js';
import { day, hour, minute, second } from '../../../src/shared/duration.js';
import {
  create,
  must,
  mustFail,
  owner,
  publish,
  recordingLogger,
  runEvent,
  type TestEngine,
  testEngine,
  workspaceId,
} from './engine-setup.js';

const runOf = (request: { body: string }): string => JSON.parse(request.body).run_id;
const configurationOf = (request: { body: string }): string => JSON.parse(request.body).notification_configuration_id;
const log = async (engine: TestEngine, configurationId: string, filter = {}) =>
  (await must(listDeliveries(engine, owner, { configurationId, pageSize: 100, ...filter }))).items;
const update = (engine: TestEngine, configurationId: string, attributes: object) =>
  must(updateNotificationConfiguration(engine, owner, { configurationId, attributes }));

async function started(settings = {}, attributes = {}, options = {}) {
  const engine = await testEngine(settings, options);
  const { id } = await must(create(engine, attributes));
  engine.delivery.clear();
  engine.start();
  return { engine, id };
}

test('the log of a configuration that is seldom notified does not read the events for others', async () => {
  const inner = memoryStorage();
  let read = 0;
  const storage: Storage = {
    ...inner,
    read: (work) =>
      inner.read((view) => {
        const list: ReadView['list'] = (table, query) => {
          const rows = view.list(table, query);
          if (table.name === events.name) read += rows.length;
          return rows;
        };
        return work({
          index: view.index,
          list,
          get: (table, key) => view.get(table, key),
          tableIndex: (table) => view.tableIndex(table),
        });
      }),
  };
  const engine = await testEngine({}, { ports: { storage } });
  await must(create(engine));
  const quiet = await must(create(engine, { name: 'Quiet hook', triggers: ['run:created'] }));
  engine.start();
  for (let n = 0; n < 100; n += 1) await publish(engine, { trigger: 'run:errored', runId: `run-${n}` });
  await engine.clock.advance(minute);
  read = 0;
  expect(await log(engine, quiet.id)).toEqual([]);
  expect(read).toBe(0);
  await engine.stop();
  await publish(engine, { trigger: 'run:created' });
  expect(await log(engine, quiet.id)).toMatchObject([{ outcome: 'pending' }]);
});

describe('neighbours on one origin', () => {
  test('20 that hang take nothing from one that answers', async () => {
    const engine = await testEngine({ notifications: { maximumPerWorkspace: 21 } });
    for (let n = 0; n < 20; n += 1) await must(create(engine, { url: `https://one.example/hang/${n}` }));
    const good = await must(create(engine, { url: 'https://one.example/good' }));
    engine.delivery.clear();
    engine.delivery.answer((request) => (request.url.endsWith('good') ? { status: 204, after: 5 } : { hang: true }));
    engine.start();
    const lags: number[] = [];
    for (let n = 0; n < 100; n += 1) {
      const at = engine.clock.now();
      await publish(engine, { runId: `run-${n}` });
      await engine.clock.advance(250);
      const sent = engine.delivery.requests.find(
        (each) => configurationOf(each) === good.id && runOf(each) === `run-${n}`,
      );
      lags.push((sent?.sentAt ?? Number.POSITIVE_INFINITY) - at);
    }
    expect(Math.max(...lags)).toBeLessThan(second);
    const stopping = engine.stop();
    await engine.clock.advance(minute);
    await stopping;
  });

  test('two configurations with one chat hook share its rate, with two hooks of one service they do not', async () => {
    for (const [second_, expected] of [
      ['https://chat.example/a', [0, 1000]],
      ['https://chat.example/b', [0, 0]],
    ] as const) {
      const { engine } = await started({}, { destinationType: 'chat-a', url: 'https://chat.example/a' });
      await must(create(engine, { destinationType: 'chat-a', url: second_ }));
      engine.delivery.clear();
      const start = engine.clock.now();
      await publish(engine);
      await engine.clock.advance(minute);
      expect(engine.delivery.requests.map((request) => request.sentAt - start)).toEqual(expected);
      await engine.stop();
    }
  });
});

describe('a message that cannot be made', () => {
  test.each(['chat-a', 'email'])('holds up no other one, and ends like one that is not taken: %s', async (kind) => {
    const { engine, id } = await started({}, { destinationType: kind, users: ['user-1'] });
    const other = await must(create(engine));
    engine.delivery.clear();
    // A value of the host that the types do not allow.
    const { deliveryIds } = await publish(engine, { runMessage: 5 as never });
    await publish(engine, { runId: 'run-2' });
    await engine.clock.advance(second);
    expect((await log(engine, other.id)).map(({ outcome }) => outcome)).toEqual(['delivered', 'delivered']);
    expect((await log(engine, id)).map(({ outcome }) => outcome)).toEqual(['delivered', 'pending']);
    await engine.clock.advance(day);
    expect((await log(engine, id)).at(-1)).toMatchObject({ id: deliveryIds[0], outcome: 'dead', attemptCount: 6 });
    await engine.stop();
  });
});

describe('a destination that always fails', () => {
  test('300 deliveries are over after a day', async () => {
    const { engine, id } = await started();
    engine.delivery.answer({ status: 503 });
    for (let n = 0; n < 300; n += 1) await publish(engine, { runId: `run-${n % 7}` });
    await engine.clock.advance(day + 11 * minute);
    expect(await log(engine, id, { outcome: 'pending' })).toEqual([]);
    const dead = await log(engine, id, { outcome: 'dead', pageSize: 100, pageNumber: 3 });
    expect(dead).toHaveLength(100);
    expect(new Set(dead.map(({ reason }) => reason))).toEqual(new Set(['expired']));
    expect(engine.delivery.requests.length).toBeLessThan(500);
    await engine.stop();
  });

  test('a single one gets all its attempts', async () => {
    const { engine, id } = await started({ notifications: { delivery: { breaker: { failures: 0 } } } });
    engine.delivery.answer({ status: 503 });
    await publish(engine);
    await engine.clock.advance(day);
    expect(await log(engine, id)).toMatchObject([{ outcome: 'dead', reason: 'exhausted', attemptCount: 11 }]);
    await engine.stop();
  });

  test('the log says what holds a delivery up, and until when', async () => {
    const { engine, id } = await started();
    const start = engine.clock.now();
    engine.delivery.answer({ status: 500 });
    await publish(engine, { runId: 'a' });
    await publish(engine, { runId: 'a', trigger: 'run:completed' });
    await engine.clock.advance(second);
    expect((await log(engine, id)).map(({ waitsFor }) => waitsFor)).toEqual([
      { reason: 'order', until: null },
      { reason: 'retry', until: new Date(start + 5 * second).toISOString() },
    ]);
    for (let n = 0; n < 5; n += 1) await publish(engine, { runId: `other-${n}` });
    await engine.clock.advance(second);
    const [waiting] = await log(engine, id);
    expect(waiting?.waitsFor).toEqual({ reason: 'breaker', until: new Date(start + 31 * second).toISOString() });
    await engine.stop();
  });
});

describe('the breaker', () => {
  const failing = async () => {
    const { engine, id } = await started();
    engine.delivery.answer({ status: 500 });
    const published = await publish(engine, { runId: 'first' });
    for (let n = 0; n < 9; n += 1) await publish(engine, { runId: `run-${n}` });
    await engine.clock.advance(second);
    engine.delivery.answer({ status: 204 });
    engine.delivery.clear();
    return { engine, id, deliveryId: published.deliveryIds[0] ?? '' };
  };
  test.each(['verification', 'enabling', 'redelivery'] as const)('ends by a successful %s', async (how) => {
    const { engine, id, deliveryId } = await failing();
    await engine.clock.advance(second);
    expect(engine.delivery.requests).toHaveLength(0);
    const request = { configurationId: id };
    if (how === 'verification') await must(verifyNotificationConfiguration(engine, owner, request));
    if (how === 'enabling') await must(enableNotificationConfiguration(engine, owner, request));
    if (how === 'redelivery') await must(redeliver(engine, owner, { deliveryId }));
    await engine.clock.advance(6 * second);
    expect(await log(engine, id, { outcome: 'pending' })).toEqual([]);
    await engine.stop();
  });
  test('is not what a proxy that refuses looks like: that is told for itself, and is no failure of the destination', async () => {
    const { logger, lines } = recordingLogger();
    const { engine, id } = await started({}, {}, { ports: { logger } });
    const health = async () =>
      (await must(showNotificationConfiguration(engine, owner, { configurationId: id }))).health;
    expect(await health()).toMatchObject({ hinderedBy: null, hinderedSince: null });
    engine.delivery.answer({ error: 'proxy_failed', message: 'the outbound proxy refused the connection (407)' });
    const began = engine.clock.now();
    for (let n = 0; n < 6; n += 1) await publish(engine, { runId: `run-${n}` });
    await engine.clock.advance(hour);
    const held = await health();
    expect(held).toMatchObject({ breaker: 'closed', failingSince: null, hinderedBy: 'proxy_failed' });
    expect(Math.abs(Date.parse(held.hinderedSince ?? '') - began)).toBeLessThan(second);
    expect(lines).toEqual(['warn Notifications cannot be sent to their destination']);
    engine.delivery.answer({ status: 204 });
    await engine.clock.advance(5 * hour);
    expect(await health()).toMatchObject({ hinderedBy: null, hinderedSince: null });
    expect(lines.slice(1)).toEqual(['info Notifications reach their destination again']);
    await engine.stop();
  });

  test.each([
    ['a restart of the engine keeps it', 'restart'],
    ['a verification that gets through ends it', 'verification'],
  ])('%s', async (_name, how) => {
    const { engine, id } = await started();
    engine.delivery.answer({ error: 'proxy_failed' });
    await publish(engine);
    await engine.clock.advance(minute);
    engine.delivery.answer({ status: 204 });
    if (how === 'verification') await must(verifyNotificationConfiguration(engine, owner, { configurationId: id }));
    await engine.stop();
    const { health } = await must(showNotificationConfiguration(engine, owner, { configurationId: id }));
    expect(health.hinderedBy).toBe(how === 'restart' ? 'proxy_failed' : null);
  });

  test('is seen in the configuration, the log of the host and the events', async () => {
    const { logger, lines } = recordingLogger();
    const { engine, id } = await started({}, {}, { ports: { logger } });
    const told: string[] = [];
    engine.events.on('notification.destination', ({ configurationId, change }) =>
      told.push(`${configurationId} ${change}`),
    );
    const health = async () =>
      (await must(showNotificationConfiguration(engine, owner, { configurationId: id }))).health;
    expect(await health()).toMatchObject({ breaker: 'closed', failures: 0, failingSince: null, paused: false });
    engine.delivery.answer({ status: 500 });
    for (let n = 0; n < 6; n += 1) await publish(engine, { runId: `run-${n}` });
    await engine.clock.advance(second);
    const opened = await health();
    expect(opened).toMatchObject({ breaker: 'open', failures: 0 });
    expect(Date.parse(opened.nextProbeAt ?? '') - Date.parse(opened.breakerSince ?? '')).toBe(30 * second);
    await engine.clock.advance(30 * second);
    engine.delivery.answer({ status: 204 });
    await engine.clock.advance(10 * minute);
    expect(await health()).toMatchObject({
      breaker: 'closed',
      failingSince: null,
      breakerSince: null,
      nextProbeAt: null,
    });
    expect(told).toEqual([`${id} failing`, `${id} breaker_opened`, `${id} recovered`, `${id} breaker_closed`]);
    expect(lines).toEqual([
      'warn A notification destination began to fail',
      'info A notification destination works again',
    ]);
    await engine.stop();
  });
  test('does not end by a redelivery that fails', async () => {
    const { engine, id, deliveryId } = await failing();
    engine.delivery.answer({ status: 500 });
    await must(redeliver(engine, owner, { deliveryId }));
    await engine.clock.advance(second);
    expect(engine.delivery.requests).toHaveLength(1);
    expect((await log(engine, id))[0]?.waitsFor?.reason).toBe('breaker');
    await engine.stop();
  });
});

describe('a pause', () => {
  test('holds everything back but a redelivery, and resuming sends it in order', async () => {
    const { engine, id } = await started();
    const request = { configurationId: id };
    expect((await must(pauseNotificationConfiguration(engine, owner, request))).health.paused).toBe(true);
    const first = await publish(engine, { runId: 'one', trigger: 'run:created' });
    await publish(engine, { runId: 'one', trigger: 'run:completed' });
    await publish(engine, { runId: 'two' });
    await engine.clock.advance(hour);
    expect(engine.delivery.requests).toHaveLength(0);
    expect((await log(engine, id)).map(({ waitsFor }) => waitsFor?.reason)).toEqual(['paused', 'paused', 'paused']);
    await must(redeliver(engine, owner, { deliveryId: first.deliveryIds[0] ?? '' }));
    await engine.clock.advance(second);
    expect(engine.delivery.requests.map(runOf)).toEqual(['one']);
    expect((await must(resumeNotificationConfiguration(engine, owner, request))).health.paused).toBe(false);
    await engine.clock.advance(second);
    expect(engine.delivery.requests.map((each) => JSON.parse(each.body).notifications[0].trigger)).toEqual([
      'run:created',
      'run:completed',
      'run:errored',
    ]);
    await engine.stop();
  });
  test('is not interrupted by events that arrive: no engine takes the queue for them', async () => {
    const { engine, id } = await started();
    await must(pauseNotificationConfiguration(engine, owner, { configurationId: id }));
    await engine.clock.advance(minute);
    await publish(engine, { runId: 'one' });
    const index = () => must(engine.storage.read((view) => view.index));
    const before = await index();
    for (let n = 0; n < 10; n += 1) {
      await engine.clock.advance(minute);
      await publish(engine, { runId: `run-${n}` });
    }
    await engine.clock.advance(minute);
    expect((await index()) - before).toBe(10);
    await engine.clock.advance(day);
    expect((await log(engine, id)).map(({ reason }) => reason)).toEqual(Array(11).fill('expired'));
    await engine.stop();
  });
  test('lasts over a restart, and what gets too old is over', async () => {
    const { engine, id } = await started();
    await must(pauseNotificationConfiguration(engine, owner, { configurationId: id }));
    await publish(engine);
    await engine.clock.advance(minute);
    await engine.stop();
    engine.start();
    await engine.clock.advance(hour);
    expect(engine.delivery.requests).toHaveLength(0);
    await engine.clock.advance(day);
    expect(await log(engine, id)).toMatchObject([{ outcome: 'dead', reason: 'expired' }]);
    await engine.stop();
  });
});

describe('publishers that are faster than a destination', () => {
  test('are told by a backlog, and answered later', async () => {
    const pressure = { from: 64, span: 100, maximumWait: 40 };
    const { engine, id } = await started({ notifications: { pressure } });
    engine.delivery.answer(() => ({ status: 204, after: 10 * second }));
    for (let n = 0; n < 400; n += 1) {
      await publish(engine, { runId: `run-${n}` });
      if (n % 100 === 0) await engine.clock.advance(0);
    }
    await engine.clock.advance(10 * second);
    const asked = performance.now();
    const { backlog } = await publish(engine, { runId: 'last' });
    expect(backlog).toBeGreaterThan(164);
    expect(performance.now() - asked).toBeGreaterThan(35);
    await must(updateNotificationConfiguration(engine, owner, { configurationId: id, attributes: { enabled: false } }));
    await engine.clock.advance(minute);
    await engine.stop();
  });
  test('a pause and a breaker hold back what health counts, and nobody is slowed down by it', async () => {
    const { engine, id } = await started();
    const waiting = async () =>
      (await must(showNotificationConfiguration(engine, owner, { configurationId: id }))).health.backlog;
    await must(pauseNotificationConfiguration(engine, owner, { configurationId: id }));
    for (let n = 0; n < 100; n += 1) expect((await publish(engine, { runId: `run-${n}` })).backlog).toBe(0);
    expect(await waiting()).toBe(100);
    await engine.clock.advance(second);
    expect(await waiting()).toBe(100);
    for (let n = 0; n < 3; n += 1) await publish(engine, { runId: 'run-1' });
    await engine.clock.advance(second);
    expect(await waiting()).toBe(103);
    await must(resumeNotificationConfiguration(engine, owner, { configurationId: id }));
    await engine.clock.advance(minute);
    expect(await waiting()).toBe(0);

    engine.delivery.answer({ status: 500 });
    await publish(engine);
    await engine.clock.advance(hour);
    const { health } = await must(showNotificationConfiguration(engine, owner, { configurationId: id }));
    expect(health.breaker).not.toBe('closed');
    expect(health.backlog).toBe(0);
    for (let n = 0; n < 5; n += 1) await publish(engine, { runId: `later-${n}` });
    expect(await waiting()).toBe(5);
    await must(updateNotificationConfiguration(engine, owner, { configurationId: id, attributes: { enabled: false } }));
    expect(await waiting()).toBe(0);
    await engine.stop();
  });

  test('are not slowed down by a destination that is down', async () => {
    const { engine } = await started({ notifications: { pressure: { from: 1, span: 1, maximumWait: 60_000 } } });
    engine.delivery.answer({ status: 500 });
    await publish(engine);
    await engine.clock.advance(minute);
    for (let n = 0; n < 200; n += 1) expect((await publish(engine, { runId: `run-${n}` })).backlog).toBe(0);
    await engine.stop();
  });
});

describe('disabling and deleting', () => {
  test.each(['disable', 'delete'] as const)('%s cancels what is pending, at once for who looks', async (how) => {
    const { engine, id } = await started({}, { destinationType: 'chat-a' });
    const { deliveryIds } = await publish(engine);
    const others = await Promise.all(Array.from({ length: 20 }, (_none, n) => publish(engine, { runId: `run-${n}` })));
    await engine.clock.advance(1500);
    if (how === 'disable') await update(engine, id, { enabled: false });
    else await must(deleteNotificationConfiguration(engine, owner, { configurationId: id }));
    const last = others.at(-1)?.deliveryIds[0] ?? '';
    expect(await must(showDelivery(engine, owner, { deliveryId: last }))).toMatchObject({
      outcome: 'cancelled',
      reason: `configuration_${how}d`,
    });
    await engine.clock.advance(second);
    expect((await must(showDelivery(engine, owner, { deliveryId: last }))).outcome).toBe('cancelled');
    expect((await must(showDelivery(engine, owner, { deliveryId: deliveryIds[0] ?? '' }))).outcome).toBe('delivered');
    await engine.stop();
  });

  test('enabled again at once, nothing old is sent', async () => {
    const { engine, id } = await started({}, { destinationType: 'chat-a' });
    for (let n = 0; n < 10; n += 1) await publish(engine, { runId: `old-${n}` });
    await engine.clock.settle();
    await update(engine, id, { enabled: false });
    await update(engine, id, { enabled: true });
    engine.delivery.clear();
    await publish(engine, { runId: 'new' });
    await engine.clock.advance(hour);
    expect(engine.delivery.requests).toHaveLength(1);
    expect((await log(engine, id, { outcome: 'cancelled' })).length).toBe(9);
    expect(await log(engine, id, { outcome: 'pending' })).toEqual([]);
    await engine.stop();
  });

  test('without an engine, too', async () => {
    const engine = await testEngine();
    const { id } = await must(create(engine));
    await publish(engine);
    await update(engine, id, { enabled: false });
    expect((await log(engine, id)).map(({ outcome }) => outcome)).toEqual(['cancelled']);
    await update(engine, id, { enabled: true });
    engine.delivery.clear();
    engine.start();
    await engine.clock.advance(hour);
    expect(engine.delivery.requests).toHaveLength(0);
    expect((await log(engine, id)).map(({ outcome }) => outcome)).toEqual(['cancelled']);
    await engine.stop();
  });
});

describe('which message it is', () => {
  test('every request says it, and repetitions say the same', async () => {
    for (const destinationType of ['generic', 'chat-a', 'chat-b']) {
      const { engine } = await started({}, { destinationType, token: null });
      const identity = () =>
        engine.delivery.requests.map(({ headers }) => [
          headers['x-svc-notification-id'],
          headers['x-svc-notification-timestamp'],
        ]);
      engine.delivery.answer((_request, n) => ({ status: n === 2 ? 500 : 204 }));
      const at = new Date(engine.clock.now()).toISOString();
      const first = await publish(engine, { runId: 'same' });
      await engine.clock.advance(minute);
      const second_ = await publish(engine, { runId: 'same' });
      await engine.clock.advance(minute);
      expect(identity()).toEqual([
        [first.eventId, at],
        [first.eventId, at],
        [second_.eventId, new Date(engine.clock.now() - minute).toISOString()],
      ]);
      await engine.stop();
    }
  });
});

describe('e-mail', () => {
  const email = { destinationType: 'email', users: ['user-1', 'user-2'] };
  test('one of two is refused: partly delivered, with who and why', async () => {
    const { engine, id } = await started({}, email, {
      mail: {
        fail: ({ to }: { to: string }) =>
          to.startsWith('user-2') ? { type: 'mail_rejected', message: 'no such box' } : null,
      },
    });
    await publish(engine);
    await engine.clock.advance(minute);
    const [delivery] = await log(engine, id, { outcome: 'partly_delivered' });
    const shown = await must(showDelivery(engine, owner, { deliveryId: delivery?.id ?? '' }));
    expect(shown.recipients).toMatchObject([
      { userId: 'user-1', outcome: 'accepted', message: null },
      { userId: 'user-2', outcome: 'refused', message: 'no such box' },
    ]);
    expect(shown.attemptCount).toBe(1);
    await engine.stop();
  });

  describe('one of two is put off until the end: partly delivered, with who and why', () => {
    async function putOff(settings: SettingsOverrides = {}) {
      const boxes = new Set(['user-1']);
      const { engine, id } = await started(settings, email, {
        mail: {
          fail: ({ to }: { to: string }) =>
            boxes.has(to.split('@')[0] ?? '') ? null : { type: 'mail_unavailable', message: '452 mailbox full' },
        },
      });
      await publish(engine);
      return { engine, id, boxes };
    }

    test.each([
      ['of the schedule', {}],
      ['of its time', { notifications: { delivery: { maximumAge: 10 * minute } } }],
    ])('%s', async (_, settings) => {
      const { engine, id } = await putOff(settings);
      await engine.clock.advance(30 * hour);
      const [delivery] = await log(engine, id);
      const shown = await must(showDelivery(engine, owner, { deliveryId: delivery?.id ?? '' }));
      expect(shown.outcome).toBe('partly_delivered');
      expect(shown.recipients).toMatchObject([
        { userId: 'user-1', outcome: 'accepted', message: null },
        { userId: 'user-2', outcome: 'waiting', message: '452 mailbox full' },
      ]);
      await engine.stop();
    });

    test('while it is paused', async () => {
      const { engine, id } = await putOff();
      await engine.clock.advance(second);
      await must(pauseNotificationConfiguration(engine, owner, { configurationId: id }));
      await engine.clock.advance(30 * hour);
      expect(await log(engine, id)).toMatchObject([{ outcome: 'partly_delivered' }]);
      await engine.stop();
    });

    test('a redelivery reaches those who are left', async () => {
      const { engine, id, boxes } = await putOff();
      await engine.clock.advance(30 * hour);
      const [delivery] = await log(engine, id, { outcome: 'partly_delivered' });
      boxes.add('user-2');
      await must(redeliver(engine, owner, { deliveryId: delivery?.id ?? '' }));
      await engine.clock.advance(second);
      expect(await log(engine, id)).toMatchObject([{ outcome: 'delivered' }]);
      expect(engine.mailer.messages.map(({ to }) => to)).toEqual(['user-1@example.org', 'user-2@example.org']);
      await engine.stop();
    });

    test('a recovery of what was delivered partly does, too', async () => {
      const { engine, id, boxes } = await putOff();
      await engine.clock.advance(30 * hour);
      boxes.add('user-2');
      const request = { configurationId: id, since: 0, outcome: 'partly_delivered' } as const;
      expect((await must(recoverDeliveries(engine, owner, request))).count).toBe(1);
      await engine.clock.advance(second);
      expect(await log(engine, id)).toMatchObject([{ outcome: 'delivered' }]);
      await engine.stop();
    });

    test('also when it was dead, and a redelivery reached the first of them', async () => {
      const { engine, id, boxes } = await putOff();
      boxes.clear();
      await engine.clock.advance(30 * hour);
      const [delivery] = await log(engine, id, { outcome: 'dead' });
      boxes.add('user-2');
      await must(redeliver(engine, owner, { deliveryId: delivery?.id ?? '' }));
      await engine.clock.advance(second);
      expect(await log(engine, id)).toMatchObject([{ outcome: 'partly_delivered' }]);
      await engine.stop();
    });
  });

  test('without a mailer it cannot be enabled, with the upstream names it can', async () => {
    const engine = { ...(await testEngine()), mailer: undefined };
    const refused = await mustFail(create(engine, email));
    expect(refused).toMatchObject({ type: 'invalid_attributes', faults: [{ pointer: '/data/attributes/enabled' }] });
    const { id } = await must(create(engine, { ...email, enabled: false }));
    const enabling = await mustFail(enableNotificationConfiguration(engine, owner, { configurationId: id }));
    expect(enabling.type).toBe('invalid_attributes');
    const upstream = { ...(await testEngine({ notifications: { names: 'upstream' } })), mailer: undefined };
    expect((await must(create(upstream, email))).enabled).toBe(true);
  });

  test('a verification with nobody to tell is refused', async () => {
    const engine = await testEngine();
    const { id } = await must(create(engine, { ...email, users: [] }));
    const refused = await mustFail(verifyNotificationConfiguration(engine, owner, { configurationId: id }));
    expect(refused).toMatchObject({ type: 'verification_failed' });
  });

  test.each([
    ['hangs is asked for three recipients in an attempt, not for all', 15 * second, 3],
    ['defers at once is asked for all of them', 0, 8],
  ])('a mail server that %s', async (_, hangs, asked) => {
    const tried: string[] = [];
    let sleep = async (): Promise<void> => undefined;
    const send: Mailer['send'] = ({ to }) => {
      tried.push(to);
      const failed = { type: 'mail_unavailable', message: 'no answer' } as const;
      return ResultAsync.fromSafePromise(sleep()).andThen(() => errAsync(failed));
    };
    const engine = await testEngine({}, { ports: { mailer: { send, close: async () => undefined } } });
    sleep = () => engine.clock.sleep(hangs, new AbortController().signal);
    const users = Array.from({ length: 8 }, (_none, n) => `many-${n}`);
    for (const id of users) {
      await must(
        putUser(engine, hostPrincipal, { id, username: id, email: `${id}@example.org`, organization: 'acme' }),
      );
    }
    const { id } = await must(create(engine, { ...email, users }));
    engine.start();
    await publish(engine);
    await engine.clock.advance(46 * second);
    const [delivery] = await log(engine, id);
    const shown = await must(showDelivery(engine, owner, { deliveryId: delivery?.id ?? '' }));
    expect(shown.recipients.map(({ userId, outcome }) => [userId, outcome])).toEqual(
      users.map((user) => [user, 'waiting']),
    );
    expect(tried.length / shown.attemptCount).toBe(asked);
    await engine.stop();
  });

  test('a stop between the mails of a delivery records who has had theirs: they get it once', async () => {
    const sent: string[] = [];
    let stop = async (): Promise<void> => undefined;
    const send: Mailer['send'] = ({ to }) => {
      sent.push(to);
      void stop();
      return okAsync({ messageId: '<m@example.org>' });
    };
    const storage = memoryStorage();
    const ports = { storage, mailer: { send, close: async () => undefined } };
    const first = await testEngine({}, { ports });
    stop = async () => void (await first.stop());
    const { id } = await must(create(first, email));
    first.start();
    await publish(first);
    await first.clock.advance(second);
    await first.stop();
    expect(sent).toEqual(['user-1@example.org']);
    expect((await log(first, id))[0]).toMatchObject({ outcome: 'pending', lastFailure: 'aborted' });

    stop = async () => undefined;
    const next = await testEngine({}, { ports: { ...ports, clock: first.clock } });
    next.start();
    await first.clock.advance(minute);
    expect(sent).toEqual(['user-1@example.org', 'user-2@example.org']);
    expect((await log(next, id))[0]).toMatchObject({ outcome: 'delivered', attemptCount: 2 });
    await next.stop();
  });

  test('a recipient whose mailbox is full holds up no mail of the others, and the configuration is well', async () => {
    const fail = ({ to }: { to: string }) =>
      to.startsWith('user-2') ? ({ type: 'mail_unavailable', message: '452 mailbox full' } as const) : null;
    const delivery = { autoDisableAfter: hour };
    const { engine, id } = await started({ notifications: { delivery } }, email, { mail: { fail } });
    for (let n = 1; n <= 12; n += 1) {
      await publish(engine, { runId: `run-${n}` });
      await engine.clock.advance(20 * minute);
      expect(engine.mailer.messages).toHaveLength(n);
    }
    const shown = await must(showNotificationConfiguration(engine, owner, { configurationId: id }));
    expect(shown).toMatchObject({ enabled: true, health: { breaker: 'closed', failingSince: null } });
    expect((await log(engine, id, { outcome: 'partly_delivered' }))[0]).toMatchObject({
      lastFailure: 'mail_unavailable',
    });
    await engine.stop();
  });

  test('a verification that one of two refuses names both', async () => {
    const fail = ({ to }: { to: string }) =>
      to.startsWith('user-1') ? ({ type: 'mail_rejected', message: 'no such box' } as const) : null;
    const engine = await testEngine({}, { mail: { fail } });
    const { id } = await must(create(engine, email));
    const refused = await mustFail(verifyNotificationConfiguration(engine, owner, { configurationId: id }));
    expect(refused).toMatchObject({
      type: 'verification_failed',
      message: 'The test mail was refused for user-1: no such box. It was sent to user-2',
    });
    expect(engine.mailer.messages).toHaveLength(1);
  });
});

describe('accepting an event', () => {
  test('that notifies nobody says why', async () => {
    const engine = await testEngine();
    const { id } = await must(create(engine, { enabled: false, triggers: ['run:created'] }));
    const { deliveryIds, explanations } = await publish(engine);
    expect(deliveryIds).toEqual([]);
    expect(explanations).toMatchObject([{ configurationId: id, fires: false, obstacles: ['disabled', 'trigger_off'] }]);
    const quiet = await publish(engine, { speculative: true });
    expect(quiet.explanations[0]?.obstacles).toContain('speculative_run');
  });

  test('with a known key and another event is a conflict', async () => {
    const engine = await testEngine();
    const first = await publish(engine, {}, 'key');
    const send = (overrides: object) =>
      sendNotificationEvent(engine, owner, { workspaceId, event: runEvent(overrides), idempotencyKey: 'key' });
    expect(await must(send({}))).toMatchObject({ eventId: first.eventId, repeated: true });
    expect(await must(send({ runMessage: null }))).toMatchObject({ eventId: first.eventId, repeated: true });
    expect((await mustFail(send({ runId: 'another' }))).type).toBe('conflict');
  });
});

test('setting the clock neither stalls retries nor ends anything', async () => {
  for (const step of [-hour, hour, -365 * day, 365 * day]) {
    const { engine, id } = await started();
    engine.delivery.answer((_request, n) => ({ status: n < 4 ? 500 : 204 }));
    await publish(engine);
    await engine.clock.settle();
    await engine.clock.step(step);
    await engine.clock.advance(36 * second);
    expect(engine.delivery.requests, `a step of ${step}`).toHaveLength(3);
    expect(await log(engine, id)).toMatchObject([{ outcome: 'delivered', attemptCount: 3 }]);
    await engine.stop();
  }
});

describe('after the clock was set', () => {
  const steps = [-365 * day, -30 * hour, -hour, hour, 365 * day];

  test.each(steps)('a delivery has its whole schedule: by %d ms', async (step) => {
    const { engine, id } = await started();
    await engine.clock.step(step);
    engine.delivery.answer({ status: 500 });
    const { deliveryIds } = await publish(engine);
    await engine.clock.advance(day);
    expect(await log(engine, id)).toMatchObject([{ id: deliveryIds[0], outcome: 'dead', attemptCount: 11 }]);
    await engine.stop();
  });

  test.each(steps)('the log tells when deliveries ended, and those are found by it: by %d ms', async (step) => {
    const { engine, id } = await started();
    await engine.clock.step(step);
    engine.delivery.answer({ status: 410 });
    const since = engine.clock.now();
    await publish(engine);
    await engine.clock.advance(second);
    const [dead] = await log(engine, id);
    expect(Date.parse(dead?.settledAt ?? '')).toBeGreaterThanOrEqual(since);
    expect(Date.parse(dead?.settledAt ?? '')).toBeLessThanOrEqual(engine.clock.now());
    engine.delivery.answer({ status: 204 });
    expect(await must(recoverDeliveries(engine, owner, { configurationId: id, since }))).toMatchObject({ count: 1 });
    await engine.clock.advance(second);
    expect((await log(engine, id)).map(({ outcome }) => outcome)).toEqual(['delivered']);
    await engine.stop();
  });

  test.each(steps)('what waited behind an erased message is sent at once: by %d ms', async (step) => {
    const { engine, id } = await started();
    await engine.clock.step(step);
    engine.delivery.answer({ status: 503 });
    const { eventId } = await publish(engine);
    await publish(engine, { trigger: 'run:completed' });
    await engine.clock.advance(second);
    engine.delivery.answer({ status: 204 });
    await must(eraseNotificationEvent(engine, owner, { eventId }));
    await engine.clock.advance(second);
    expect((await log(engine, id)).map(({ outcome }) => outcome)).toEqual(['delivered', 'cancelled']);
    await engine.stop();
  });

  test.each(steps)('one that was sent by hand in vain is due as before: by %d ms', async (step) => {
    const { engine, id } = await started();
    await engine.clock.step(step);
    await must(pauseNotificationConfiguration(engine, owner, { configurationId: id }));
    const { deliveryIds } = await publish(engine);
    engine.delivery.answer({ status: 500 });
    await must(redeliver(engine, owner, { deliveryId: deliveryIds[0] ?? '' }));
    await engine.clock.advance(second);
    const [waiting] = await log(engine, id);
    expect(waiting).toMatchObject({ outcome: 'pending', attemptCount: 1, nextAttemptAt: waiting?.createdAt });
    engine.delivery.answer({ status: 204 });
    await must(resumeNotificationConfiguration(engine, owner, { configurationId: id }));
    await engine.clock.advance(second);
    expect(await log(engine, id)).toMatchObject([{ outcome: 'delivered', attemptCount: 2 }]);
    await engine.stop();
  });

  test.each(steps)('the lag of attempts is what they waited: by %d ms', async (step) => {
    const lags: number[] = [];
    const record = (name: string, value: number): void => {
      if (name === 'signalbox.notification.attempt.lag') lags.push(value);
    };
    const observer = { count: () => undefined, gauge: () => undefined, record };
    const { engine } = await started({}, {}, { ports: { observer } });
    await engine.clock.step(step);
    engine.delivery.answer((_request, n) => ({ status: n === 2 ? 500 : 204 }));
    await publish(engine);
    await engine.clock.advance(minute);
    expect(lags.map((lag) => Math.round(lag))).toEqual([0, 0]);
    await engine.stop();
  });
});

describe('what is stored of answers and secrets', () => {
  const cookies = { 'set-cookie': ['a=1'], date: ['now'] };
  test.each([
    [{}, ['[redacted]']],
    [{ redactedHeaders: [] }, ['a=1']],
  ])('with the settings %o', async (notifications, expected) => {
    const { engine } = await started({ notifications });
    engine.delivery.answer({ status: 500, headers: cookies });
    const { deliveryIds } = await publish(engine);
    await engine.clock.advance(second);
    const shown = await must(showDelivery(engine, owner, { deliveryId: deliveryIds[0] ?? '' }));
    expect(shown.attempts[0]?.headers).toMatchObject({ 'set-cookie': expected, date: ['now'] });
    await engine.stop();
  });
});
