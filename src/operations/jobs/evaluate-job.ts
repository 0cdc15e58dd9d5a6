import { err, errAsync, ok, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import type { Job } from '../../jobs/document/job.js';
import { type EvaluationRefused, type JobNotFound, jobNotFound } from '../../jobs/errors.js';
import { isParameterized, isPeriodic } from '../../jobs/job-record.js';
import type { StorageError, WriteView } from '../../ports/storage.js';
import { type Allocation, allocations } from '../../scheduler/allocation.js';
import { unixNanosFromInstant } from '../../shared/instant.js';
import { authorise, type PermissionDenied } from '../shared/authorise.js';
import type { ConsequenceEnvironment } from '../shared/consequence-environment.js';
import type { EngineContext } from '../shared/context.js';
import { emitFacts, type Fact } from '../shared/facts.js';
import { recomputeJobStatus } from '../shared/job-consequences.js';
import { readJobRow } from '../shared/job-store.js';
import { newEvaluation } from '../shared/new-evaluation.js';
import { putAllocation } from '../shared/put-allocation.js';
import { putEvaluation } from '../shared/put-evaluation.js';
import { environmentOf, type JobReference, namespaceOf } from './job-reference.js';
import type { Registered } from './register-job.js';

export interface EvaluateJobInput extends JobReference {
  /** Places failed allocations anew at once, whatever their reschedule policy says. */
  readonly forceReschedule?: boolean;
}

export type EvaluateJobError = PermissionDenied | JobNotFound | EvaluationRefused | StorageError;

/** Has the scheduler look at a job (job interface, create evaluation). The answer's `jobModifyIndex` is the ModifyIndex. */
export function evaluateJob(
  context: EngineContext,
  caller: Principal,
  input: EvaluateJobInput,
): ResultAsync<Registered, EvaluateJobError> {
  const namespace = namespaceOf(input);
  const allowed = authorise(caller, namespace, ['submit-job', 'evaluate-job']);
  if (allowed.isErr()) return errAsync(allowed.error);
  const environment = environmentOf(context, caller);
  return context.storage
    .write<{ answer: Registered; facts: readonly Fact[] }, EvaluateJobError>((view) => {
      const job = readJobRow(view, namespace, input.jobId)?.record;
      if (job === undefined) return err(jobNotFound(namespace, input.jobId));
      if (isPeriodic(job)) return err(refused('periodic'));
      if (isParameterized(job)) return err(refused('parameterized'));
      if (input.forceReschedule === true) forceReschedules(view, environment, job);
      const evaluation = newEvaluation(view, environment, job, { triggeredBy: 'job-register' });
      putEvaluation(view, evaluation, '');
      const facts = recomputeJobStatus(view, environment, namespace, job.ID);
      const { index } = view;
      const answer: Registered = {
        evalId: evaluation.ID,
        evalCreateIndex: index,
        jobModifyIndex: job.ModifyIndex,
        warnings: '',
        index,
      };
      return ok({ answer, facts });
    })
    .map(({ value }) => {
      emitFacts(context, value.facts);
      return value.answer;
    });
}

function refused(reason: EvaluationRefused['reason']): EvaluationRefused {
  return { type: 'evaluation_refused', reason, message: `can't evaluate ${reason} job` };
}

function forceReschedules(view: WriteView, environment: ConsequenceEnvironment, job: Job): void {
  const reschedules = new Set(
    job.TaskGroups.filter(
      ({ ReschedulePolicy: policy }) => policy !== null && (policy.Attempts > 0 || policy.Unlimited),
    ).map((group) => group.Name),
  );
  for (const { record } of view.list(allocations, { index: 'by_job', prefix: [job.Namespace, job.ID] })) {
    if (!reschedules.has(record.TaskGroup) || !canBeForced(record, job)) continue;
    putAllocation(view, record, {
      ...record,
      DesiredTransition: { ...record.DesiredTransition, ForceReschedule: true },
      ModifyIndex: view.index,
      AllocModifyIndex: view.index,
      ModifyTime: unixNanosFromInstant(environment.now),
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
