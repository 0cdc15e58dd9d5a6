import { errAsync, ok, okAsync, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import { decideStop } from '../../jobs/changes/decide-stop.js';
import { jobSubmissions } from '../../jobs/changes/job-submission.js';
import type { Job } from '../../jobs/document/job.js';
import type { InvalidRequest } from '../../jobs/errors.js';
import { isLauncher } from '../../jobs/job-record.js';
import { type JobReference, namespaceOf } from '../../jobs/job-reference.js';
import type { StorageError } from '../../ports/storage.js';
import { allocations } from '../../scheduler/allocation.js';
import { type Evaluation, evaluations } from '../../scheduler/evaluation.js';
import { unixNanosFromInstant } from '../../shared/instant.js';
import { authorise, type PermissionDenied } from '../authorise.js';
import { readJobRow } from '../books/jobs/job-rows.js';
import { isLargeJob, removeJob } from '../books/jobs/remove-job.js';
import { writeRegistration } from '../books/jobs/write-registration.js';
import { putHeldEvaluation } from '../books/scheduling/held-evaluation.js';
import { newEvaluation } from '../books/scheduling/new-evaluation.js';
import { putAllocation } from '../books/scheduling/put-allocation.js';
import { putEvaluation } from '../books/scheduling/put-evaluation.js';
import { commit, type Transaction } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { faultOfPriority } from './registration/register-job.js';
import { removeLeftAllocations } from './remove-left-allocations.js';

/** The job that is stopped, and how. */
export interface StopJobInput extends JobReference {
  /** Removes the job and everything of it at once; else it is kept, stopped, until it is collected. */
  readonly purge?: boolean;
  /** Priority of the evaluation; 0 and absent take the job's. */
  readonly evalPriority?: number;
  /** Ends the allocations without the delays that their groups and tasks ask for. */
  readonly noShutdownDelay?: boolean;
}

/** All zero and empty for a job that does not exist. */
export interface StoppedJob {
  /** Empty when no evaluation was made. */
  readonly evalId: string;
  /** Index at which the evaluation was created, if there is one. */
  readonly evalCreateIndex: number;
  /** Index of the write; 0 when there was no such job. */
  readonly jobModifyIndex: number;
  /** Index of the write; 0 when there was no such job. */
  readonly index: number;
}

/**
 * Stops a job, or purges it (job interface, stop). Stopping makes a version and an evaluation each time, also when the job
 * was stopped before. Instances of a stopped parent go on.
 *
 * A purge removes the job in one write, and many allocations in further ones before it is answered. The evaluation waits
 * for these. Those that are left when the process is killed in between are ended by it, and collected later.
 */
export function stopJob(
  context: EngineContext,
  caller: Principal,
  input: StopJobInput,
): ResultAsync<StoppedJob, PermissionDenied | InvalidRequest | StorageError> {
  const namespace = namespaceOf(input);
  const purge = input.purge === true;
  const allowed = authorise(
    caller,
    namespace,
    purge ? ['submit-job', 'purge-job'] : ['submit-job', 'purge-job', 'deregister-job'],
  );
  if (allowed.isErr()) return errAsync(allowed.error);
  const fault = faultOfPriority('eval_priority', input.evalPriority);
  if (fault !== undefined) return errAsync(fault);
  return commit<Stopped, never>(context, caller, (tx) => {
    const job = readJobRow(tx, namespace, input.jobId)?.record;
    if (job === undefined) return ok({ answer: nothingStopped, unemptied: undefined });
    const { index } = tx;
    tx.tell('job.stopped', { namespace, jobId: job.ID, purged: purge, index });
    const unemptied = purge && isLargeJob(tx, job) ? job : undefined;
    const evaluation = purge ? purgeJob(tx, job, input) : keepStopped(tx, job, input);
    const answer = { evalId: evaluation?.ID ?? '', evalCreateIndex: index, jobModifyIndex: index, index };
    return ok({ answer, unemptied });
  }).andThen(({ value: { answer, unemptied } }) =>
    unemptied === undefined
      ? okAsync(answer)
      : removeLeftAllocations(context, unemptied, answer.evalId).map(() => answer),
  );
}

interface Stopped {
  readonly answer: StoppedJob;
  /** The purged job, when allocations of it are left. */
  readonly unemptied: Job | undefined;
}

const nothingStopped: StoppedJob = { evalId: '', evalCreateIndex: 0, jobModifyIndex: 0, index: 0 };

function keepStopped(tx: Transaction, job: Job, input: StopJobInput): Evaluation | undefined {
  if (input.noShutdownDelay === true) skipShutdownDelays(tx, job);
  const source = tx.get(jobSubmissions, [job.Namespace, job.ID, job.Version])?.record;
  const stopped = decideStop(job, tx.index, tx.now);
  return writeRegistration(tx, { type: 'updated', job: stopped, previous: job }, evaluationOptions(input), source)
    .evaluation;
}

/** The evaluation of a stop is always a service's: all that its scheduler has to do is to end everything. */
function evaluationOptions(input: StopJobInput) {
  const { evalPriority } = input;
  return {
    triggeredBy: 'job-deregister' as const,
    type: 'service',
    ...(evalPriority === undefined || evalPriority === 0 ? {} : { priority: evalPriority }),
  };
}

function skipShutdownDelays(tx: Transaction, job: Job): void {
  for (const { record } of tx.list(allocations, { index: 'by_job', prefix: [job.Namespace, job.ID] })) {
    putAllocation(tx, record, {
      ...record,
      DesiredTransition: { ...record.DesiredTransition, NoShutdownDelay: true },
      ModifyIndex: tx.index,
      AllocModifyIndex: tx.index,
      ModifyTime: unixNanosFromInstant(tx.now),
    });
  }
}

/** The evaluation of a large job waits until its last allocation is removed. */
function purgeJob(tx: Transaction, job: Job, input: StopJobInput): Evaluation | undefined {
  const unfinished = isLargeJob(tx, job);
  completePending(tx, job);
  removeJob(tx, job);
  if (isLauncher(job)) return undefined;
  const evaluation = newEvaluation(tx, { ...job, JobModifyIndex: tx.index }, evaluationOptions(input));
  if (unfinished) putHeldEvaluation(tx, { heldId: undefined, make: () => evaluation, unfinished });
  else putEvaluation(tx, evaluation);
  return evaluation;
}

/** The job was removed, so its evaluations have nothing left to do. */
function completePending(tx: Transaction, job: Job): void {
  const prefix = [job.Namespace, job.ID, 'pending'];
  for (const { record } of tx.list(evaluations, { index: 'open_by_job', prefix })) {
    const completed: Evaluation = {
      ...record,
      Status: 'complete',
      StatusDescription: `job ${job.ID} deleted`,
      ModifyIndex: tx.index,
      ModifyTime: unixNanosFromInstant(tx.now),
    };
    putEvaluation(tx, completed);
  }
}
