import type { WriteView } from '../../ports/storage.js';
import { blockedQueues } from '../../scheduler/blocked-queue.js';
import { type Evaluation, evaluations } from '../../scheduler/evaluation.js';

/** Stores an evaluation; a blocked one joins the queue of those that want the same. Every write of an evaluation goes through here. */
export function putEvaluation(view: WriteView, evaluation: Evaluation, queue: string): void {
  view.put(evaluations, evaluation);
  if (evaluation.Status === 'blocked') {
    const { ID, Priority, CreateIndex } = evaluation;
    view.put(blockedQueues, { ID, queue, priority: Priority, createIndex: CreateIndex });
  } else {
    view.remove(blockedQueues, [evaluation.ID]);
  }
}
