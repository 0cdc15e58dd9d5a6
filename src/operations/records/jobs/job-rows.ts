import { prunedVersions, type Registration } from '../../../jobs/changes/decide-registration.js';
import {
  type JobSubmission,
  jobSubmissions,
  prunedSubmissions,
  type SubmissionInput,
} from '../../../jobs/changes/submissions.js';
import type { Job } from '../../../jobs/document/job.js';
import { isLauncher, jobs, jobVersions } from '../../../jobs/job-record.js';
import { scalingEvents } from '../../../jobs/scaling/scaling-records.js';
import type { ReadView, Row } from '../../../ports/storage.js';
import { allocations } from '../../../scheduler/allocation.js';
import { deployments } from '../../../scheduler/deployment/deployment.js';
import { type Evaluation, evaluations } from '../../../scheduler/evaluation.js';
import type { Key, Table } from '../../../shared/table.js';
import type { Transaction } from '../../write-transaction.js';
import { type EvaluationOptions, newEvaluation } from '../scheduling/new-evaluation.js';

/** The current version of a job. */
export function readJobRow(view: ReadView, namespace: string, jobId: string): Row<Job> | undefined {
  return view.get(jobs, [namespace, jobId]);
}

/** One version of a job, current or earlier. */
export function readJobVersion(
  view: ReadView,
  namespace: string,
  jobId: string,
  version: number,
): Row<Job> | undefined {
  const current = readJobRow(view, namespace, jobId);
  return current?.record.Version === version ? current : view.get(jobVersions, [namespace, jobId, version]);
}

/** The version of an allocation; undefined when it is no longer kept, or the job was purged and registered again. */
export function readAllocationJob(
  view: ReadView,
  allocation: {
    readonly Namespace: string;
    readonly JobID: string;
    readonly JobVersion: number;
    readonly JobCreateIndex: number;
  },
): Row<Job> | undefined {
  const row = readJobVersion(view, allocation.Namespace, allocation.JobID, allocation.JobVersion);
  return row?.record.CreateIndex === allocation.JobCreateIndex ? row : undefined;
}

/**
 * Selects the records of the current registration of a job. Selects all of them if `all` is set or the job no longer exists.
 */
export function ofPresentRegistration(
  view: ReadView,
  namespace: string,
  jobId: string,
  all: boolean,
): (row: { readonly record: { readonly JobCreateIndex: number } }) => boolean {
  const present = all ? undefined : readJobRow(view, namespace, jobId)?.record.CreateIndex;
  return ({ record }) => present === undefined || record.JobCreateIndex === present;
}

/** The kept versions of a job, newest first; empty when there is no such job. */
export function readJobVersions(view: ReadView, namespace: string, jobId: string): Row<Job>[] {
  const current = readJobRow(view, namespace, jobId);
  if (current === undefined) return [];
  const earlier = view.list(jobVersions, { prefix: [namespace, jobId], reverse: true });
  return [current, ...earlier];
}

/** The most allocations that one write removes. */
export const allocationsAtOnce = 16;

/** Whether the job has more allocations than one write should remove. */
export function isLargeJob(view: ReadView, { Namespace, ID }: Job): boolean {
  const own = { index: 'by_job', prefix: [Namespace, ID], limit: allocationsAtOnce + 1 };
  return view.list(allocations, own).length > allocationsAtOnce;
}

/** Removes a job with all its records except its evaluations and, for a large job, its allocations. */
export function removeJob(tx: Transaction, job: Job): void {
  const key = [job.Namespace, job.ID];
  if (!isLargeJob(tx, job)) {
    for (const { record } of tx.list(allocations, { index: 'by_job', prefix: key }))
      tx.remove(allocations, [record.ID]);
  }
  for (const { record } of tx.list(deployments, { index: 'by_job', prefix: key })) tx.remove(deployments, [record.ID]);
  tx.remove(jobs, key);
  removeAll(tx, jobVersions, key, (version) => [...key, version.Version]);
  removeAll(tx, jobSubmissions, key, (submission) => [...key, submission.Version]);
  removeAll(tx, scalingEvents, key, (event) => [...key, event.Group, event.CreateIndex]);
}

function removeAll<R>(tx: Transaction, table: Table<R>, prefix: Key, keyOf: (record: R) => Key): void {
  for (const { record } of tx.list(table, { prefix })) tx.remove(table, keyOf(record));
}

export interface WrittenRegistration {
  /** As it is stored, but for its status. */
  readonly job: Job;
  /** None for a parent of instances. */
  readonly evaluation: Evaluation | undefined;
}

/** Stores a decided registration in the caller's transaction: the job, the evaluation, the replaced version and the source. */
export function writeRegistration(
  tx: Transaction,
  registration: Registration,
  evaluationOptions: EvaluationOptions,
  source: SubmissionInput | undefined,
): WrittenRegistration {
  const apart = evaluationOptions.ownIndex === true && registration.type !== 'unchanged';
  const isEvaluated = !isLauncher(registration.job);
  const evaluation = isEvaluated && !apart ? putEvaluation(tx, registration, evaluationOptions) : undefined;
  if (registration.type === 'unchanged') return { job: registration.job, evaluation };
  const previous = registration.type === 'updated' ? registration.previous : undefined;
  const job: Job = { ...registration.job, Status: previous?.Status ?? 'pending' };
  tx.put(jobs, job);
  if (previous !== undefined) keepVersion(tx, previous, job);
  if (source !== undefined) putSubmission(tx, job, source);
  if (!apart || !isEvaluated) return { job, evaluation };
  tx.nextIndex();
  return { job, evaluation: putEvaluation(tx, { ...registration, job }, evaluationOptions) };
}

function putEvaluation(tx: Transaction, registration: Registration, options: EvaluationOptions): Evaluation {
  const evaluation = evaluationOf(tx, registration, options);
  tx.put(evaluations, evaluation);
  return evaluation;
}

/** For an unchanged job the evaluation has no JobModifyIndex, because no specification was stored with it. */
function evaluationOf(tx: Transaction, { type, job }: Registration, options: EvaluationOptions): Evaluation {
  const evaluation = newEvaluation(tx, job, options);
  if (type !== 'unchanged') return evaluation;
  const { JobModifyIndex: _, ...unnamed } = evaluation;
  return unnamed;
}

function keepVersion(tx: Transaction, previous: Job, current: Job): void {
  tx.put(jobVersions, previous);
  const tracked = tx.settings.jobs.trackedVersions;
  const prefix = [current.Namespace, current.ID];
  const earlier = tx.list(jobVersions, { prefix, reverse: true });
  if (earlier.length < tracked) return;
  const versions = [current, ...earlier.map((row) => row.record)];
  for (const version of prunedVersions(versions, tracked, (version) => isInUse(tx, current, version))) {
    tx.remove(jobVersions, [...prefix, version]);
  }
}

function isInUse(tx: Transaction, { Namespace, ID }: Job, version: number): boolean {
  return tx.list(allocations, { index: 'live_by_job', prefix: [Namespace, ID, version], limit: 1 }).length > 0;
}

function putSubmission(tx: Transaction, job: Job, { Source, Format, VariableFlags, Variables }: SubmissionInput): void {
  const { Namespace, ID: JobID, Version, JobModifyIndex } = job;
  const submission: JobSubmission = {
    Source,
    Format,
    VariableFlags: VariableFlags !== null && Object.keys(VariableFlags).length > 0 ? VariableFlags : null,
    Variables,
    Namespace,
    JobID,
    Version,
    JobModifyIndex,
  };
  tx.put(jobSubmissions, submission);
  const kept = tx.list(jobSubmissions, { prefix: [Namespace, JobID] }).map((row) => row.record);
  for (const { Version: version } of prunedSubmissions(kept, tx.settings.jobs.trackedVersions)) {
    tx.remove(jobSubmissions, [Namespace, JobID, version]);
  }
}
