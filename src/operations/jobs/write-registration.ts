import type { Registration } from '../../jobs/decide-registration.js';
import type { Job } from '../../jobs/document/job.js';
import { isLauncher, jobs, jobVersions } from '../../jobs/job-record.js';
import { type JobSubmission, jobSubmissions, type SubmissionInput } from '../../jobs/job-submission.js';
import { newSummary, withGroupsOf } from '../../jobs/job-summary.js';
import { jobSummaries } from '../../jobs/job-summary-record.js';
import { prunedSubmissions } from '../../jobs/submissions.js';
import { prunedVersions } from '../../jobs/versions.js';
import type { WriteView } from '../../ports/storage.js';
import type { Evaluation } from '../../scheduler/evaluation.js';
import type { ConsequenceEnvironment } from '../shared/consequence-environment.js';
import type { Fact } from '../shared/facts.js';
import { currentStatus, moveChild, putSummary, recomputeJobStatus } from '../shared/job-consequences.js';
import { beginRun } from '../shared/job-runs.js';
import { type EvaluationOptions, newEvaluation } from '../shared/new-evaluation.js';
import { putEvaluation } from '../shared/put-evaluation.js';

export interface WrittenRegistration {
  /** The row as stored. */
  readonly job: Job;
  /** None for a parent of instances. */
  readonly evaluation: Evaluation | undefined;
  readonly facts: readonly Fact[];
}

/**
 * Stores what was decided about a job, with everything that belongs to it, in the caller's transaction: the evaluation,
 * the version that it replaces, the source, the summary, its status and its run.
 */
export function writeRegistration(
  view: WriteView,
  environment: ConsequenceEnvironment,
  registration: Registration,
  evaluationOptions: EvaluationOptions,
  source: SubmissionInput | undefined,
): WrittenRegistration {
  const decided = registration.job;
  const evaluation = isLauncher(decided) ? undefined : newEvaluation(view, environment, decided, evaluationOptions);
  if (evaluation !== undefined) putEvaluation(view, evaluation, '');
  if (registration.type === 'unchanged') {
    // A parent has no evaluations: nothing at all is written for it.
    const facts = evaluation === undefined ? [] : recomputeJobStatus(view, environment, decided.Namespace, decided.ID);
    return { job: decided, evaluation, facts };
  }
  const previous = registration.type === 'updated' ? registration.previous : undefined;
  // The evaluation is already there, so that the job is stored once, with the status that it has at the end of the write.
  const job: Job = { ...decided, Status: statusAfter(view, registration, evaluation) };
  view.put(jobs, job);
  if (previous !== undefined) keepVersion(view, environment, previous, job);
  if (source !== undefined) putSubmission(view, environment, job, source);
  countGroups(view, job);
  if (previous?.Status !== job.Status) moveChild(view, job, previous?.Status, job.Status);
  return { job, evaluation, facts: [...statusFacts(view, previous, job), ...beginRun(view, environment, job)] };
}

/** Nothing is there of a new job but its evaluation. */
function statusAfter(view: WriteView, { type, job }: Registration, evaluation: Evaluation | undefined): Job['Status'] {
  return type === 'created' && evaluation !== undefined && job.Type !== 'system' ? 'pending' : currentStatus(view, job);
}

function keepVersion(view: WriteView, environment: ConsequenceEnvironment, previous: Job, current: Job): void {
  view.put(jobVersions, previous);
  const tracked = environment.settings.jobs.trackedVersions;
  const prefix = [current.Namespace, current.ID];
  const earlier = view.list(jobVersions, { prefix, reverse: true });
  if (earlier.length < tracked) return;
  const versions = [current, ...earlier.map((row) => row.record)];
  for (const version of prunedVersions(versions, tracked)) view.remove(jobVersions, [...prefix, version]);
}

function putSubmission(
  view: WriteView,
  environment: ConsequenceEnvironment,
  job: Job,
  { Source, Format, VariableFlags, Variables }: SubmissionInput,
): void {
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
  view.put(jobSubmissions, submission);
  const kept = view.list(jobSubmissions, { prefix: [Namespace, JobID] }).map((row) => row.record);
  for (const { Version: version } of prunedSubmissions(kept, environment.settings.jobs.trackedVersions)) {
    view.remove(jobSubmissions, [Namespace, JobID, version]);
  }
}

function countGroups(view: WriteView, job: Job): void {
  const summary = view.get(jobSummaries, [job.Namespace, job.ID])?.record;
  if (summary === undefined) view.put(jobSummaries, newSummary(job, view.index));
  else putSummary(view, summary, withGroupsOf(summary, job));
}

function statusFacts(view: WriteView, previous: Job | undefined, job: Job): Fact[] {
  if (previous?.Status === job.Status) return [];
  const { Namespace: namespace, ID: jobId, Status: status } = job;
  return [{ name: 'job.status', fact: { namespace, jobId, status, index: view.index } }];
}
