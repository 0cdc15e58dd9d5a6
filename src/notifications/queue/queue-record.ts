import type { Instant } from '../../shared/instant.js';
import { table } from '../../shared/table.js';
import type { FailureClass } from '../delivery/classify-failure.js';
import type { CancelReason } from '../delivery/delivery.js';
import { type Breaker, closedBreaker } from './circuit-breaker.js';

/** The holder of a queue's lease, and the end of the lease. */
interface QueueLease {
  readonly owner: string;
  readonly until: Instant;
}

/** A failure on the sender's side, proxy or transform, that keeps attempts from the destination. */
export interface Blockage {
  readonly by: FailureClass;
  /** First such failure since an attempt last reached the destination. */
  readonly since: Instant;
}

/** A cancellation of all unfinished deliveries up to a sequence. */
export interface Cancellation {
  readonly through: number;
  readonly at: Instant;
  readonly reason: CancelReason;
}

/**
 * The stored queue of one configuration's unfinished deliveries. It exists as long as the configuration, and
 * then until nothing is unfinished. Only one engine at a time holds its lease, and order, circuit breaker and a slow destination
 * do not affect other queues.
 */
export interface QueueRecord {
  readonly configurationId: string;
  readonly workspaceId: string;
  /** Every delivery up to this sequence has a row or is finished; later ones are derived from the events. */
  readonly position: number;
  /** When it next needs an engine while it has no lease; null when nothing is unfinished, or only a user can continue it. */
  readonly wakeAt: Instant | null;
  readonly lease: QueueLease | null;
  readonly breaker: Breaker;
  /** First failure since the last success. */
  readonly failingSince: Instant | null;
  /** What blocks it (the stored name differs from `blockage` in memory); absent when not blocked. */
  readonly hindered?: Blockage;
  /** Must be carried out before anything is sent. */
  readonly cancellation: Cancellation | null;
  /** When a user paused it; absent when it is not paused. */
  readonly pausedAt?: Instant;
  /** The `failingSince` that was reported in an alert; absent when no alert is open. */
  readonly alertedSince?: Instant;
  /** Approximate number of deliveries waiting for their first attempt at the last write; absent when small. See `backlogOf`. */
  readonly backlog?: number;
}

export const queues = table<QueueRecord>('notification_queues', (queue) => [queue.configurationId], {
  /** By wake-up time; for a leased queue, by the end of its lease. */
  by_wake: {
    version: 1,
    key: ({ wakeAt, lease }) => (lease !== null ? [lease.until] : wakeAt !== null ? [wakeAt] : undefined),
  },
});

/** The queue of a new configuration; it gets events after `position` only. */
export function newQueue(configurationId: string, workspaceId: string, position: number): QueueRecord {
  return {
    configurationId,
    workspaceId,
    position,
    wakeAt: null,
    lease: null,
    breaker: closedBreaker,
    failingSince: null,
    cancellation: null,
  };
}

/** A wake-up time that is always in the past. */
const atOnce: Instant = 0;

/**
 * The queue after a delivery was added to it: it needs an engine now, or when its breaker allows an attempt; a paused one when the
 * delivery expires, at `endsAt`. Returns the same object if no write is needed, because it is leased or has an earlier wake-up
 * time.
 */
export function afterArrival(queue: QueueRecord, endsAt: Instant): QueueRecord {
  if (queue.lease !== null) return queue;
  const wakeAt = arrivalWakes(queue, endsAt);
  return queue.wakeAt !== null && queue.wakeAt <= wakeAt ? queue : { ...queue, wakeAt };
}

function arrivalWakes({ breaker, pausedAt }: QueueRecord, endsAt: Instant): Instant {
  if (pausedAt !== undefined) return endsAt;
  return breaker.type === 'open' ? breaker.until : atOnce;
}

/**
 * Whether all events after its position are for other queues, and can be skipped: an event for this queue would have woken it, or is
 * known to the lease holder.
 */
export function hasNothingNew({ lease, wakeAt }: QueueRecord): boolean {
  return lease === null && wakeAt === null;
}

/**
 * The queue after its rows were changed by an operation that does not have the lease. Always write it: the new row shows the
 * lease holder that its data is out of date.
 */
export function touched(queue: QueueRecord): QueueRecord {
  return { ...queue, wakeAt: atOnce };
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
