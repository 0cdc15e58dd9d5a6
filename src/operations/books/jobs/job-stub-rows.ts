import type { Job } from '../../../jobs/document/job.js';
import { jobs, jobVersions } from '../../../jobs/job-record.js';
import { type RunOutcome, runOutcome } from '../../../jobs/runs/run-outcome.js';
import { jobListStub, jobStubs } from '../../../jobs/status/job-stub.js';
import { type JobSummary, jobSummaries } from '../../../jobs/status/job-summary-record.js';
import type { ReadView, WriteView } from '../../../ports/storage.js';
import { readAllocationsOfRun } from './job-allocations.js';

/**
 * Whether every job has an up-to-date stub. Each write of a job or a summary writes the stub too, so stubs are outdated
 * only after writes of an earlier version of this software without stubs.
 */
export function hasCurrentStubs(view: ReadView): boolean {
  const stubs = view.tableIndex(jobStubs);
  return stubs >= view.tableIndex(jobs) && stubs >= view.tableIndex(jobSummaries);
}

/**
 * Updates outdated stubs. Every write that changes a job or a summary begins with it;
 * it reads all jobs in the first such write on a store that was used without stubs, and none later.
 */
export function completeJobStubs(view: WriteView): void {
  if (hasCurrentStubs(view)) return;
  // The write has already changed a job: it began with this function too, and puts the stub after the job.
  if (view.tableIndex(jobs) === view.index || view.tableIndex(jobSummaries) === view.index) return;
  for (const { record } of view.list(jobStubs)) {
    const key = [record.Namespace, record.ID];
    if (view.get(jobs, key) === undefined) view.remove(jobStubs, key);
  }
  for (const { record } of view.list(jobs)) {
    putJobStub(view, record, view.get(jobSummaries, [record.Namespace, record.ID])?.record);
  }
}

/** Stores the current version of a job that has its summary already, with its stub. */
export function putJob(view: WriteView, job: Job): void {
  completeJobStubs(view);
  view.put(jobs, job);
  putJobStub(view, job, view.get(jobSummaries, [job.Namespace, job.ID])?.record);
}

/** Overwrites a version of a job. */
export function putJobVersion(view: WriteView, version: Job, isCurrent: boolean): void {
  if (isCurrent) putJob(view, version);
  else view.put(jobVersions, version);
}

/** Stores the list entry of a job; `summary` is that of the job. Called after every write of either. */
export function putJobStub(view: WriteView, job: Job, summary: JobSummary | undefined): void {
  view.put(jobStubs, jobListStub(job, summary, false, outcomeOf(view, job)));
}

/**
 * The outcome is decided once, by the write that makes the job dead: neither later reports of a stopped job's allocations, nor their
 * removal, nor a stop of an ended job change it.
 */
function outcomeOf(view: WriteView, job: Job): RunOutcome | undefined {
  if (job.Status !== 'dead' && !job.Stop) return undefined;
  const before = view.get(jobStubs, [job.Namespace, job.ID])?.record;
  const decided = before?.CreateIndex === job.CreateIndex ? before.Outcome : undefined;
  if (decided !== undefined || job.Status !== 'dead') return decided;
  // A stop is a separate version, in which nothing runs.
  const ran = job.Stop ? { ...job, Version: job.Version - 1 } : job;
  return runOutcome(job, readAllocationsOfRun(view, ran));
}

/** The outcome of a job that is dead, as lists show it. */
export function readOutcome(view: ReadView, { Namespace, ID, Status }: Job): RunOutcome | undefined {
  return Status === 'dead' ? view.get(jobStubs, [Namespace, ID])?.record.Outcome : undefined;
}

export function removeJobStub(view: WriteView, { Namespace, ID }: Pick<Job, 'Namespace' | 'ID'>): void {
  view.remove(jobStubs, [Namespace, ID]);
}
