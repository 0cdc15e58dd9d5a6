import fc from 'fast-check';
import { expect, test } from 'vitest';
import { configurations } from '../../src/notifications/configurations/configuration.js';
import {
  type Delivery,
  deliveries,
  deliveryIdOf,
  isInOrder,
  isUnfinished,
} from '../../src/notifications/delivery/delivery.js';
import { keyOfDelivery } from '../../src/notifications/delivery/transition-delivery.js';
import { events, type StoredEvent } from '../../src/notifications/events/event.js';
import { queues } from '../../src/notifications/queue/queue-record.js';
import { createNotificationConfiguration } from '../../src/operations/notifications/configurations/create-notification-configuration.js';
import { deleteNotificationConfiguration } from '../../src/operations/notifications/configurations/pause-and-delete-configuration.js';
import {
  enableNotificationConfiguration,
  updateNotificationConfiguration,
} from '../../src/operations/notifications/configurations/update-notification-configuration.js';
import { verifyNotificationConfiguration } from '../../src/operations/notifications/configurations/verify-notification-configuration.js';
import { bodyOf } from '../../src/operations/notifications/delivery/attempt-delivery.js';
import { sendNotificationEvent } from '../../src/operations/notifications/events/send-notification-event.js';
import { recoverDeliveries, redeliver } from '../../src/operations/notifications/log/redeliver.js';

import type { ReadView } from '../../src/ports/storage.js';
import { day, hour, minute, second } from '../../src/shared/duration.js';
import {
  must,
  owner,
  runEvent,
  type TestEngine,
  testEngine,
  workspaceId,
} from '../operations/notifications/engine-setup.js';

/*
 * Any sequence of operations and of answers, under virtual time. Each step is one of the operations, an event, a while of
 * waiting, or another behaviour of the destinations from now on.
 */

type Step =
  | { readonly do: 'create'; readonly enabled: boolean; readonly host: number; readonly triggers: readonly string[] }
  | { readonly do: 'update'; readonly which: number; readonly enabled?: boolean; readonly host?: number }
  | { readonly do: 'enable' | 'verify' | 'delete' | 'redeliver' | 'recover'; readonly which: number }
  | {
      readonly do: 'publish';
      readonly run: number;
      readonly trigger: 'run:created' | 'run:errored';
      readonly key: number | null;
    }
  | { readonly do: 'wait'; readonly time: number }
  | { readonly do: 'answer'; readonly host: number; readonly answer: Answer }
  | { readonly do: 'restart' };

type Answer = 200 | 204 | 302 | 404 | 410 | 429 | 500 | 'hang' | 'reset' | 'slow';

const which = fc.nat(9);
const host = fc.nat(2);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('create' as const),
      enabled: fc.boolean(),
      host,
      triggers: fc.subarray(['run:created', 'run:errored']),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record(
      { do: fc.constant('update' as const), which, enabled: fc.boolean(), host },
      { requiredKeys: ['do', 'which'] },
    ),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'enable' as const,
        'verify' as const,
        'delete' as const,
        'redeliver' as const,
        'recover' as const,
      ),
      which,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('publish' as const),
      run: fc.nat(3),
      trigger: fc.constantFrom('run:created' as const, 'run:errored' as const),
      key: fc.option(fc.nat(3)),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      time: fc.constantFrom(0, 1, second, 7 * second, minute, hour),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('answer' as const),
      host,
      answer: fc.constantFrom<Answer>(200, 204, 302, 404, 410, 429, 500, 'hang', 'reset', 'slow'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
);

const waits = [2 * second, 10 * second, 5 * minute];
const maximumPerWorkspace = 4;
const settings = {
  notifications: {
    maximumPerWorkspace,
    delivery: { retry: { generic: waits }, breaker: { failures: 3, pause: 5 * second } },
  },
};

test('whatever is done and answered, the promises of the delivery hold', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const answers: Answer[] = [204, 204, 204];
      const verified = new Set<string>();
      const sent = new Map<string, number>();
      const engine = await testEngine(settings, {
        answer: (request) => {
          const answer = answers[Number(new URL(request.url).hostname.slice(1, 2))] ?? 204;
          const body = JSON.parse(request.body);
          const isVerification = body.notifications[0].trigger === 'verification';
          if (!isVerification) sent.set(request.body, (sent.get(request.body) ?? 0) + 1);
          else if (answer === 200 || answer === 204 || answer === 'slow')
            verified.add(`${body.notification_configuration_id} ${request.url}`);
          return scripted(answer);
        },
      });
      engine.start();
      for (const first of [0, 1]) {
        await perform(
          engine,
          { do: 'create', enabled: true, host: first, triggers: ['run:created', 'run:errored'] },
          answers,
        );
      }
      for (const each of steps) await perform(engine, each, answers);
      await assertInvariants(engine, verified);
      // Everything comes to rest once the destinations answer, however long they did not.
      answers.fill(204);
      await engine.clock.advance(2 * day);
      await assertInvariants(engine, verified);
      const rest = await must(
        engine.storage.read((view) => ({
          unfinished: view.list(deliveries, { index: 'unfinished' }).length,
          queues: view.list(queues).map((row) => row.record),
          missing: missingIn(view),
          held: view.list(deliveries, { index: 'held' }).length,
        })),
      );
      expect(rest).toMatchObject({ unfinished: 0, missing: 0, held: 0 });
      for (const queue of rest.queues) expect(queue).toMatchObject({ wakeAt: null, cancellation: null });
      // The log holds every request that was made, and nothing that was not.
      const logged = await must(
        engine.storage.read((view) =>
          view.list(deliveries).map(({ record }) => ({
            body: bodyOf(engine, record, view.get(events, [record.sequence])?.record ?? null).unwrapOr(null) ?? '',
            attempts: record.attempts.length,
          })),
        ),
      );
      for (const { body, attempts } of logged) expect(sent.get(body) ?? 0).toBe(attempts);
      expect(await engine.stop()).toBe(true);
    }),
    { numRuns: Number(process.env.SIGNALBOX_PROPERTY_RUNS ?? 60) },
  );
}, 120_000);

/** Events and configurations without a delivery. */
function missingIn(view: ReadView): number {
  return view
    .list(events)
    .flatMap(({ record }) =>
      record.notified.filter((_each, position) => view.get(deliveries, keyOfDelivery(record, position)) === undefined),
    ).length;
}

function scripted(answer: Answer) {
  if (answer === 'hang') return { hang: true } as const;
  if (answer === 'reset') return { error: 'connection_reset' as const };
  if (answer === 'slow') return { status: 204, after: 3 * second };
  return { status: answer };
}

/** Makes every body different, so that requests can be told apart. */
let published = 0;

async function perform(engine: TestEngine, each: Step, answers: Answer[]): Promise<void> {
  const ids = await must(engine.storage.read((view) => view.list(configurations).map((row) => row.record.id)));
  const configurationId = 'which' in each ? (ids[each.which % Math.max(1, ids.length)] ?? 'none') : 'none';
  const url = 'host' in each && each.host !== undefined ? `https://h${each.host}.example/` : undefined;
  // Operations that ask a destination end with virtual time.
  const settled = async <T>(work: PromiseLike<T>): Promise<T> => {
    let done = false;
    const result = Promise.resolve(work).finally(() => {
      done = true;
    });
    await engine.clock.advanceUntil(() => done, minute);
    return result;
  };
  switch (each.do) {
    case 'create': {
      const { enabled, triggers } = each;
      const attributes = { destinationType: 'generic', name: 'n', url, enabled, triggers };
      await settled(createNotificationConfiguration(engine, owner, { workspaceId, attributes }));
      return;
    }
    case 'update': {
      const attributes = {
        ...(each.enabled === undefined ? {} : { enabled: each.enabled }),
        ...(url === undefined ? {} : { url }),
      };
      await settled(updateNotificationConfiguration(engine, owner, { configurationId, attributes }));
      return;
    }
    case 'enable':
      await settled(enableNotificationConfiguration(engine, owner, { configurationId }));
      return;
    case 'verify':
      await settled(verifyNotificationConfiguration(engine, owner, { configurationId }));
      return;
    case 'delete':
      await deleteNotificationConfiguration(engine, owner, { configurationId });
      return;
    case 'redeliver': {
      const all = await must(engine.storage.read((view) => view.list(events).flatMap((row) => idsOf(row.record))));
      await redeliver(engine, owner, { deliveryId: all[each.which % Math.max(1, all.length)] ?? 'none' });
      return;
    }
    case 'recover':
      await recoverDeliveries(engine, owner, { configurationId, since: 0 });
      return;
    case 'publish': {
      published += 1;
      const event = runEvent({ runId: `run-${each.run}`, trigger: each.trigger, message: `event ${published}` });
      const idempotencyKey = each.key === null ? {} : { idempotencyKey: `k${each.key}` };
      const sent = await sendNotificationEvent(engine, owner, { workspaceId, event, ...idempotencyKey });
      // A key that was used for another event is refused, which changes nothing.
      expect(sent.isOk() || sent.error.type === 'conflict').toBe(true);
      return;
    }
    case 'wait':
      await engine.clock.advance(each.time);
      return;
    case 'answer':
      answers[each.host] = each.answer;
      return;
    case 'restart': {
      await settled(engine.stop());
      engine.start();
      return;
    }
  }
}

async function assertInvariants(engine: TestEngine, verified: ReadonlySet<string>): Promise<void> {
  const found = await must(
    engine.storage.read((view) => ({
      configurations: view.list(configurations).map((row) => row.record),
      events: view.list(events).map((row) => row.record),
      deliveries: view.list(deliveries).map((row) => row.record),
    })),
  );
  expect(found.configurations.length).toBeLessThanOrEqual(maximumPerWorkspace);
  for (const configuration of found.configurations) {
    const url = configuration.url !== null && 'plain' in configuration.url ? configuration.url.plain : '';
    if (configuration.enabled) expect(verified).toContain(`${configuration.id} ${url}`);
  }
  // One delivery for each pair of event and configuration that was notified, named by the event.
  const pairs = found.deliveries.map((delivery) => `${delivery.eventId} ${delivery.configurationId}`);
  expect(new Set(pairs).size).toBe(pairs.length);
  const named = new Set(found.events.flatMap(idsOf));
  for (const { id } of found.deliveries) expect(named).toContain(id);
  for (const delivery of found.deliveries) assertLog(delivery);
  assertRuns(found.deliveries);
}

function idsOf({ id, notified }: StoredEvent): string[] {
  return notified.map((_configuration, position) => deliveryIdOf(id, position));
}

/** Of the unfinished deliveries of a run in the store, exactly the first is not behind another one. */
function assertRuns(all: readonly Delivery[]): void {
  const runs = new Map<string, Delivery[]>();
  for (const delivery of all) {
    if (delivery.orderKey === null || !isUnfinished(delivery.state) || !isInOrder(delivery.state)) continue;
    const key = `${delivery.configurationId} ${delivery.orderKey}`;
    runs.set(key, [...(runs.get(key) ?? []), delivery]);
  }
  for (const run of runs.values()) {
    const sorted = run.sort((a, b) => a.sequence - b.sequence);
    expect(sorted[0]?.state.type).not.toBe('behind');
  }
}

function assertLog(delivery: Delivery): void {
  const { attempts, state } = delivery;
  expect(attempts.map((attempt) => attempt.number)).toEqual(attempts.map((_attempt, index) => index + 1));
  const scheduled = attempts.filter((attempt) => !attempt.manual);
  expect(scheduled.length).toBeLessThanOrEqual(waits.length + 1);
  // Never earlier than the schedule says; jitter is off with these ids.
  for (let n = 1; n < scheduled.length; n++) {
    const before = scheduled[n - 1];
    const ended = (before?.startedAt ?? 0) + (before?.total ?? 0);
    expect((scheduled[n]?.startedAt ?? 0) - ended).toBeGreaterThanOrEqual((waits[n - 1] ?? 0) - 1);
  }
  // Delivered exactly when an attempt delivered, and never attempted by schedule after it.
  const successes = attempts.filter((attempt) => attempt.failure === null);
  const settled = state.type === 'manual' ? state.before : state;
  expect(settled.type === 'delivered').toBe(successes.length > 0);
  const firstSuccess = attempts.findIndex((attempt) => attempt.failure === null);
  if (firstSuccess >= 0) expect(attempts.slice(firstSuccess + 1).every((attempt) => attempt.manual)).toBe(true);
  if (settled.type === 'dead' && settled.reason === 'permanent') expect(scheduled.at(-1)?.status).toBe(410);
  if (settled.type === 'dead' && settled.reason === 'exhausted') expect(scheduled).toHaveLength(waits.length + 1);
}
