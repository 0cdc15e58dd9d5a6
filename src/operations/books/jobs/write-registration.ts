import type { Registration } from '../../../jobs/changes/decide-registration.js';
import { type JobSubmission, jobSubmissions, type SubmissionInput } from '../../../jobs/changes/job-submission.js';
import { prunedSubmissions } from '../../../jobs/changes/submissions.js';
import { prunedVersions } from '../../../jobs/changes/versions.js';
import type { Job } from '../../../jobs/document/job.js';
import { isLauncher, jobs, jobVersions } from '../../../jobs/job-record.js';
import { newSummary, withChild, withGroupsOf } from '../../../jobs/status/job-summary.js';
import { type JobSummary, jobSummaries } from '../../../jobs/status/job-summary-record.js';
import { allocations } from '../../../scheduler/allocation.js';
import type { Evaluation } from '../../../scheduler/evaluation.js';
import type { Transaction } from '../../commit.js';
import { type EvaluationOptions, newEvaluation } from '../scheduling/new-evaluation.js';
import { putEvaluation } from '../scheduling/put-evaluation.js';
import { currentStatus, moveChild, putSummary, recomputeJobStatus } from './job-consequences.js';
import { beginRun } from './job-runs.js';
import { completeJobStubs, putJobStub } from './job-stub-rows.js';
import { followSchedule } from './periodic-launches.js';

export interface WrittenRegistration {
  /** The stored row. */
  readonly job: Job;
  /** None for a parent of instances. */
  readonly evaluation: Evaluation | undefined;
}

/**
 * Stores a decided registration in the caller's transaction: the job, the evaluation,
 * the replaced version, the source, the summary, status and run.
 */
export function writeRegistration(
  tx: Transaction,
  registration: Registration,
  evaluationOptions: EvaluationOptions,
  source: SubmissionInput | undefined,
): WrittenRegistration {
  const decided = registration.job;
  const apart = evaluationOptions.ownIndex === true;
  const evaluation = isLauncher(decided) || apart ? undefined : evaluationOf(tx, registration, evaluationOptions);
  if (evaluation !== undefined) putEvaluation(tx, evaluation);
  if (registration.type === 'unchanged') {
    // A parent has no evaluations: nothing is written for it.
    if (evaluation !== undefined) recomputeJobStatus(tx, decided.Namespace, decided.ID);
    return { job: decided, evaluation };
  }
  const previous = registration.type === 'updated' ? registration.previous : undefined;
  // The evaluation is stored first, so that the job is stored once, with its final status.
  const job: Job = { ...decided, Status: statusAfter(tx, registration, evaluation) };
  completeJobStubs(tx);
  tx.put(jobs, job);
  if (previous !== undefined) keepVersion(tx, previous, job);
  if (source !== undefined) putSubmission(tx, job, source);
  putJobStub(tx, job, countGroups(tx, job));
  followStatus(tx, job, previous?.Status);
  followSchedule(tx, job);
  beginRun(tx, job);
  return { job, evaluation: apart ? evaluateAfter(tx, job, evaluationOptions) : evaluation };
}

function evaluateAfter(tx: Transaction, job: Job, options: EvaluationOptions): Evaluation | undefined {
  if (isLauncher(job)) return undefined;
  tx.nextIndex();
  const evaluation = newEvaluation(tx, job, options);
  putEvaluation(tx, evaluation);
  recomputeJobStatus(tx, job.Namespace, job.ID);
  return evaluation;
}

/** For an unchanged job the evaluation has no JobModifyIndex, because no specification was stored with it. */
function evaluationOf(tx: Transaction, { type, job }: Registration, options: EvaluationOptions): Evaluation {
  const evaluation = newEvaluation(tx, job, options);
  if (type !== 'unchanged') return evaluation;
  const { JobModifyIndex: _, ...unnamed } = evaluation;
  return unnamed;
}

/** The status of a new job depends only on its evaluation: nothing else is stored of it. */
function statusAfter(tx: Transaction, { type, job }: Registration, evaluation: Evaluation | undefined): Job['Status'] {
  return type === 'created' && evaluation !== undefined && job.Type !== 'system' ? 'pending' : currentStatus(tx, job);
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

function countGroups(tx: Transaction, job: Job): JobSummary {
  const summary = tx.get(jobSummaries, [job.Namespace, job.ID])?.record;
  if (summary !== undefined) return putSummary(tx, summary, withGroupsOf(summary, job));
  const first = withPresentChildren(tx, job, newSummary(job, tx.index));
  tx.put(jobSummaries, first);
  return first;
}

/** A purged parent that is registered again regains its children. */
function withPresentChildren(tx: Transaction, job: Job, summary: JobSummary): JobSummary {
  if (!isLauncher(job)) return summary;
  const children = tx.list(jobs, { index: 'by_parent', prefix: [summary.Namespace, summary.JobID] });
  return children.reduce((counted, { record }) => withChild(counted, undefined, record.Status), summary);
}

function tellStatus(tx: Transaction, { Namespace: namespace, ID: jobId, Status: status }: Job): void {
  tx.emit('job.status', { namespace, jobId, status, index: tx.index });
}

function followStatus(tx: Transaction, job: Job, before: Job['Status'] | undefined): void {
  if (before === job.Status) return;
  moveChild(tx, job, before, job.Status);
  tellStatus(tx, job);
}
