import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import type { JobOfFunction } from '../../functions/errors.js';
import type { Job } from '../../jobs/document/job.js';
import { type EvaluationRefused, type JobNotFound, jobNotFound } from '../../jobs/errors.js';
import { isParameterized, isPeriodic, type JobReference, namespaceOf } from '../../jobs/job-record.js';
import type { StorageError } from '../../ports/storage.js';
import { type Allocation, allocations } from '../../scheduler/allocation.js';
import { evaluations } from '../../scheduler/evaluation.js';
import { unixNanosFromInstant } from '../../shared/instant.js';
import { commitValue } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { refusedForFunction } from '../records/function-jobs.js';
import { readJobRow } from '../records/jobs/job-rows.js';
import { newEvaluation } from '../records/scheduling/new-evaluation.js';
import type { Transaction } from '../write-transaction.js';
import type { Registered } from './registration/register-job.js';

/** The job to evaluate. */
interface EvaluateJobInput extends JobReference {
  /** Replaces failed allocations immediately, regardless of their reschedule policy. */
  readonly forceReschedule?: boolean;
}

/** Errors of `evaluateJob`. */
type EvaluateJobError = JobNotFound | EvaluationRefused | JobOfFunction | StorageError;

/** Creates an evaluation of a job (job interface, create evaluation). The answer's `jobModifyIndex` is the ModifyIndex. */
export function evaluateJob(
  context: EngineContext,
  caller: Principal,
  input: EvaluateJobInput,
): ResultAsync<Registered, EvaluateJobError> {
  const namespace = namespaceOf(input);
  return commitValue(context, caller, (tx): Result<Registered, EvaluateJobError> => {
    const job = readJobRow(tx, namespace, input.jobId)?.record;
    const ofFunction = refusedForFunction(tx, { namespace, jobId: input.jobId }, 'evaluated');
    if (ofFunction !== undefined) return err(ofFunction);
    if (job === undefined) return err(jobNotFound(namespace, input.jobId));
    if (isPeriodic(job)) return err(refused('periodic'));
    if (isParameterized(job)) return err(refused('parameterized'));
    if (input.forceReschedule === true) forceReschedules(tx, job);
    const evaluation = newEvaluation(tx, { ...job, JobModifyIndex: job.ModifyIndex }, { triggeredBy: 'job-register' });
    tx.put(evaluations, evaluation);
    const { index } = tx;
    return ok({ evalId: evaluation.ID, evalCreateIndex: index, jobModifyIndex: job.ModifyIndex, warnings: '', index });
  });
}

function refused(reason: EvaluationRefused['reason']): EvaluationRefused {
  return { type: 'evaluation_refused', reason, message: `can't evaluate ${reason} job` };
}

function forceReschedules(tx: Transaction, job: Job): void {
  const reschedules = new Set(
    job.TaskGroups.filter(
      ({ ReschedulePolicy: policy }) => policy !== null && (policy.Attempts > 0 || policy.Unlimited),
    ).map((group) => group.Name),
  );
  for (const { record } of tx.list(allocations, {
    index: 'current_by_job',
    prefix: [job.Namespace, job.ID, 'failed'],
  })) {
    if (!reschedules.has(record.TaskGroup) || !canBeForced(record, job)) continue;
    tx.put(allocations, {
      ...record,
      DesiredTransition: { ...record.DesiredTransition, ForceReschedule: true },
      ModifyIndex: tx.index,
      AllocModifyIndex: tx.index,
      ModifyTime: unixNanosFromInstant(tx.now),
    });
  }
}

function canBeForced(allocation: Allocation, job: Job): boolean {
  return (
    allocation.JobCreateIndex === job.CreateIndex &&
    allocation.ClientStatus === 'failed' &&
    !allocation.NextAllocation &&
    allocation.DesiredTransition.ForceReschedule !== true
  );
}
