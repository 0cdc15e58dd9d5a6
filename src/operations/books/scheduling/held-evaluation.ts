import { type Evaluation, evaluations, timeOfChange } from '../../../scheduler/evaluation.js';
import { second } from '../../../shared/duration.js';
import { isoFromInstant } from '../../../shared/instant.js';
import type { Transaction } from '../../commit.js';
import { putEvaluation } from './put-evaluation.js';

/** How long an evaluation waits for the last part when the engine ends in between. */
const longestWait = 10 * second;

interface Held {
  /** The evaluation that an earlier part has put, if there was one. */
  readonly heldId: string | undefined;
  /** Called when that one does not wait any more. */
  readonly make: () => Evaluation;
  /** More parts are to come. */
  readonly unfinished: boolean;
}

/**
 * Puts the one evaluation of a job for changes that are written in several parts. Until the last part it waits: what would be decided meanwhile
 * would not hold. It is there from the first part on, so that an engine that ends in between leaves it to the next one. Gives its ID while
 * it waits.
 */
export function putHeldEvaluation(tx: Transaction, { heldId, make, unfinished }: Held): string | undefined {
  const held = heldId === undefined ? undefined : heldEvaluation(tx, heldId);
  const evaluation = held ?? make();
  if (!unfinished) {
    putEvaluation(tx, released(tx, evaluation));
    return undefined;
  }
  const left = held === undefined ? 0 : Date.parse(held.WaitUntil ?? '') - tx.now;
  if (left < longestWait / 2) {
    putEvaluation(tx, { ...released(tx, evaluation), WaitUntil: isoFromInstant(tx.now + longestWait) });
  }
  return evaluation.ID;
}

/** After the last part: the evaluation is due, unless its time has come before. */
export function releaseEvaluation(tx: Transaction, heldId: string): void {
  const held = heldEvaluation(tx, heldId);
  if (held !== undefined) putEvaluation(tx, released(tx, held));
}

/** Undefined when its time has come meanwhile, or somebody has canceled it. */
function heldEvaluation(tx: Transaction, id: string): Evaluation | undefined {
  const evaluation = tx.get(evaluations, [id])?.record;
  return evaluation?.Status === 'pending' && evaluation.WaitUntil !== undefined ? evaluation : undefined;
}

function released(tx: Transaction, { WaitUntil: _, ...evaluation }: Evaluation): Evaluation {
  return { ...evaluation, ModifyIndex: tx.index, ModifyTime: timeOfChange(evaluation, tx.now) };
}
