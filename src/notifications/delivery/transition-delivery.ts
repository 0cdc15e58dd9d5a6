import { err, ok, type Result } from 'neverthrow';
import { freed } from '../../queue/process.js';
import type { Milliseconds } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import type { Key } from '../../shared/table.js';
import type { DestinationKind } from '../configurations/destination.js';
import { type NotifiedConfiguration, orderKeyOf, type StoredEvent } from '../events/event.js';
import { renderBody } from '../payloads/render-payload.js';
import { type Failure, isOfDestination } from './classify-failure.js';
import {
  type Attempt,
  acceptedOf,
  type CancelReason,
  type Delivery,
  type DeliveryState,
  deliveryIdOf,
  deliveryKey,
  dueSinceAcceptance,
  isUnfinished,
  type RecipientResult,
  type SettledState,
  withAttempt,
  withoutContents,
} from './delivery.js';

type DeliveryEvent =
  | { readonly type: 'attempt_delivered'; readonly at: Instant; readonly partly: boolean }
  | {
      readonly type: 'attempt_failed';
      readonly at: Instant;
      readonly permanent: boolean;
      /** From the retry schedule; null when it is used up. */
      readonly nextAt: Instant | null;
      /** A failure on the sender's side: the attempt does not count against the schedule. */
      readonly uncounted?: boolean;
      /** Whether the mail was accepted for some recipients. */
      readonly partly?: boolean;
    }
  /** An earlier notification of its run is unfinished. Applies only to a delivery without attempts. */
  | { readonly type: 'put_behind' }
  /** The earlier notifications of its run are finished. */
  | { readonly type: 'released'; readonly at: Instant }
  /** The delivery has reached its maximum age. */
  | { readonly type: 'expired'; readonly at: Instant; readonly partly?: boolean }
  | { readonly type: 'cancelled'; readonly at: Instant; readonly reason: CancelReason }
  /** One attempt outside the schedule. */
  | { readonly type: 'redelivery_requested'; readonly at: Instant };

interface DeliveryTransitionError {
  readonly type: 'invalid_transition';
  readonly state: DeliveryState['type'];
  readonly event: DeliveryEvent['type'];
}

/**
 * The state machine of a delivery: it waits for attempts until one succeeds, the schedule or its maximum age is exhausted, a permanent
 * failure ends it, or its configuration is removed. A redelivery is one more attempt: its failure changes nothing else, unless it was the
 * first to reach some of the recipients.
 */
export function transitionDelivery(
  current: DeliveryState,
  event: DeliveryEvent,
): Result<DeliveryState, DeliveryTransitionError> {
  const impossible = err({ type: 'invalid_transition' as const, state: current.type, event: event.type });
  switch (event.type) {
    case 'attempt_delivered':
      if (!isAttempted(current)) return impossible;
      return ok({ type: event.partly ? 'partly_delivered' : 'delivered', at: event.at });
    case 'attempt_failed':
      if (current.type === 'manual') return ok(afterFailedRedelivery(current, event));
      return current.type === 'waiting' ? ok(afterFailedAttempt(current, event)) : impossible;
    case 'put_behind':
      return current.type === 'waiting' && current.attempted === 0 ? ok({ type: 'behind' }) : impossible;
    case 'released':
      return current.type === 'behind' ? ok({ type: 'waiting', dueAt: event.at, attempted: 0 }) : impossible;
    case 'expired':
      return ended(current, givenUp(event, 'expired')) ?? impossible;
    case 'cancelled':
      return ended(current, { type: 'cancelled', at: event.at, reason: event.reason }) ?? impossible;
    case 'redelivery_requested':
      return current.type === 'manual'
        ? ok(current)
        : ok({ type: 'manual', dueAt: 0, requestedAt: event.at, before: current });
  }
}

/** Ends an unfinished delivery; for a finished one, drops the requested redelivery and restores the state before. */
function ended(current: DeliveryState, end: SettledState): Result<DeliveryState, never> | null {
  if (current.type === 'waiting' || current.type === 'behind') return ok(end);
  if (current.type !== 'manual') return null;
  return ok(current.before.type === 'waiting' || current.before.type === 'behind' ? end : current.before);
}

/** Whether attempts are made in the state. */
function isAttempted({ type }: DeliveryState): boolean {
  return type === 'waiting' || type === 'manual';
}

function afterFailedAttempt(
  { attempted }: Extract<DeliveryState, { type: 'waiting' }>,
  event: Extract<DeliveryEvent, { type: 'attempt_failed' }>,
): DeliveryState {
  const { permanent, nextAt, uncounted } = event;
  if (permanent) return givenUp(event, 'permanent');
  if (nextAt === null) return givenUp(event, 'exhausted');
  return { type: 'waiting', dueAt: nextAt, attempted: attempted + (uncounted === true ? 0 : 1) };
}

function afterFailedRedelivery(
  { before }: Extract<DeliveryState, { type: 'manual' }>,
  { at, partly }: Extract<DeliveryEvent, { type: 'attempt_failed' }>,
): DeliveryState {
  const reachedNobody = before.type === 'dead' || before.type === 'cancelled';
  return reachedNobody && partly === true ? { type: 'partly_delivered', at } : before;
}

/** The state of a delivery after its last attempt failed. */
function givenUp(
  { at, partly }: { readonly at: Instant; readonly partly?: boolean },
  reason: Extract<SettledState, { type: 'dead' }>['reason'],
): SettledState {
  return partly === true ? { type: 'partly_delivered', at } : { type: 'dead', at, reason };
}

/** The initial delivery of an event to the configuration at a position of its list. */
export function freshDelivery(event: StoredEvent, position: number, ordered: boolean): Delivery {
  const configuration = event.notified[position] as NotifiedConfiguration;
  const { id: eventId, sequence, workspaceId, trigger, createdAt, traceparent, sample } = event;
  const fresh: Delivery = {
    number: numberOf(event, position),
    configurationId: configuration.id,
    sequence,
    id: deliveryIdOf(eventId, position),
    eventId,
    workspaceId,
    kind: configuration.kind ?? 'generic',
    trigger,
    orderKey: ordered ? orderKeyOf(event.event) : null,
    createdAt,
    state: { type: 'waiting', dueAt: dueSinceAcceptance, attempted: 0 },
    attempts: [],
  };
  const marked = sample === undefined ? fresh : { ...fresh, sample };
  return traceparent === undefined ? marked : { ...marked, traceparent };
}

/** The key of the delivery at a position of the event's list. */
export function keyOfDelivery(event: StoredEvent, position: number): Key {
  const { id: configurationId = '' } = event.notified[position] ?? {};
  return deliveryKey({ number: numberOf(event, position), configurationId, sequence: event.sequence });
}

function numberOf({ numbered, sequence }: StoredEvent, position: number): number | undefined {
  return numbered === true ? sequence + position : undefined;
}

/** The position of a configuration in the event's list; -1 when the event does not notify it. */
export function positionOf(event: StoredEvent, configurationId: string): number {
  const { notified } = event;
  for (let position = 0; position < notified.length; position += 1) {
    if (notified[position]?.id === configurationId) return position;
  }
  return -1;
}

/** The body of the event's notification to the configuration; null for e-mail. Deterministic. */
export function bodyOfEvent(event: StoredEvent, position: number): string | null {
  const {
    id,
    kind = 'generic',
    name = '',
    trigger = event.trigger,
  } = event.notified[position] as NotifiedConfiguration;
  const { workspaceName, organization, workspaceUrl, publicOrigin, basePath } = event.surroundings;
  const workspace = { id: event.workspaceId, name: workspaceName, organization, url: workspaceUrl };
  return renderBody(
    { id, kind, name, triggers: [trigger] },
    { type: 'event', event: event.event, workspace },
    { publicOrigin, basePath },
    deliveryIdOf(event.id, position),
  );
}

/** The outcome of one attempt. */
export interface AttemptReport {
  readonly attempt: Omit<Attempt, 'number' | 'manual'>;
  /** Null after a success. */
  readonly failure: Failure | null;
  /** The wait requested by the destination. */
  readonly retryAfter: Milliseconds | null;
  /** The sent body; null for e-mail. */
  readonly body: string | null;
  /** E-mail: the result for every recipient, of this and earlier attempts. Null otherwise. */
  readonly recipients: readonly RecipientResult[] | null;
}

export interface AttemptRules {
  readonly retry: RetrySchedules;
  /** Random variation of a wait. */
  readonly jitter: number;
  readonly maximumRetryAfter: Milliseconds;
}

/** When and how an attempt ended; `fraction` in [0, 1) sets the jitter of the next wait. */
interface AttemptEnd {
  /** In queue time, by which waits are measured. */
  readonly at: Instant;
  /** The same time by the wall clock, stored as the end of the delivery if it is finished. */
  readonly wall: Instant;
  readonly fraction: number;
  /** Time until the delivery expires; a longer wait is cut to it, for the last attempt. */
  readonly timeLeft: Milliseconds;
}

/** Decides the effect of an attempt on its delivery. */
export function concludeAttempt(
  delivery: Delivery,
  report: AttemptReport,
  rules: AttemptRules,
  end: AttemptEnd,
): Outcome {
  const attempt = { ...report.attempt, manual: delivery.state.type === 'manual' };
  const event = eventOf(delivery, report, rules, end);
  const state = transitionDelivery(delivery.state, event).unwrapOr(delivery.state);
  const { body: _sentBefore, recipients: _toldBefore, ...rest } = delivery;
  const body = delivery.body ?? (report.failure === null ? null : report.body);
  const recipients = report.recipients ?? delivery.recipients ?? null;
  const after: Delivery = {
    ...rest,
    state,
    attempts: withAttempt(delivery.attempts, attempt),
    ...(recipients === null ? {} : { recipients }),
    ...(body === null ? {} : { body }),
  };
  return { before: delivery, event, attempt, after };
}

function eventOf(delivery: Delivery, report: AttemptReport, rules: AttemptRules, end: AttemptEnd): DeliveryEvent {
  const { failure, recipients } = report;
  if (failure === null) {
    const partly = recipients?.some(({ outcome }) => outcome === 'refused') ?? false;
    return { type: 'attempt_delivered', at: end.wall, partly };
  }
  const nextAt = nextAtOf(delivery, report, rules, end);
  const partly = acceptedOf(recipients ?? delivery.recipients) > 0;
  const failed = { type: 'attempt_failed', at: end.wall, permanent: failure.permanent, nextAt, partly } as const;
  return isOfDestination(failure) ? failed : { ...failed, uncounted: true };
}

function nextAtOf(delivery: Delivery, report: AttemptReport, rules: AttemptRules, end: AttemptEnd): Instant | null {
  if (delivery.state.type !== 'waiting') return null;
  const waits = waitsFor(rules.retry, delivery.kind);
  const schedule = { waits, jitter: rules.jitter, maximumRetryAfter: rules.maximumRetryAfter };
  const counted = report.failure === null || isOfDestination(report.failure);
  const attempted = counted ? delivery.state.attempted + 1 : Math.max(1, delivery.state.attempted);
  const next = nextAttemptAt(schedule, attempted, end, report.retryAfter);
  if (next === null || end.timeLeft <= 0) return null;
  return Math.min(next, end.at + end.timeLeft);
}

/** The waits between attempts, by kind of destination; an immutable value that a host may replace. */
interface RetrySchedules {
  readonly generic: readonly Milliseconds[];
  readonly chat: readonly Milliseconds[];
  readonly email: readonly Milliseconds[];
}

interface RetryRules {
  readonly waits: readonly Milliseconds[];
  /** Random variation of a wait, from 0 to 1. */
  readonly jitter: number;
  /** The longest wait that a destination may request. */
  readonly maximumRetryAfter: Milliseconds;
}

function waitsFor(schedules: RetrySchedules, kind: DestinationKind): readonly Milliseconds[] {
  switch (kind) {
    case 'generic':
      return schedules.generic;
    case 'chat-a':
    case 'chat-b':
      return schedules.chat;
    case 'email':
      return schedules.email;
  }
}

/** The end of an attempt: its time, and a random number in [0, 1) that sets the jitter of the next wait. */
interface AttemptEndTime {
  readonly at: Instant;
  readonly fraction: number;
}

/**
 * When to try again after `attempted` scheduled attempts (at least 1); null when the schedule is used up. A later time that
 * the destination requested applies instead, within the limit.
 */
export function nextAttemptAt(
  rules: RetryRules,
  attempted: number,
  { at, fraction }: AttemptEndTime,
  retryAfter: Milliseconds | null,
): Instant | null {
  const wait = rules.waits[attempted - 1];
  if (wait === undefined) return null;
  const jittered = wait * (1 - rules.jitter + 2 * rules.jitter * fraction);
  return at + Math.round(Math.max(jittered, Math.min(retryAfter ?? 0, rules.maximumRetryAfter)));
}

/**
 * The wait that a `Retry-After` header requests: whole seconds or an HTTP date (RFC 9110, 10.2.3), or seconds with a fraction,
 * which some services send. Null when it is absent or invalid.
 */
export function parseRetryAfter(value: string | undefined, now: Instant): Milliseconds | null {
  const text = value?.trim() ?? '';
  if (text === '' || text.length > 64) return null;
  if (/^[0-9]+(\.[0-9]+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  if (!/^[A-Za-z]{3}/.test(text)) return null;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

/** What has happened to a delivery. */
export interface Outcome {
  /** As its attempt began. */
  readonly before: Delivery;
  readonly event: DeliveryEvent;
  /** Null when there was none. */
  readonly attempt: Omit<Attempt, 'number'> | null;
  /** The row, if nobody else has changed it. */
  readonly after: Delivery;
}

/** Whether attempts have ended without delivering to all recipients. */
export function isGivenUp({ before, event, after }: Outcome): boolean {
  if (!isUnfinished(before.state)) return false;
  const { type } = after.state;
  return type === 'dead' || (type === 'partly_delivered' && event.type !== 'attempt_delivered');
}

/** The outcome of an event other than an attempt. */
export function outcomeOf(before: Delivery, event: DeliveryEvent): Outcome {
  const state = transitionDelivery(before.state, event).unwrapOr(before.state);
  return { before, event, attempt: null, after: { ...before, state } };
}

/**
 * The row after an outcome. It may have been changed since the attempt began: a redelivery was requested, the content was erased, or
 * another process has taken it (`isOurs` is false). The attempt is always recorded, and a delivered message remains
 * delivered. Other decisions count only if the start is still this one, and the row is in the state on which the decision was based.
 */
export function mergeOutcome(stored: Delivery, outcome: Outcome, isOurs: boolean): Delivery {
  const { before, event, attempt, after } = outcome;
  // Nobody else has changed it.
  if (isOurs && stored === before && stored.erased !== true) return freed(after);
  const current = isOurs ? freed(stored) : stored;
  const logged = attempt === null ? current : withLoggedAttempt(current, after, attempt);
  const next = { ...logged, state: stateAfter(current.state, outcome, isOurs || event.type === 'attempt_delivered') };
  return stored.erased === true ? withoutContents(next) : next;
}

function stateAfter(state: DeliveryState, { before, event }: Outcome, mayDecide: boolean): DeliveryState {
  const moved = (from: DeliveryState): DeliveryState => transitionDelivery(from, event).unwrapOr(from);
  if (event.type === 'attempt_delivered') return moved(state);
  if (!mayDecide) return state;
  if (sameState(state, before.state)) return moved(state);
  if (state.type === 'manual' && event.type === 'attempt_failed' && sameState(state.before, before.state)) {
    const next = moved(state.before);
    return next.type === 'manual' ? state : { ...state, before: next };
  }
  return state;
}

function withLoggedAttempt(current: Delivery, after: Delivery, attempt: NonNullable<Outcome['attempt']>): Delivery {
  const { body, recipients } = after;
  return {
    ...current,
    attempts: withAttempt(current.attempts, attempt),
    ...(recipients === undefined ? {} : { recipients }),
    ...(body === undefined ? {} : { body }),
  };
}

function sameState(a: DeliveryState, b: DeliveryState): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
