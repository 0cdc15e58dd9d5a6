import { type Evaluation, evaluations } from '../../scheduler/evaluation.js';
import type { Milliseconds } from '../../shared/duration.js';
import { instantFromUnixNanos, isoFromInstant, unixNanosFromInstant } from '../../shared/instant.js';
import type { Transaction } from '../write-transaction.js';

/** Wall time minus monotonic time: it changes only when the wall clock is set. */
export type WallOffset = Milliseconds;

/** Smaller changes are corrections by time synchronisation. */
const smallestStep = 1000;

/**
 * A delayed evaluation waits for an interval: a delay of the reschedule policy. When the wall clock is set back it would
 * wait longer by the size of the step, so its due time is set back, too. `before` is the offset of the previous call; undefined after a
 * start, when the size of a step is unknown: the interval then begins again. Returns the offset for the next call.
 *
 * Only records written later than the current wall time are changed, so that several engines on one store change each record once.
 */
export function keepWaits(tx: Transaction, before: WallOffset | undefined): WallOffset {
  const offset = tx.now - tx.monotonic;
  if (before !== undefined && offset > before - smallestStep) return offset;
  for (const { record } of tx.list(evaluations, { index: 'due', prefix: ['waiting'] })) {
    const written = instantFromUnixNanos(record.ModifyTime);
    if (written <= tx.now + smallestStep) continue;
    tx.put(evaluations, waitingFrom(tx, record, before === undefined ? tx.now - written : offset - before));
  }
  return offset;
}

function waitingFrom(tx: Transaction, evaluation: Evaluation, shift: Milliseconds): Evaluation {
  return {
    ...evaluation,
    WaitUntil: isoFromInstant(Date.parse(evaluation.WaitUntil ?? '') + shift),
    ModifyIndex: tx.index,
    ModifyTime: unixNanosFromInstant(tx.now),
  };
}
