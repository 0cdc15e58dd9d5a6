import {
  type AdaptiveLimit,
  afterAnswer,
  afterFailure,
  afterOverload,
  afterSuccess,
  type Breaker,
  type BreakerRules,
  breakerAllows,
  closedBreaker,
  type LimitRules,
} from '../../queue/limits.js';
import { type Milliseconds, minute } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import { table } from '../../shared/table.js';
import type { DestinationKind } from '../configurations/destination.js';
import { type Failure, type FailureClass, isOfDestination } from '../delivery/classify-failure.js';
import { acceptedOf, type CancelReason, type Delivery } from '../delivery/delivery.js';
import type { AttemptReport } from '../delivery/transition-delivery.js';

/** A failure on the sender's side, proxy or transform, that keeps attempts from the destination. */
interface Blockage {
  readonly by: FailureClass;
  /** First such failure since an attempt last reached the destination. */
  readonly since: Instant;
}

/** A cancellation of all unfinished deliveries up to a sequence. */
interface Cancellation {
  readonly through: number;
  readonly at: Instant;
  readonly reason: CancelReason;
}

/**
 * What the deliveries of one configuration have in common. It exists as long as the configuration, and then until nothing is
 * unfinished. Times are queue time.
 */
export interface QueueRecord {
  readonly configurationId: string;
  readonly workspaceId: string;
  /** Nothing of it needs a turn before; null when nothing is unfinished. */
  readonly wakeAt: Instant | null;
  readonly breaker: Breaker;
  /** First failure since the last success. */
  readonly failingSince: Instant | null;
  /** What blocks it; absent when not blocked. */
  readonly hindered?: Blockage;
  /** Must be carried out before anything is sent. */
  readonly cancellation: Cancellation | null;
  /** When a user paused it; absent when it is not paused. */
  readonly pausedAt?: Instant;
  /** The `failingSince` that was reported in an alert; absent when no alert is open. */
  readonly alertedSince?: Instant;
  /** The number of deliveries that waited for their first attempt at the last count; absent when small. */
  readonly backlog?: number;
  /** Written by a version whose deliveries had no row before their first attempt: those after it have none yet. */
  readonly position?: number;
  /** The same: who worked on it. */
  readonly lease?: { readonly owner: string; readonly until: Instant } | null;
}

export const queues = table<QueueRecord>('notification_queues', (queue) => [queue.configurationId], {
  by_wake: {
    version: 2,
    key: (queue) => {
      if (hasOldDeliveries(queue)) return [0, queue.configurationId];
      return queue.wakeAt === null ? undefined : [queue.wakeAt, queue.configurationId];
    },
  },
});

/** Whether some of its deliveries may have no row yet. */
export function hasOldDeliveries({ position, lease = null, wakeAt }: QueueRecord): boolean {
  return position !== undefined && (lease !== null || wakeAt !== null);
}

/** Whether nothing holds back a delivery that is due. */
export function sendsAtOnce(queue: QueueRecord): boolean {
  const { breaker, pausedAt, cancellation } = queue;
  return breaker.type === 'closed' && pausedAt === undefined && cancellation === null && !hasOldDeliveries(queue);
}

/** The queue of a new configuration. */
export function newQueue(configurationId: string, workspaceId: string): QueueRecord {
  return {
    configurationId,
    workspaceId,
    wakeAt: null,
    breaker: closedBreaker,
    failingSince: null,
    cancellation: null,
  };
}

/** The queue all of whose deliveries have rows. */
export function withRowsOnly({ position: _, lease: __, ...queue }: QueueRecord): QueueRecord {
  return queue;
}

/** A wake-up time that is always in the past. */
const atOnce: Instant = 0;

/**
 * The queue after a delivery was added to it: it needs a turn now, or when its breaker allows an attempt; a paused one when the
 * delivery expires, at `endsAt`. Returns the same object if no write is needed.
 */
export function afterArrival(queue: QueueRecord, endsAt: Instant): QueueRecord {
  if (hasOldDeliveries(queue)) return queue;
  const wakeAt = arrivalWakes(queue, endsAt);
  if (queue.wakeAt !== null && queue.wakeAt <= wakeAt) return queue;
  return { ...withRowsOnly(queue), wakeAt };
}

function arrivalWakes({ breaker, pausedAt }: QueueRecord, endsAt: Instant): Instant {
  if (pausedAt !== undefined) return endsAt;
  return breaker.type === 'open' ? breaker.until : atOnce;
}

/** The queue after its rows, or what it says itself, were changed by an operation: it needs a turn. */
export function touched(queue: QueueRecord): QueueRecord {
  return { ...(hasOldDeliveries(queue) ? queue : withRowsOnly(queue)), wakeAt: atOnce };
}

/** The queue after another request showed that its destination works: a verification, an enabling, a redelivery. */
export function withBreakerClosed(queue: QueueRecord): QueueRecord {
  const { hindered: _over, ...rest } = touched(queue);
  return { ...rest, breaker: closedBreaker, failingSince: null };
}

/** The queue with or without a pause. Its deliveries still age, and expire while it is paused. */
export function withPause(queue: QueueRecord, pausedAt: Instant | null): QueueRecord {
  const { pausedAt: _before, ...rest } = touched(queue);
  return pausedAt === null ? rest : { ...rest, pausedAt };
}

/**
 * The queue of a configuration that was disabled or deleted: its unfinished deliveries are cancelled, even when the
 * configuration is enabled again immediately.
 */
export function withCancellation(queue: QueueRecord, cancellation: Cancellation): QueueRecord {
  return { ...touched(queue), cancellation };
}

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

/** Why a delivery is pending. */
export const waitReasons = ['paused', 'retry', 'breaker', 'order', 'rate', 'queue', 'engine'] as const;
/** One of `waitReasons`. */
export type WaitReason = (typeof waitReasons)[number];

/** The rate limit of a destination, and who works on deliveries. */
export interface Pace {
  /** Attempts per second; 0 means unlimited. */
  readonly rate: number;
  /** The end of the pause that its hook asked for, in queue time; null without one. */
  readonly heldUntil: Instant | null;
  /** Until when an engine is known to work on deliveries, in queue time; null when none is. */
  readonly servedUntil: Instant | null;
}

/**
 * Why a pending delivery has not been sent yet, according to the store:
 *
 * * `paused`: a user has paused its configuration.
 * * `retry`: its last attempt failed; the next one is due at `until`.
 * * `breaker`: its destination failed repeatedly, and there are no attempts until then.
 * * `order`: an earlier notification of its run is not finished.
 * * `rate`: the destination's rate limit, with others before it; with `until`, its hook asked for a pause until then.
 * * `queue`: others are before it, and an engine is working on them.
 * * `engine`: no engine works on deliveries; with `until`, one may when the lease of the last one ends.
 *
 * Null for a delivery that has ended or is being cancelled.
 */
export function waitOf(
  delivery: Delivery,
  queue: QueueRecord,
  pace: Pace,
  now: Instant,
): { readonly reason: WaitReason; readonly until: Instant | null } | null {
  const { state, sequence } = delivery;
  if (state.type !== 'waiting' && state.type !== 'behind' && state.type !== 'manual') return null;
  if (queue.cancellation !== null && sequence <= queue.cancellation.through) return null;
  if (queue.pausedAt !== undefined && state.type !== 'manual') return { reason: 'paused', until: null };
  if (state.type === 'behind') return { reason: 'order', until: null };
  return timedWait(state, queue, pace, now) ?? queuedWait(pace, now);
}

type Wait = NonNullable<ReturnType<typeof waitOf>>;

/** The reason that ends last: the hook's pause, the breaker, or the wait for a retry. */
function timedWait(
  state: Extract<Delivery['state'], { type: 'waiting' | 'manual' }>,
  queue: QueueRecord,
  { heldUntil }: Pace,
  now: Instant,
): Wait | null {
  const scheduled = state.type === 'waiting' ? scheduledWait(state, queue, now) : null;
  const others = Math.max(now, scheduled?.until ?? now);
  return heldUntil !== null && heldUntil > others ? { reason: 'rate', until: heldUntil } : scheduled;
}

/** The reason that blocks a scheduled attempt; a requested redelivery ignores it. */
function scheduledWait(
  { attempted, dueAt }: Extract<Delivery['state'], { type: 'waiting' }>,
  { breaker }: QueueRecord,
  now: Instant,
): Wait | null {
  if (breaker.type === 'open') return { reason: 'breaker', until: Math.max(breaker.until, dueAt) };
  return attempted > 0 && dueAt > now ? { reason: 'retry', until: dueAt } : null;
}

function queuedWait({ rate, servedUntil }: Pace, now: Instant): Wait {
  if (servedUntil === null || servedUntil <= now) return { reason: 'engine', until: servedUntil };
  return { reason: rate > 0 ? 'rate' : 'queue', until: null };
}
