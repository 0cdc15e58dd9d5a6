import type { Job } from '../../jobs/document/job.js';
import { jobs } from '../../jobs/job-record.js';
import { type RunOutcome, runOutcome } from '../../jobs/runs/run-outcome.js';
import { jobListStub, jobStubs } from '../../jobs/status/job-stub.js';
import { type JobSummary, jobSummaries } from '../../jobs/status/job-summary-record.js';
import type { ReadView, WriteView } from '../../ports/storage.js';
import type { Key } from '../../shared/table.js';
import { readAllocationsOfRun } from '../books/jobs/job-allocations.js';
import type { Reaction } from './reaction.js';

/**
 * Whether every job has an up-to-date stub. Each write of a job or a summary writes the stub too, so stubs are outdated
 * only after writes of an earlier version of this software without stubs.
 */
export function hasCurrentStubs(view: ReadView): boolean {
  const stubs = view.tableIndex(jobStubs);
  return stubs >= view.tableIndex(jobs) && stubs >= view.tableIndex(jobSummaries);
}

/** The list entries of jobs. A store that was used without them gets all of them in the first write that changes a job or a summary. */
export const jobStubsReaction: Reaction = {
  tables: [jobs, jobSummaries],
  react: (tx, changes) => {
    const lastChange = Math.max(
      ...[jobs, jobSummaries].map((table) => changes.indexBefore(table) ?? tx.tableIndex(table)),
    );
    if (tx.tableIndex(jobStubs) < lastChange) return completeStubs(tx);
    const keys = new Map<string, Key>();
    for (const { row } of changes.of(jobs)) note(keys, jobs.key(row));
    for (const { row } of changes.of(jobSummaries)) note(keys, jobSummaries.key(row));
    for (const key of keys.values())
      putStub(tx, key, changes.latest(tx, jobs, key), changes.latest(tx, jobSummaries, key));
  },
};

function note(keys: Map<string, Key>, key: Key): void {
  keys.set(key.join('\u0000'), key);
}

function completeStubs(view: WriteView): void {
  const keys = [
    ...view.list(jobStubs).map(({ record }) => jobStubs.key(record)),
    ...view.list(jobs).map(({ record }) => jobs.key(record)),
  ];
  for (const key of keys) putStub(view, key, view.get(jobs, key)?.record, view.get(jobSummaries, key)?.record);
}

function putStub(view: WriteView, key: Key, job: Job | undefined, summary: JobSummary | undefined): void {
  if (job === undefined) view.remove(jobStubs, key);
  else view.put(jobStubs, jobListStub(job, summary, false, outcomeOf(view, job)));
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
