import type { Job } from '../../../jobs/document/job.js';
import type { Evaluation, EvaluationTrigger } from '../../../scheduler/evaluation.js';
import { unixNanosFromInstant } from '../../../shared/instant.js';
import type { Transaction } from '../../write-transaction.js';

export interface EvaluationOptions {
  readonly triggeredBy: EvaluationTrigger;
  /** The job's when absent. */
  readonly priority?: number;
  /** The job's when absent. */
  readonly type?: string;
  /** The node whose change triggers it, and the index of that change. */
  readonly node?: { readonly id: string; readonly index: number };
  /** The deployment that triggers it. */
  readonly deploymentId?: string;
  /** Whether it has an index after that of the job, as for a registration; otherwise it shares the job's. */
  readonly ownIndex?: boolean;
}

/** Whether it names the specification that it was created for: only evaluations from requests about the job do. */
const namesSpecification: ReadonlySet<EvaluationTrigger> = new Set([
  'job-register',
  'job-deregister',
  'job-scaling',
  'periodic-job',
  'alloc-stop',
]);

/** A new pending evaluation of a job. */
export function newEvaluation(
  tx: Transaction,
  job: Pick<Job, 'Namespace' | 'ID' | 'Priority' | 'Type' | 'JobModifyIndex'>,
  options: EvaluationOptions,
): Evaluation {
  const nanos = unixNanosFromInstant(tx.now);
  return {
    ID: tx.ids.next('evaluation'),
    Namespace: job.Namespace,
    Priority: options.priority ?? job.Priority,
    Type: options.type ?? job.Type,
    TriggeredBy: options.triggeredBy,
    JobID: job.ID,
    ...(namesSpecification.has(options.triggeredBy) ? { JobModifyIndex: job.JobModifyIndex } : {}),
    ...(options.node === undefined ? {} : { NodeID: options.node.id, NodeModifyIndex: options.node.index }),
    ...(options.deploymentId === undefined ? {} : { DeploymentID: options.deploymentId }),
    Status: 'pending',
    CreateIndex: tx.index,
    ModifyIndex: tx.index,
    CreateTime: nanos,
    ModifyTime: nanos,
  };
}
