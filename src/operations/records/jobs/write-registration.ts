import { prunedVersions, type Registration } from '../../../jobs/changes/decide-registration.js';
import {
  type JobSubmission,
  jobSubmissions,
  prunedSubmissions,
  type SubmissionInput,
} from '../../../jobs/changes/submissions.js';
import type { Job } from '../../../jobs/document/job.js';
import { isLauncher, jobs, jobVersions } from '../../../jobs/job-record.js';
import { allocations } from '../../../scheduler/allocation.js';
import { type Evaluation, evaluations } from '../../../scheduler/evaluation.js';
import type { Transaction } from '../../write-transaction.js';
import { type EvaluationOptions, newEvaluation } from '../scheduling/new-evaluation.js';

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
