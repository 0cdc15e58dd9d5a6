import { type Evaluation, evaluations } from '../../scheduler/evaluation.js';
import type { Milliseconds } from '../../shared/duration.js';
import { instantFromUnixNanos, isoFromInstant, unixNanosFromInstant } from '../../shared/instant.js';
import { putEvaluation } from '../books/scheduling/put-evaluation.js';
import type { Transaction } from '../commit.js';

/** Wall time less monotonic time: it changes when somebody sets the clock, and only then. */
export type WallOffset = Milliseconds;

/** Smaller changes are corrections by a time service. */
const smallestStep = 1000;

/**
 * Evaluations with a time to wait for wait for an interval: a delay of the reschedule policy. When the wall clock is set back they would
 * wait longer by the size of the step, so their times are set back, too. `before` is the offset of the previous call; undefined after a
 * start, when the size of a step is not known: then the interval begins again. Returns the offset for the next call.
 *
 * Only records that were written later than now are changed, so that several engines on one store change each once.
 */
export function keepWaits(tx: Transaction, before: WallOffset | undefined): WallOffset {
  const offset = tx.now - tx.monotonic;
  if (before !== undefined && offset > before - smallestStep) return offset;
  for (const { record } of tx.list(evaluations, { index: 'due', prefix: ['waiting'] })) {
    const written = instantFromUnixNanos(record.ModifyTime);
    if (written <= tx.now + smallestStep) continue;
    putEvaluation(tx, waitingFrom(tx, record, before === undefined ? tx.now - written : offset - before));
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
