import { afterFailure, afterSuccess, type Breaker } from '../../notifications/circuit-breaker.js';
import type { Failure } from '../../notifications/classify-failure.js';
import { configurations } from '../../notifications/configuration.js';
import { type Attempt, bodyKeyOf, type Delivery, deliveryBodies } from '../../notifications/delivery.js';
import type { DestinationKind } from '../../notifications/destination.js';
import { events } from '../../notifications/event.js';
import { nextAttemptAt, waitsFor } from '../../notifications/retry-schedule.js';
import { fullBucket, type TokenBucket, takeToken } from '../../notifications/token-bucket.js';
import { type DeliveryEvent, transitionDelivery } from '../../notifications/transition-delivery.js';
import { users } from '../../notifications/user.js';
import { workspaces } from '../../notifications/workspace.js';
import type { ReadView } from '../../ports/storage.js';
import type { Settings } from '../../settings.js';
import type { Instant } from '../../shared/instant.js';
import type { EngineContext } from '../shared/context.js';
import { type AttemptReport, attemptDelivery, type Content } from './attempt-delivery.js';
import { withAttempt } from './delivery-turn.js';
import { type HeldLane, nextToStart, settleOrder } from './held-lane.js';
import { loadDestination, originKey } from './load-destination.js';

/** Attempts under way and the limits that they share. */
export interface Traffic {
  inFlight: number;
  readonly perOrigin: Map<string, number>;
  readonly buckets: Map<string, TokenBucket>;
  /** When a destination's rate lets the next attempt through; null when none waits for its rate. */
  rateOpensAt: Instant | null;
}

export interface Chosen {
  readonly lane: HeldLane;
  readonly row: Delivery;
  readonly origin: string;
}

/**
 * Chooses what to start now. Every destination may have one attempt under way however busy the others are (up to four
 * times the overall concurrency); only further ones share the overall limit. So hanging destinations cannot use up what
 * a good one needs.
 */
export function chooseAttempts(
  settings: Settings,
  traffic: Traffic,
  lanes: Iterable<HeldLane>,
  now: Instant,
): Chosen[] {
  const chosen: Chosen[] = [];
  traffic.rateOpensAt = null;
  for (const lane of lanes) {
    for (let row = nextToStart(lane, now); row !== undefined; row = nextToStart(lane, now)) {
      const origin = originKey(lane.destination);
      if (!hasRoom(settings, traffic, origin) || !hasRate(settings, traffic, origin, row.kind, now)) break;
      lane.ready.shift();
      lane.inFlight += 1;
      if (row.orderKey !== null && row.state.type !== 'manual') lane.busy.add(row.orderKey);
      traffic.inFlight += 1;
      traffic.perOrigin.set(origin, (traffic.perOrigin.get(origin) ?? 0) + 1);
      chosen.push({ lane, row, origin });
    }
  }
  return chosen;
}

function hasRoom(settings: Settings, traffic: Traffic, origin: string): boolean {
  const { concurrency, concurrencyPerDestination } = settings.notifications.delivery;
  // Nothing is sent from a lane without a destination.
  if (origin === '') return true;
  const here = traffic.perOrigin.get(origin) ?? 0;
  if (here === 0) return traffic.inFlight < concurrency * 4;
  return here < concurrencyPerDestination && traffic.inFlight < concurrency;
}

function hasRate(settings: Settings, traffic: Traffic, origin: string, kind: DestinationKind, now: Instant): boolean {
  const rate = rateOf(settings, kind);
  if (rate <= 0) return true;
  const bucket = traffic.buckets.get(origin) ?? fullBucket(rate, now);
  const { taken, readyAt, bucket: left } = takeToken(bucket, rate, now);
  traffic.buckets.set(origin, left);
  if (!taken) traffic.rateOpensAt = Math.min(traffic.rateOpensAt ?? readyAt, readyAt);
  return taken;
}

function rateOf(settings: Settings, kind: DestinationKind): number {
  const { rate } = settings.notifications.delivery;
  switch (kind) {
    case 'generic':
      return rate.generic;
    case 'chat-a':
      return rate.chatA;
    case 'chat-b':
      return rate.chatB;
    case 'email':
      return rate.email;
  }
}

/** Forgets origins whose bucket is full again, so that the map stays as small as the traffic. */
export function pruneBuckets(traffic: Traffic, now: Instant): void {
  if (traffic.buckets.size < 1000) return;
  for (const [origin, bucket] of traffic.buckets) if (bucket.at < now - 60_000) traffic.buckets.delete(origin);
}

/**
 * Reads what the chosen attempts send, and the destinations again when anything that they are made of has changed since.
 * Runs right before the attempts start, so that a disabled, deleted or changed configuration is respected.
 */
export function readContents(
  context: EngineContext,
  view: ReadView,
  chosen: readonly Chosen[],
  now: Instant,
): ReadonlyMap<Delivery, Content> {
  const changedAt = Math.max(view.tableIndex(configurations), view.tableIndex(workspaces), view.tableIndex(users));
  const contents = new Map<Delivery, Content>();
  const withBody = new Map<HeldLane, Delivery[]>();
  for (const { lane, row } of chosen) {
    if (lane.loadedAt < changedAt) {
      lane.destination = loadDestination(context, view, lane.configurationId, now);
      lane.loadedAt = view.index;
    }
    if (lane.destination.type === 'email') contents.set(row, { event: view.get(events, [row.eventId])?.record });
    if (lane.destination.type !== 'http') continue;
    const rows = withBody.get(lane);
    if (rows === undefined) withBody.set(lane, [row]);
    else rows.push(row);
  }
  for (const rows of withBody.values()) readBodies(view, rows, contents);
  return contents;
}

/** The bodies of a lane's deliveries mostly stand in one piece: one list instead of many reads, and reads for the rest. */
function readBodies(view: ReadView, rows: readonly Delivery[], contents: Map<Delivery, Content>): void {
  const piece = new Map<number, string>();
  const [first] = rows;
  if (first !== undefined && rows.length > 1) {
    const range = { from: bodyKeyOf(first), to: [first.configurationId, ''], limit: rows.length };
    for (const { record } of view.list(deliveryBodies, range)) piece.set(record.sequence, record.body);
  }
  for (const row of rows) {
    const body = piece.get(row.sequence) ?? view.get(deliveryBodies, bodyKeyOf(row))?.record.body;
    contents.set(row, { body });
  }
}

/** Makes the chosen attempt, or cancels the delivery when its destination is closed. `done` is called in every case. */
export function startAttempt(
  context: EngineContext,
  traffic: Traffic,
  chosen: Chosen,
  content: Content,
  done: () => void,
): void {
  const { lane, row } = chosen;
  const { destination } = lane;
  const cancelled =
    destination.type === 'closed'
      ? destination.reason
      : destination.type === 'email' && destination.recipients.length === 0
        ? 'no_recipients'
        : null;
  if (destination.type === 'closed' || cancelled !== null) {
    release(traffic, chosen);
    const reason = cancelled ?? 'configuration_deleted';
    acknowledge(lane, row, { type: 'cancelled', at: context.clock.now(), reason }, null, row.doneUsers);
    done();
    return;
  }
  attemptDelivery(context, row, destination, content).then(
    (report) => {
      release(traffic, chosen);
      finishAttempt(context, lane, row, report);
      done();
    },
    () => {
      // The transport broke its promise never to reject. The delivery is not to blame and keeps its place.
      release(traffic, chosen);
      const message = 'The transport failed unexpectedly';
      context.logger.error({ delivery: row.id }, message);
      const failure: Failure = { class: 'connect_failed', permanent: false, message };
      finishAttempt(context, lane, row, brokenReport(row, failure, context.clock.now()));
      done();
    },
  );
}

function release(traffic: Traffic, { lane, origin }: Chosen): void {
  lane.inFlight -= 1;
  traffic.inFlight -= 1;
  const left = (traffic.perOrigin.get(origin) ?? 1) - 1;
  if (left > 0) traffic.perOrigin.set(origin, left);
  else traffic.perOrigin.delete(origin);
}

function finishAttempt(context: EngineContext, lane: HeldLane, row: Delivery, report: AttemptReport): void {
  const now = context.clock.now();
  const { failure } = report;
  const manual = row.state.type === 'manual';
  const event: DeliveryEvent =
    failure === null
      ? { type: 'attempt_delivered', at: now }
      : {
          type: 'attempt_failed',
          at: now,
          permanent: failure.permanent,
          nextAt: scheduledNext(context, row, report, now),
        };
  lane.breaker = nextBreaker(context, lane, row, failure, manual, now);
  if (failure === null) lane.failingSince = null;
  else if (!manual) lane.failingSince ??= now;
  const attempt: Attempt = { number: 0, manual, ...report.attempt };
  const after = acknowledge(lane, row, event, attempt, report.doneUsers);
  observeAttempt(context, row, report, after, now);
}

function scheduledNext(context: EngineContext, row: Delivery, report: AttemptReport, now: Instant): Instant | null {
  if (row.state.type !== 'waiting') return null;
  const { retry, jitter, maximumRetryAfter } = context.settings.notifications.delivery;
  const rules = { waits: waitsFor(retry, row.kind), jitter, maximumRetryAfter };
  return nextAttemptAt(rules, row.state.attempted + 1, now, context.ids.fraction(), report.retryAfter);
}

function nextBreaker(
  context: EngineContext,
  lane: HeldLane,
  row: Delivery,
  failure: Failure | null,
  manual: boolean,
  now: Instant,
): Breaker {
  if (failure === null) {
    if (lane.breaker.type === 'open') context.observer.count('notification_breaker_closed', 1, { kind: row.kind });
    return afterSuccess(lane.breaker);
  }
  // A refused address says nothing about the mail server, a failed redelivery nothing that the schedule does not find out.
  if (manual || failure.class === 'mail_rejected') return lane.breaker;
  const next = afterFailure(lane.breaker, context.settings.notifications.delivery.breaker, now);
  if (next.type === 'open' && next !== lane.breaker) {
    context.observer.count('notification_breaker_opened', 1, { kind: row.kind });
  }
  return next;
}

/** Notes what happened, to be stored by the next turn, and settles what it means for the run's later deliveries. */
function acknowledge(
  lane: HeldLane,
  row: Delivery,
  event: DeliveryEvent,
  attempt: Attempt | null,
  doneUsers: readonly string[],
): Delivery {
  const state = transitionDelivery(row.state, event).unwrapOr(row.state);
  const attempts = attempt === null ? row.attempts : withAttempt(row, attempt);
  const after: Delivery = { ...row, state, attempts, doneUsers };
  lane.acknowledgements.push({ before: row, event, attempt, after, hold: holdAfter(lane, row, after) });
  if (row.state.type !== 'manual') settleOrder(lane, row, state.type === 'waiting' ? state.dueAt : null);
  else if (state.type === 'delivered' && row.orderKey !== null) endHold(lane, row);
  return after;
}

function holdAfter(lane: HeldLane, row: Delivery, after: Delivery): { orderKey: string; until: Instant | null } | null {
  const { orderKey } = row;
  if (orderKey === null) return null;
  if (row.state.type === 'manual' && after.state.type !== 'delivered') return null;
  if (after.state.type === 'waiting') return { orderKey, until: after.state.dueAt };
  return lane.holds.get(orderKey)?.deliveryId === row.id ? { orderKey, until: null } : null;
}

function endHold(lane: HeldLane, row: Delivery): void {
  if (row.orderKey !== null && lane.holds.get(row.orderKey)?.deliveryId === row.id) lane.holds.delete(row.orderKey);
}

function observeAttempt(
  context: EngineContext,
  row: Delivery,
  report: AttemptReport,
  after: Delivery,
  now: Instant,
): void {
  const { kind } = row;
  const outcome =
    report.failure === null ? 'delivered' : after.state.type === 'dead' ? ('dead' as const) : ('retrying' as const);
  const errorClass = report.failure?.class ?? null;
  context.observer.count('notification_attempts', 1, { kind, outcome, class: errorClass ?? 'none' });
  context.observer.record('notification_attempt_ms', report.attempt.total, { kind });
  if (row.state.type === 'waiting') {
    context.observer.record('notification_queue_age_ms', Math.max(0, now - report.attempt.total - row.state.dueAt), {
      kind,
    });
  }
}

function brokenReport(row: Delivery, failure: Failure, now: Instant): AttemptReport {
  return {
    attempt: {
      startedAt: Math.trunc(now),
      headersAfter: null,
      total: 0,
      destination: '',
      address: null,
      status: null,
      headers: {},
      body: '',
      truncated: false,
      failure: { class: failure.class, message: failure.message },
    },
    failure,
    retryAfter: null,
    doneUsers: row.doneUsers,
  };
}
