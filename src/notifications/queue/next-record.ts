import type { Instant } from '../../shared/instant.js';
import type { CancellingQueue, DeliveringQueue, QueueRules } from './held-queue.js';
import type { QueueRecord } from './queue-record.js';
import { endByAge, type QueueTime } from './take-next.js';

/** The changes of a queue's row in a write, apart from its lease. */
interface RecordChange {
  readonly position: number;
  /** Another writer has changed the row: its breaker and cancellation replace those in memory. */
  readonly touched: boolean;
  /** The cancellation has been carried out. */
  readonly cancelled: boolean;
  /** See `backlogOf`. */
  readonly backlog: number;
}

/** A smaller backlog is not recorded. */
const leastBacklog = 64;

/** The row with the persistent part of the queue in memory. */
export function recordAfter(
  row: QueueRecord,
  queue: DeliveringQueue | CancellingQueue,
  { position, touched, cancelled, backlog }: RecordChange,
): QueueRecord {
  const forward = Math.max(row.position, position);
  if (touched) return { ...row, position: forward };
  const { breaker, failingSince, blockage } = queue;
  const { backlog: _before, hindered: _earlier, ...kept } = row;
  return {
    ...kept,
    position: forward,
    breaker,
    failingSince,
    cancellation: cancelled ? null : row.cancellation,
    ...(backlog < leastBacklog ? {} : { backlog }),
    ...(blockage === null ? {} : { hindered: blockage }),
  };
}

/** The stored deliveries of a queue whose lease is released. */
interface Remainder {
  /** When the first delivery without a row was accepted; null when there is none. */
  readonly firstFresh: Instant | null;
  /** When the first stored one is due; null when there is none. */
  readonly firstDue: Instant | null;
  /** When the first stored one was accepted. */
  readonly firstStored: Instant | null;
}

/** When a queue without a lease needs an engine again; null when it has no unfinished deliveries. */
export function wakeAtOf(
  { breaker, cancellation, pausedAt }: Pick<QueueRecord, 'breaker' | 'cancellation' | 'pausedAt'>,
  { firstFresh, firstDue, firstStored }: Remainder,
  time: QueueTime,
  rules: Pick<QueueRules, 'maximumAge'>,
): Instant | null {
  // A redelivery is due at 0 and ignores the breaker.
  if (cancellation !== null || firstDue === 0) return 0;
  if (firstFresh === null && firstDue === null) return null;
  const due = firstFresh === null ? (firstDue ?? 0) : 0;
  const probe = pausedAt !== undefined ? Number.POSITIVE_INFINITY : breaker.type === 'closed' ? null : breaker.until;
  if (probe === null) return due;
  const ends = [firstFresh, firstStored].flatMap((accepted) =>
    accepted === null ? [] : [endByAge(accepted, time, rules)],
  );
  return Math.min(Math.max(due, probe), ...ends);
}
