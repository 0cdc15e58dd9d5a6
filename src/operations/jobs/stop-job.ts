import { err, errAsync, ok, okAsync, type Result, ResultAsync } from 'neverthrow';
import { allows, type PermissionDenied } from '../../access/allows.js';
import { type CallerNames, hostPrincipal, type Principal } from '../../access/principal.js';
import { decideStop } from '../../jobs/changes/decide-registration.js';
import { jobSubmissions } from '../../jobs/changes/submissions.js';
import type { Job } from '../../jobs/document/job.js';
import type { InvalidRequest } from '../../jobs/errors.js';
import { isLauncher, type JobReference, namespaceOf } from '../../jobs/job-record.js';
import { endedRuns } from '../../jobs/runs/job-run.js';
import type { StorageError } from '../../ports/storage.js';
import { type Allocation, allocations } from '../../scheduler/allocation.js';
import { type Evaluation, evaluations } from '../../scheduler/evaluation.js';
import { unixNanosFromInstant } from '../../shared/instant.js';
import type { Key } from '../../shared/table.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { stopFunction, stopRun } from '../functions/jobs-of-functions.js';
import { readFunctionJob, readRunOfJob } from '../records/function-jobs.js';
import { allocationsAtOnce, isLargeJob, readJobRow, removeJob, writeRegistration } from '../records/jobs/job-rows.js';
import { newEvaluation, putHeldEvaluation, releaseEvaluation } from '../records/scheduling/new-evaluation.js';
import type { Transaction } from '../write-transaction.js';
import { faultOfPriority } from './registration/register-job.js';

/** The job to stop, and how. */
export interface StopJobInput extends JobReference, CallerNames {
  /** Removes the job and all its records immediately; otherwise the stopped job is kept until garbage collection. */
  readonly purge?: boolean;
  /** Priority of the evaluation; the job's when 0 or absent. */
  readonly evalPriority?: number;
  /** Stops the allocations without the shutdown delays of their groups and tasks. */
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
 * was stopped before. Instances of a stopped parent continue.
 *
 * A purge removes the job in one write, and many allocations in further ones before it is answered. The evaluation waits
 * for these. Those that are left when the process is killed in between are ended by it, and collected later. A stop without delays
 * marks many allocations in the same way; those that are left then end with their delays.
 *
 * The job of a function is paused, and that of a run cancelled; a purge discards runs.
 */
export function stopJob(
  context: EngineContext,
  caller: Principal,
  asked: StopJobInput,
): ResultAsync<StoppedJob, PermissionDenied | InvalidRequest | StorageError> {
  const { evalPriority = 0 } = asked;
  const isUpstream = asked.names === 'upstream';
  // Existing clients may send a negative priority, which means none.
  const input = { ...asked, evalPriority: isUpstream ? Math.max(0, evalPriority) : evalPriority };
  const namespace = namespaceOf(input);
  const purge = input.purge === true;
  // To stop a job, `deregister-job` is enough.
  if (purge && !allows(caller, namespace, ['submit-job', 'purge-job'])) return errAsync({ type: 'permission_denied' });
  const fault = faultOfPriority('eval_priority', input.evalPriority);
  if (fault !== undefined) return errAsync(fault);
  return context.storage
    .read((view) => ({
      ofFunction: readFunctionJob(view, namespace, input.jobId),
      ofRun: readJobRow(view, namespace, input.jobId) ? undefined : readRunOfJob(view, namespace, input.jobId),
    }))
    .andThen(({ ofFunction, ofRun }): ResultAsync<StoppedJob, StorageError> => {
      if (ofFunction !== undefined) return stopFunction(context, caller, ofFunction, purge);
      return ofRun === undefined
        ? stopStored(context, caller, namespace, input)
        : stopRun(context, caller, ofRun, purge);
    });
}

function stopStored(
  context: EngineContext,
  caller: Principal,
  namespace: string,
  input: StopJobInput,
): ResultAsync<StoppedJob, StorageError> {
  const purge = input.purge === true;
  return commit<Stopped, never>(context, caller, (tx) => {
    const job = readJobRow(tx, namespace, input.jobId)?.record;
    if (job === undefined) return ok({ answer: nothingStopped, rest: undefined });
    const { index } = tx;
    tx.emit('job.stopped', { namespace, jobId: job.ID, purged: purge, index });
    const { evaluation, rest } = purge ? purgeJob(tx, job, input) : keepStopped(tx, job, input);
    const answer = { evalId: evaluation?.ID ?? '', evalCreateIndex: index, jobModifyIndex: index, index };
    return ok({ answer, rest });
  }).andThen(({ value: { answer, rest } }) =>
    rest === undefined ? okAsync(answer) : rest(context, answer.evalId).map(() => answer),
  );
}

/** What is left to do in further writes, for which the evaluation waits. */
type Rest = (context: EngineContext, evaluationId: string) => ResultAsync<void, StorageError>;

interface Stopped {
  readonly answer: StoppedJob;
  readonly rest: Rest | undefined;
}

interface StopWrite {
  readonly evaluation: Evaluation | undefined;
  readonly rest: Rest | undefined;
}

const nothingStopped: StoppedJob = { evalId: '', evalCreateIndex: 0, jobModifyIndex: 0, index: 0 };

function keepStopped(tx: Transaction, job: Job, input: StopJobInput): StopWrite {
  const skipsDelays = input.noShutdownDelay === true;
  const inParts = skipsDelays && isLargeJob(tx, job);
  if (skipsDelays && !inParts) skipShutdownDelays(tx, allocationsOf(tx, job));
  const source = tx.get(jobSubmissions, [job.Namespace, job.ID, job.Version])?.record;
  const stopped = decideStop(job, tx.index, tx.now);
  const decided = { type: 'updated', job: stopped, previous: job } as const;
  const { evaluation } = writeRegistration(tx, decided, evaluationOptions(input), source);
  if (!inParts) return { evaluation, rest: undefined };
  if (evaluation !== undefined) holdEvaluation(tx, evaluation);
  return { evaluation, rest: (context, evaluationId) => skipDelaysInParts(context, stopped, evaluationId) };
}

function allocationsOf(tx: Transaction, { Namespace, ID }: Job): readonly Allocation[] {
  return tx.list(allocations, { index: 'by_job', prefix: [Namespace, ID] }).map(({ record }) => record);
}

/** It waits for the last of the further writes. */
function holdEvaluation(tx: Transaction, evaluation: Evaluation): void {
  putHeldEvaluation(tx, { heldId: undefined, make: () => evaluation, unfinished: true });
}

/** The evaluation of a stop is always a service's: all that its scheduler has to do is to end everything. */
function evaluationOptions({ evalPriority = 0 }: StopJobInput) {
  const own = evalPriority === 0 ? {} : { priority: evalPriority };
  return { triggeredBy: 'job-deregister' as const, type: 'service', ...own };
}

function purgeJob(tx: Transaction, job: Job, input: StopJobInput): StopWrite {
  const isLarge = isLargeJob(tx, job);
  completePending(tx, job);
  removeJob(tx, job);
  removeEndedRuns(tx, job);
  const rest: Rest | undefined = isLarge
    ? (context, evaluationId) => removeLeftAllocations(context, job, evaluationId)
    : undefined;
  if (isLauncher(job)) return { evaluation: undefined, rest };
  const evaluation = newEvaluation(tx, { ...job, JobModifyIndex: tx.index }, evaluationOptions(input));
  if (isLarge) holdEvaluation(tx, evaluation);
  else tx.put(evaluations, evaluation);
  return { evaluation, rest };
}

/** Those of the job and, if it is a parent, of its instances. */
function removeEndedRuns(tx: Transaction, { Namespace, ID }: Job): void {
  for (const query of [{ prefix: [Namespace, ID] }, { prefix: [Namespace, ID], index: 'by_job' }]) {
    for (const { record } of tx.list(endedRuns, query)) tx.remove(endedRuns, endedRuns.key(record));
  }
}

/** The job was removed, so its evaluations have nothing left to do. */
function completePending(tx: Transaction, job: Job): void {
  const prefix = [job.Namespace, job.ID, 'pending'];
  for (const { record } of tx.list(evaluations, { index: 'open_by_job', prefix })) {
    tx.put(evaluations, {
      ...record,
      Status: 'complete',
      StatusDescription: `job ${job.ID} deleted`,
      ModifyIndex: tx.index,
      ModifyTime: unixNanosFromInstant(tx.now),
    });
  }
}

/** A removed job. */
type GoneJob = Pick<Job, 'Namespace' | 'ID' | 'CreateIndex'>;
/**
 * Removes the allocations of a removed job in parts, and releases the evaluation that waits for it. Allocations that a new job with the same
 * ID, registered in the meantime, has adopted are kept.
 */
export function removeLeftAllocations(
  context: EngineContext,
  { Namespace: namespace, ID: jobId, CreateIndex }: GoneJob,
  evaluationId: string,
): ResultAsync<void, StorageError> {
  const changed = changeAllocationsInParts(context, {
    ...{ namespace, jobId, evaluationId },
    change: (tx, part) => {
      for (const record of part) if (record.JobCreateIndex === CreateIndex) tx.remove(allocations, [record.ID]);
      return true;
    },
  });
  return new ResultAsync(changed);
}

/** The allocations end without the delays that their groups and tasks ask for. */
function skipShutdownDelays(tx: Transaction, own: readonly Allocation[]): void {
  for (const record of own) {
    tx.put(allocations, {
      ...record,
      DesiredTransition: { ...record.DesiredTransition, NoShutdownDelay: true },
      ModifyIndex: tx.index,
      AllocModifyIndex: tx.index,
      ModifyTime: unixNanosFromInstant(tx.now),
    });
  }
}

/**
 * The same for all allocations of a job that was stopped, in parts, before its evaluation ends them. Once the job is registered again, or
 * is gone, no more are marked.
 */
function skipDelaysInParts(
  context: EngineContext,
  { Namespace: namespace, ID: jobId, Version, CreateIndex }: Job,
  evaluationId: string,
): ResultAsync<void, StorageError> {
  const changed = changeAllocationsInParts(context, {
    ...{ namespace, jobId, evaluationId },
    change: (tx, part) => {
      const now = readJobRow(tx, namespace, jobId)?.record;
      if (now?.Version !== Version || now.CreateIndex !== CreateIndex) return false;
      tx.cause = 'JobDeregistered';
      skipShutdownDelays(tx, part);
      return true;
    },
  });
  return new ResultAsync(changed);
}

interface InParts extends Required<JobReference> {
  /** The evaluation that waits for the last part. */
  readonly evaluationId: string;
  /** Changes some of the allocations; false when no further part is needed. */
  readonly change: (tx: Transaction, part: readonly Allocation[]) => boolean;
}

/**
 * Changes all allocations of a job in small writes, between which the event loop runs, and releases the evaluation that waits for them. If the
 * process is killed in between, the rest is unchanged, and the evaluation becomes due on its own.
 */
async function changeAllocationsInParts(context: EngineContext, work: InParts): Promise<Result<void, StorageError>> {
  for (let from: Key | undefined = [work.namespace, work.jobId]; from !== undefined; ) {
    const start: Key = from;
    await context.turns.next();
    const written = await commit<Key | undefined, never>(context, hostPrincipal, (tx) => {
      const next = changePart(tx, work, start);
      if (next === undefined) releaseEvaluation(tx, work.evaluationId);
      return ok(next);
    });
    if (written.isErr()) return err(written.error);
    from = written.value.value;
  }
  return ok(undefined);
}

/** Returns the start of the next part in the index; undefined when there is none. */
function changePart(tx: Transaction, { namespace, jobId, change }: InParts, from: Key): Key | undefined {
  const prefix = [namespace, jobId];
  const part = tx.list(allocations, { index: 'by_job', prefix, from, limit: allocationsAtOnce });
  const records = part.map(({ record }) => record);
  const last = records.length < allocationsAtOnce ? undefined : records.at(-1);
  return change(tx, records) && last !== undefined ? [...prefix, last.ID, null] : undefined;
}
