import { errAsync, ok, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import { decideStop } from '../../jobs/decide-stop.js';
import type { Job } from '../../jobs/document/job.js';
import type { InvalidRequest } from '../../jobs/errors.js';
import { isLauncher, jobs, jobVersions } from '../../jobs/job-record.js';
import { jobSubmissions } from '../../jobs/job-submission.js';
import { jobSummaries } from '../../jobs/job-summary-record.js';
import { scalingEvents } from '../../jobs/scaling-event.js';
import type { StorageError, WriteView } from '../../ports/storage.js';
import { allocations } from '../../scheduler/allocation.js';
import { type Evaluation, evaluations } from '../../scheduler/evaluation.js';
import { unixNanosFromInstant } from '../../shared/instant.js';
import type { Key, Table } from '../../shared/table.js';
import { authorise, type PermissionDenied } from '../shared/authorise.js';
import type { ConsequenceEnvironment } from '../shared/consequence-environment.js';
import type { EngineContext } from '../shared/context.js';
import { emitFacts, type Fact } from '../shared/facts.js';
import { moveChild } from '../shared/job-consequences.js';
import { endRun } from '../shared/job-runs.js';
import { readJobRow } from '../shared/job-store.js';
import { newEvaluation } from '../shared/new-evaluation.js';
import { putAllocation, removeAllocation } from '../shared/put-allocation.js';
import { putEvaluation } from '../shared/put-evaluation.js';
import { environmentOf, type JobReference, namespaceOf } from './job-reference.js';
import { faultOfPriority } from './register-job.js';
import { writeRegistration } from './write-registration.js';

export interface StopJobInput extends JobReference {
  /** Removes the job and everything of it at once; else it is kept, stopped, until it is collected. */
  readonly purge?: boolean;
  /** Priority of the evaluation; 0 and absent take the job's. */
  readonly evalPriority?: number;
  /** Ends the allocations without the delays that their groups and tasks ask for. */
  readonly noShutdownDelay?: boolean;
}

/** All zero and empty for a job that is not there. */
export interface StoppedJob {
  readonly evalId: string;
  readonly evalCreateIndex: number;
  readonly jobModifyIndex: number;
  readonly index: number;
}

/**
 * Stops a job, or purges it (job interface, stop). Stopping makes a version and an evaluation each time, also when the job
 * was stopped before. Instances of a stopped parent go on.
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
  const environment = environmentOf(context, caller);
  return context.storage
    .write((view) => {
      const job = readJobRow(view, namespace, input.jobId)?.record;
      if (job === undefined) return ok({ answer: nothingStopped, facts: [] });
      const stopped = purge ? purgeJob(view, environment, job, input) : keepStopped(view, environment, job, input);
      const { index } = view;
      const { evaluation } = stopped;
      const answer = {
        evalId: evaluation?.ID ?? '',
        evalCreateIndex: index,
        jobModifyIndex: index,
        index,
      };
      const fact: Fact = { name: 'job.stopped', fact: { namespace, jobId: job.ID, purged: purge, index } };
      return ok({ answer, facts: [fact, ...stopped.facts] });
    })
    .map(({ value }) => {
      emitFacts(context, value.facts);
      return value.answer;
    });
}

const nothingStopped: StoppedJob = { evalId: '', evalCreateIndex: 0, jobModifyIndex: 0, index: 0 };

interface Stopped {
  readonly evaluation: Evaluation | undefined;
  readonly facts: readonly Fact[];
}

function keepStopped(view: WriteView, environment: ConsequenceEnvironment, job: Job, input: StopJobInput): Stopped {
  if (input.noShutdownDelay === true) skipShutdownDelays(view, environment, job);
  const source = view.get(jobSubmissions, [job.Namespace, job.ID, job.Version])?.record;
  const stopped = decideStop(job, view.index, environment.now);
  return writeRegistration(
    view,
    environment,
    { type: 'updated', job: stopped, previous: job },
    evaluationOptions(input),
    source,
  );
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

function skipShutdownDelays(view: WriteView, environment: ConsequenceEnvironment, job: Job): void {
  for (const { record } of view.list(allocations, { index: 'by_job', prefix: [job.Namespace, job.ID] })) {
    putAllocation(view, record, {
      ...record,
      DesiredTransition: { ...record.DesiredTransition, NoShutdownDelay: true },
      ModifyIndex: view.index,
      AllocModifyIndex: view.index,
      ModifyTime: unixNanosFromInstant(environment.now),
    });
  }
}

function purgeJob(view: WriteView, environment: ConsequenceEnvironment, job: Job, input: StopJobInput): Stopped {
  const key = [job.Namespace, job.ID];
  const facts = endRun(view, environment, job.Namespace, job.ID);
  for (const { record } of view.list(allocations, { index: 'by_job', prefix: key })) removeAllocation(view, record);
  completePending(view, environment, job);
  view.remove(jobs, key);
  view.remove(jobSummaries, key);
  removeAll(view, jobVersions, key, (version) => [...key, version.Version]);
  removeAll(view, jobSubmissions, key, (submission) => [...key, submission.Version]);
  removeAll(view, scalingEvents, key, (event) => [...key, event.Group, event.CreateIndex]);
  if (job.Status !== 'dead') moveChild(view, job, job.Status, 'dead');
  const evaluation = isLauncher(job)
    ? undefined
    : newEvaluation(view, environment, { ...job, JobModifyIndex: view.index }, evaluationOptions(input));
  if (evaluation !== undefined) putEvaluation(view, evaluation, '');
  return { evaluation, facts };
}

/** Nothing is left that they could look at. */
function completePending(view: WriteView, environment: ConsequenceEnvironment, job: Job): void {
  const prefix = [job.Namespace, job.ID, 'pending'];
  for (const { record } of view.list(evaluations, { index: 'open_by_job', prefix })) {
    const completed: Evaluation = {
      ...record,
      Status: 'complete',
      StatusDescription: `job ${job.ID} deleted`,
      ModifyIndex: view.index,
      ModifyTime: unixNanosFromInstant(environment.now),
    };
    putEvaluation(view, completed, '');
  }
}

function removeAll<R>(view: WriteView, table: Table<R>, prefix: Key, keyOf: (record: R) => Key): void {
  for (const { record } of view.list(table, { prefix })) view.remove(table, keyOf(record));
}
