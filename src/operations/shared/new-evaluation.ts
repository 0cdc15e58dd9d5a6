import type { Job } from '../../jobs/document/job.js';
import type { Ids } from '../../ports/ids.js';
import type { WriteView } from '../../ports/storage.js';
import type { Evaluation, EvaluationTrigger } from '../../scheduler/evaluation.js';
import { type Instant, unixNanosFromInstant } from '../../shared/instant.js';

export interface EvaluationOptions {
  readonly triggeredBy: EvaluationTrigger;
  /** The job's when absent. */
  readonly priority?: number;
  /** The job's when absent. */
  readonly type?: string;
}

/** A pending evaluation of a job, made by the write that calls for it. */
export function newEvaluation(
  view: WriteView,
  environment: { readonly now: Instant; readonly ids: Ids },
  job: Pick<Job, 'Namespace' | 'ID' | 'Priority' | 'Type' | 'JobModifyIndex'>,
  options: EvaluationOptions,
): Evaluation {
  const nanos = unixNanosFromInstant(environment.now);
  return {
    ID: environment.ids.next('evaluation'),
    Namespace: job.Namespace,
    Priority: options.priority ?? job.Priority,
    Type: options.type ?? job.Type,
    TriggeredBy: options.triggeredBy,
    JobID: job.ID,
    JobModifyIndex: job.JobModifyIndex,
    Status: 'pending',
    CreateIndex: view.index,
    ModifyIndex: view.index,
    CreateTime: nanos,
    ModifyTime: nanos,
  };
}
