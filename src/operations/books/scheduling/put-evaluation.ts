import type { WriteView } from '../../../ports/storage.js';
import { blockedRequirements } from '../../../scheduler/blocked/blocked-requirement.js';
import { type Evaluation, evaluations } from '../../../scheduler/evaluation.js';

/**
 * Stores an evaluation. `requirements`: what a blocked one waits for (`requirementNames`). Every write of an evaluation goes through this function.
 */
export function putEvaluation(view: WriteView, evaluation: Evaluation, requirements: readonly string[] = []): void {
  view.put(evaluations, evaluation);
  const { ID, Priority: priority, CreateIndex: createIndex } = evaluation;
  if (createIndex !== view.index) forgetRequirements(view, ID, requirements);
  for (const requirement of requirements) {
    if (view.get(blockedRequirements, [ID, requirement]) === undefined)
      view.put(blockedRequirements, { ID, requirement, priority, createIndex });
  }
}

/** Removes an evaluation and its requirements. */
export function removeEvaluation(view: WriteView, evaluationId: string): void {
  view.remove(evaluations, [evaluationId]);
  forgetRequirements(view, evaluationId, []);
}

/** Removes the requirements that it no longer waits for. */
function forgetRequirements(view: WriteView, evaluationId: string, requirements: readonly string[]): void {
  for (const { record } of view.list(blockedRequirements, { prefix: [evaluationId] })) {
    if (!requirements.includes(record.requirement))
      view.remove(blockedRequirements, [evaluationId, record.requirement]);
  }
}
