import { type Breaker, closedBreaker } from '../../queue/circuit-breaker.js';
import type { Instant } from '../../shared/instant.js';
import { table } from '../../shared/table.js';
import type { FailureClass } from '../delivery/classify-failure.js';
import type { CancelReason } from '../delivery/delivery.js';

/** A failure on the sender's side, proxy or transform, that keeps attempts from the destination. */
export interface Blockage {
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
