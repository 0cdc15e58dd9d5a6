import {
  afterFailure,
  afterSuccess,
  type Breaker,
  type BreakerRules,
  breakerAllows,
} from '../../queue/circuit-breaker.js';
import { type AdaptiveLimit, afterAnswer, afterOverload, type LimitRules } from '../../queue/limits.js';
import { type Milliseconds, minute } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import { table } from '../../shared/table.js';
import type { DestinationKind } from '../configurations/destination.js';
import { type Failure, type FailureClass, isOfDestination } from '../delivery/classify-failure.js';
import type { AttemptReport } from '../delivery/conclude-attempt.js';
import { acceptedOf, type Delivery } from '../delivery/delivery.js';
import type { Blockage, QueueRecord } from './queue-record.js';

/**
 * A chat hook that asked for a pause. It has a separate row, because several configurations, in any workspace, and
 * several processes may use the hook.
 */
interface HookHold {
  /** A digest of the URL, which is a secret. */
  readonly hook: string;
  /** In queue time. */
  readonly until: Instant;
}

export const hookHolds = table<HookHold>('notification_hook_holds', ({ hook }) => [hook]);

/**
 * Until when the hook of an attempt gets no requests: the `Retry-After` of a chat service's 429 applies to the hook, not to one message.
 * Null without it, and for other destinations, whose meaning is not standardised: their breaker handles it.
 */
export function holdAfter(
  kind: DestinationKind,
  { attempt, retryAfter }: AttemptReport,
  at: Instant,
  longest: Milliseconds,
): Instant | null {
  if ((kind !== 'chat-a' && kind !== 'chat-b') || attempt.status !== 429 || retryAfter === null) return null;
  return retryAfter > 0 ? at + Math.min(retryAfter, longest) : null;
}

/* What the deliveries of one configuration may do now, and what an attempt at one of them says about its destination. */

/** One point in time, by both clocks of a queue. */
export interface QueueTime {
  /** Queue time, which never steps, for waits and pauses. */
  readonly now: Instant;
  /** Wall time, for displayed end times. */
  readonly wall: Instant;
}

export interface LaneRules {
  /** The age, counted from acceptance, at which a delivery expires. */
  readonly maximumAge: Milliseconds;
  readonly breaker: BreakerRules;
  readonly limit: LimitRules;
}

/** The time for ages: the earlier of both, so that setting the clock forward expires nothing. */
function timeForAge({ now, wall }: QueueTime): Instant {
  return Math.min(now, wall);
}

/** When a delivery accepted at `createdAt` expires, in queue time. */
export function endByAge(createdAt: Instant, time: QueueTime, { maximumAge }: Pick<LaneRules, 'maximumAge'>): Instant {
  return time.now + timeLeft(createdAt, time, { maximumAge });
}

/** How long until a delivery accepted at `createdAt` expires. */
export function timeLeft(
  createdAt: Instant,
  time: QueueTime,
  { maximumAge }: Pick<LaneRules, 'maximumAge'>,
): Milliseconds {
  return createdAt + maximumAge - timeForAge(time);
}

/** How many scheduled attempts may be under way: any number, one as a trial, or none. Requested ones always may. */
export function admits({ pausedAt, breaker }: QueueRecord, now: Instant): 'all' | 'one' | 'none' {
  return pausedAt === undefined ? breakerAllows(breaker, now) : 'none';
}

/** When a queue that nothing may be sent of needs a turn: for a trial, or for the age of its oldest delivery. */
export function blockedUntil(
  { breaker, pausedAt }: QueueRecord,
  oldest: Instant | null,
  time: QueueTime,
  rules: Pick<LaneRules, 'maximumAge'>,
): Instant {
  const probe = breaker.type === 'open' && pausedAt === undefined ? breaker.until : Number.POSITIVE_INFINITY;
  // Not at once again for one that is under way.
  const over =
    oldest === null ? Number.POSITIVE_INFINITY : Math.max(endByAge(oldest, time, rules), time.now + leastPause);
  return Math.min(probe, over);
}

/** The shortest time between two checks of ages while nothing can be sent. */
const leastPause = minute;

/** What may start, first by due time, then by acceptance: first attempts are due since they were accepted. */
export function inOrderOfDue(fresh: readonly Delivery[], retries: readonly Delivery[]): readonly Delivery[] {
  if (fresh.length === 0 || retries.length === 0) return fresh.length === 0 ? retries : fresh;
  const due = ({ state, createdAt }: Delivery): Instant =>
    state.type === 'waiting' && state.attempted > 0 ? state.dueAt : createdAt;
  return [...fresh, ...retries].sort((a, b) => due(a) - due(b) || a.sequence - b.sequence);
}

/** An attempt at a delivery, and when it ended. */
interface Reported {
  readonly delivery: Delivery;
  readonly report: AttemptReport;
  readonly at: Instant;
}

/** The row after an attempt at one of its deliveries. */
export function afterReport(
  queue: QueueRecord,
  { delivery, report, at }: Reported,
  rules: Pick<LaneRules, 'breaker'>,
): QueueRecord {
  const failure = failureOfDestination(delivery, report);
  const { hindered, ...rest } = queue;
  const blockage = nextBlockage(hindered ?? null, report.failure, at);
  return {
    ...rest,
    breaker: failure === undefined ? queue.breaker : nextBreaker(queue.breaker, failure, at, rules),
    failingSince: failure === undefined ? queue.failingSince : failure === null ? null : (queue.failingSince ?? at),
    ...(blockage === null ? {} : { hindered: blockage }),
  };
}

/**
 * The failure of the destination according to the attempt: null when it works, undefined when unknown. A failed redelivery is
 * ignored, because scheduled attempts find out the same. A mail server that accepted the mail for one recipient works: it defers
 * others for their own reasons, such as a full mailbox, and the mails of other events must not wait for that.
 */
function failureOfDestination(
  { state, recipients: earlier }: Delivery,
  { failure, recipients }: AttemptReport,
): Failure | null | undefined {
  if (failure === null) return null;
  const accepted = acceptedOf(recipients);
  if (accepted > acceptedOf(earlier)) return null;
  return accepted > 0 || state.type === 'manual' || !isOfDestination(failure) ? undefined : failure;
}

/** A failure on the sender's side blocks until an attempt reaches the destination, with any outcome. An aborted attempt changes nothing. */
function nextBlockage(blockage: Blockage | null, failure: Failure | null, at: Instant): Blockage | null {
  if (failure === null || isOfDestination(failure)) return null;
  return failure.class === 'aborted' ? blockage : { by: failure.class, since: blockage?.since ?? at };
}

function nextBreaker(
  breaker: Breaker,
  failure: Failure | null,
  at: Instant,
  rules: Pick<LaneRules, 'breaker'>,
): Breaker {
  if (failure === null) return afterSuccess(breaker);
  // A refused address says nothing about the mail server.
  return failure.class === 'mail_rejected' ? breaker : afterFailure(breaker, rules.breaker, at);
}

/** The limit after an attempt; `full`: whether it was reached during the attempt. */
export function nextLimit(
  limit: AdaptiveLimit,
  { attempt, failure }: AttemptReport,
  { full, at }: { readonly full: boolean; readonly at: Instant },
  rules: Pick<LaneRules, 'limit'>,
): AdaptiveLimit {
  if (failure === null) return afterAnswer(limit, full, rules.limit);
  return isOverload(failure.class, attempt.status) ? afterOverload(limit, at - attempt.total, at) : limit;
}

/** Whether fewer concurrent requests may avoid the failure. */
function isOverload(failure: FailureClass, status: number | null): boolean {
  return overloads.has(failure) || status === 503;
}

const overloads: ReadonlySet<FailureClass> = new Set([
  'rate_limited',
  'total_timeout',
  'connect_timeout',
  'connection_reset',
]);
