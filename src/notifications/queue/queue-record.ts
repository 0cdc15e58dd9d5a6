import type { Instant } from '../../shared/instant.js';
import { table } from '../../shared/table.js';
import type { FailureClass } from '../delivery/classify-failure.js';
import type { CancelReason } from '../delivery/delivery.js';
import { type Breaker, closedBreaker } from './circuit-breaker.js';

/** The engine that has the lease of a queue, and the end of the lease. */
interface QueueLease {
  readonly owner: string;
  readonly until: Instant;
}

/** What on the side of the sender keeps attempts from the destination: its proxy or its transform. */
export interface Hindrance {
  readonly by: FailureClass;
  /** First such failure since an attempt last reached the destination. */
  readonly since: Instant;
}

/** Deliveries that are cancelled together: everything unfinished up to a sequence. */
export interface Cancellation {
  readonly through: number;
  readonly at: Instant;
  readonly reason: CancelReason;
}

/**
 * The queue of one configuration's unfinished deliveries, as the store keeps it. It exists as long as the configuration, and
 * then until nothing is unfinished. Only one engine at a time has its lease, so order, circuit breaker and a slow destination
 * affect no other queue.
 */
export interface QueueRecord {
  readonly configurationId: string;
  readonly workspaceId: string;
  /** Every delivery up to this sequence has a separate row or is over; what comes after it is read from the events. */
  readonly position: number;
  /** When it needs an engine while it has no lease; null when nothing is unfinished, or only a user can continue it. */
  readonly wakeAt: Instant | null;
  readonly lease: QueueLease | null;
  readonly breaker: Breaker;
  /** First failure since the last success. */
  readonly failingSince: Instant | null;
  /** Absent when nothing blocks. */
  readonly hindered?: Hindrance;
  /** To be carried out before anything is sent. */
  readonly cancellation: Cancellation | null;
  /** When a user paused it; absent when it is not paused. */
  readonly pausedAt?: Instant;
  /** The `failingSince` that was reported in an alert; absent when no alert is open. */
  readonly alertedSince?: Instant;
  /** New deliveries that waited for their first attempt at the last write, about; absent for a few. See `backlogOf`. */
  readonly backlog?: number;
}

export const queues = table<QueueRecord>('notification_queues', (queue) => [queue.configurationId], {
  /** A queue that is being worked on comes up when its lease ends. */
  by_wake: {
    version: 1,
    key: ({ wakeAt, lease }) => (lease !== null ? [lease.until] : wakeAt !== null ? [wakeAt] : undefined),
  },
});

/** The queue of a new configuration; nothing up to `position` is for it. */
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

/** As a time to wake up: at once, whatever the clock says. */
const atOnce: Instant = 0;

/**
 * The queue after a delivery was added to it: it needs an engine now, or when its breaker allows an attempt; a paused one when the
 * delivery is over by its age, at `endsAt`. The same object if nothing has to be written, because it is leased or needs an engine
 * early enough.
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
 * Whether nothing accepted after its position is for the queue: that would have woken it, or is known to the engine that has it. The events
 * since then, which are for others, need not be considered.
 */
export function hasNothingNew({ lease, wakeAt }: QueueRecord): boolean {
  return lease === null && wakeAt === null;
}

/**
 * The queue after its rows were changed by an operation that does not have the lease. Always write it: the new row shows the
 * holder of the lease that its data is out of date.
 */
export function touched(queue: QueueRecord): QueueRecord {
  return { ...queue, wakeAt: atOnce };
}

/** The queue after its destination was found working by other means: a verification, an enabling, a redelivery. */
export function withBreakerClosed(queue: QueueRecord): QueueRecord {
  const { hindered: _over, ...rest } = touched(queue);
  return { ...rest, breaker: closedBreaker, failingSince: null };
}

/** The queue from now on with or without a pause. Its deliveries keep their age: what gets too old meanwhile is over. */
export function withPause(queue: QueueRecord, pausedAt: Instant | null): QueueRecord {
  const { pausedAt: _before, ...rest } = touched(queue);
  return pausedAt === null ? rest : { ...rest, pausedAt };
}

/**
 * The queue of a configuration that was disabled or deleted: what is unfinished now is cancelled, also when the
 * configuration is enabled again at once.
 */
export function withCancellation(queue: QueueRecord, cancellation: Cancellation): QueueRecord {
  return { ...touched(queue), cancellation };
}
