import type { WriteView } from '../../../ports/storage.js';
import { waitingAsks } from '../../../scheduler/blocked/waiting-ask.js';
import { type Evaluation, evaluations } from '../../../scheduler/evaluation.js';

/**
 * Stores an evaluation. `asks`: what a blocked one waits for (`asksOf`). Every write of an evaluation goes through here.
 */
export function putEvaluation(view: WriteView, evaluation: Evaluation, asks: readonly string[] = []): void {
  view.put(evaluations, evaluation);
  const { ID, Priority: priority, CreateIndex: createIndex } = evaluation;
  if (createIndex !== view.index) forgetAsks(view, ID, asks);
  for (const ask of asks) {
    if (view.get(waitingAsks, [ID, ask]) === undefined) view.put(waitingAsks, { ID, ask, priority, createIndex });
  }
}

/** Removes an evaluation, and what it waits for. */
export function removeEvaluation(view: WriteView, evaluationId: string): void {
  view.remove(evaluations, [evaluationId]);
  forgetAsks(view, evaluationId, []);
}

/** What it no longer waits for. */
function forgetAsks(view: WriteView, evaluationId: string, asks: readonly string[]): void {
  for (const { record } of view.list(waitingAsks, { prefix: [evaluationId] })) {
    if (!asks.includes(record.ask)) view.remove(waitingAsks, [evaluationId, record.ask]);
  }
}
