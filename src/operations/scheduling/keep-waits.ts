import { type Evaluation, evaluations } from '../../scheduler/evaluation.js';
import type { Milliseconds } from '../../shared/duration.js';
import { instantFromUnixNanos, isoFromInstant, unixNanosFromInstant } from '../../shared/instant.js';
import { putEvaluation } from '../books/scheduling/put-evaluation.js';
import type { Transaction } from '../commit.js';

/** Wall time less monotonic time: it changes when somebody sets the clock, and only then. */
export type WallOffset = Milliseconds;

/** Smaller changes are those of a clock that is kept right. */
const smallestStep = 1000;

/**
 * Evaluations that wait for a moment wait for an interval: a delay of the reschedule policy. When the wall clock was set back they
 * would wait as much longer, so their moments are set back, too. `before` is the offset at the last look; undefined after a start,
 * when nobody knows by how much it was set: then the interval begins again. Gives the offset for the next look.
 *
 * Only what was written later than now is changed, so that several engines on one store change it once.
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
