import { declarations } from '../../functions/declaration.js';
import type { Job, JobStatus } from '../../jobs/document/job.js';
import { isLauncher, jobs } from '../../jobs/job-record.js';
import { scheduleLaunches } from '../../jobs/periodic/decide-launch.js';
import { periodicLaunches } from '../../jobs/periodic/periodic-launch.js';
import { endedRuns, type RunOutcome, runOutcome } from '../../jobs/runs/job-run.js';
import { jobStatusOf } from '../../jobs/status/job-status.js';
import {
  type JobSummary,
  jobListStub,
  jobStubs,
  jobSummaries,
  newSummary,
  type OwnStubMembers,
  withAllocation,
  withChild,
  withGroupsOf,
  withQueued,
} from '../../jobs/status/job-summary.js';
import type { ReadView, WriteView } from '../../ports/storage.js';
import { type Allocation, allocations } from '../../scheduler/allocation.js';
import { deployments } from '../../scheduler/deployment/deployment.js';
import { type Evaluation, evaluations } from '../../scheduler/evaluation.js';
import { isoFromInstant } from '../../shared/instant.js';
import type { Key } from '../../shared/table.js';
import { readAllocationsOfRun } from '../records/jobs/job-allocations.js';
import type { Transaction } from '../write-transaction.js';
import type { Changes, Reaction, RowChange } from './reaction.js';

/** Whether the change is a registration: a new job, or a new specification. */
export function isRegistered({ before, after }: RowChange<Job>): boolean {
  return (
    after !== undefined &&
    (before === undefined || before.CreateIndex !== after.CreateIndex || before.JobModifyIndex !== after.JobModifyIndex)
  );
}

/** The changes of a write that concern one job. */
export interface TouchedJob {
  readonly namespace: string;
  readonly jobId: string;
  /** Undefined when the row of the job is unchanged. */
  job: RowChange<Job> | undefined;
  readonly evaluations: RowChange<Evaluation>[];
  readonly allocations: RowChange<Allocation>[];
}

export function touchedJobs(changes: Changes): Iterable<TouchedJob> {
  const touched = new Map<string, TouchedJob>();
  const at = (namespace: string, jobId: string): TouchedJob => {
    const key = `${namespace}\u0000${jobId}`;
    const known = touched.get(key) ?? { namespace, jobId, job: undefined, evaluations: [], allocations: [] };
    touched.set(key, known);
    return known;
  };
  for (const change of changes.of(jobs)) at(change.row.Namespace, change.row.ID).job = change;
  for (const change of changes.of(allocations)) at(change.row.Namespace, change.row.JobID).allocations.push(change);
  for (const change of changes.of(evaluations)) at(change.row.Namespace, change.row.JobID).evaluations.push(change);
  return touched.values();
}

/** The counters of a job's allocations in its summary, and its status. */
export const jobProgressReaction: Reaction = {
  tables: [jobs, evaluations, allocations],
  react: (tx, changes) => {
    for (const touched of touchedJobs(changes)) {
      followSummary(tx, changes, touched);
      followStatus(tx, changes, touched);
    }
  },
};

function followSummary(tx: Transaction, changes: Changes, touched: TouchedJob): void {
  const { namespace, jobId, job } = touched;
  const key = [namespace, jobId];
  const stored = changes.latest(tx, jobSummaries, key);
  if (job !== undefined && job.after === undefined) tx.remove(jobSummaries, key);
  else if (stored !== undefined) putSummary(tx, stored, counted(stored, touched));
  else if (job?.after !== undefined) tx.put(jobSummaries, counted(firstSummary(tx, job.after), touched));
}

function counted(before: JobSummary, touched: TouchedJob): JobSummary {
  const job = touched.job?.after;
  let summary = job === undefined ? before : withGroupsOf(before, job);
  for (const { before: was, after } of touched.allocations) {
    if (after?.JobCreateIndex === before.CreateIndex) summary = withAllocation(summary, was?.ClientStatus, after);
  }
  for (const { after } of touched.evaluations) {
    // What a canceled one found is outdated.
    if (after?.QueuedAllocations === undefined || after.Status === 'canceled') continue;
    summary = withQueued(summary, after.QueuedAllocations);
  }
  return summary;
}

/** A purged parent that is registered again regains its children. */
function firstSummary(tx: Transaction, job: Job): JobSummary {
  const summary = newSummary(job, tx.index);
  if (!isLauncher(job)) return summary;
  const children = tx.list(jobs, { index: 'by_parent', prefix: [summary.Namespace, summary.JobID] });
  return children.reduce((all, { record }) => withChild(all, undefined, record.Status), summary);
}

function putSummary(tx: Transaction, before: JobSummary, after: JobSummary): void {
  if (after !== before) tx.put(jobSummaries, { ...after, ModifyIndex: tx.index });
}

/** A change of the status raises the job's ModifyIndex, and not its JobModifyIndex. */
function followStatus(tx: Transaction, changes: Changes, touched: TouchedJob): void {
  const { namespace, jobId } = touched;
  const job = changes.latest(tx, jobs, [namespace, jobId]);
  if (job === undefined) return;
  const before = touched.job === undefined ? job.Status : touched.job.before?.Status;
  const status = statusOf(tx, job, touched);
  if (status !== job.Status) tx.put(jobs, { ...job, Status: status, ModifyIndex: tx.index });
  if (status !== before) tx.emit('job.status', { namespace, jobId, status, index: tx.index });
}

/** The status of a new job depends only on its evaluation: nothing else is stored of it. */
function statusOf(
  view: ReadView,
  job: Job,
  { job: change, evaluations: own, allocations: placed }: TouchedJob,
): JobStatus {
  const isNew = change !== undefined && change.before === undefined;
  if (isNew && own.length > 0 && placed.length === 0 && job.Type !== 'system' && !isLauncher(job)) return 'pending';
  const prefix = [job.Namespace, job.ID];
  // A job without other live rows is dead, even if none of its evaluations is left.
  const wasEvaluated = own.some(({ after }) => after === undefined);
  return jobStatusOf(job, {
    hasActiveDeployment: () => view.list(deployments, { index: 'active', prefix, limit: 1 }).length > 0,
    hasLiveAllocation: () => view.list(allocations, { index: 'live_by_job', prefix, limit: 1 }).length > 0,
    hasOpenEvaluation: () => view.list(evaluations, { index: 'open_by_job', prefix, limit: 1 }).length > 0,
    hasAnyEvaluation: () => wasEvaluated || view.list(evaluations, { index: 'by_job', prefix, limit: 1 }).length > 0,
  });
}

/** Counters of instances in the summary of their parent, if it exists. A removed instance counts as dead. */
export const parentsReaction: Reaction = {
  tables: [jobs],
  react: (tx, changes) => {
    for (const { before, after, row } of changes.of(jobs)) {
      const { Namespace, ParentID } = row;
      const status = after?.Status ?? 'dead';
      if (ParentID === '' || before?.Status === status) continue;
      const summary = changes.latest(tx, jobSummaries, [Namespace, ParentID]);
      if (summary !== undefined) putSummary(tx, summary, withChild(summary, before?.Status, status));
    }
  },
};

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
  tables: [jobs, jobSummaries, endedRuns, periodicLaunches],
  react: (tx, changes) => {
    const lastChange = Math.max(
      ...[jobs, jobSummaries].map((table) => changes.indexBefore(table) ?? tx.tableIndex(table)),
    );
    if (tx.tableIndex(jobStubs) < lastChange) return completeStubs(tx);
    const keys = new Map<string, Key>();
    for (const { row } of changes.of(jobs)) note(keys, jobs.key(row));
    for (const { row } of changes.of(jobSummaries)) note(keys, jobSummaries.key(row));
    for (const { row } of changes.of(periodicLaunches)) note(keys, periodicLaunches.key(row));
    for (const { row } of changes.of(endedRuns)) note(keys, [row.namespace, row.parentId]);
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
  else view.put(jobStubs, jobListStub(job, summary, false, { ...ownOutcome(view, job), ...readLaunches(view, job) }));
}

function ownOutcome(view: WriteView, job: Job): OwnStubMembers {
  const outcome = outcomeOf(view, job);
  return outcome === undefined ? {} : { Outcome: outcome };
}

/** The last and the next launch of a job that launches others. */
export function readLaunches(view: ReadView, job: Job): OwnStubMembers {
  if (!isLauncher(job)) return {};
  const key = [job.Namespace, job.ID];
  const last = view.list(endedRuns, { prefix: key, reverse: true, limit: 1 })[0]?.record;
  const next = job.Periodic === null ? undefined : view.get(periodicLaunches, key)?.record;
  return {
    ...(last && { LastRun: { ID: last.jobId, Outcome: last.outcome, EndedAt: isoFromInstant(last.endedAt) } }),
    ...(next && { NextLaunch: isoFromInstant(next.dueAt) }),
  };
}

/**
 * The outcome is decided once, by the write that makes the job dead: neither later reports of a stopped job's allocations, nor their
 * removal, nor a stop of an ended job change it.
 */
function outcomeOf(view: ReadView, job: Job): RunOutcome | undefined {
  if (job.Status !== 'dead' && !job.Stop) return undefined;
  const before = view.get(jobStubs, [job.Namespace, job.ID])?.record;
  const decided = before?.CreateIndex === job.CreateIndex ? before.Outcome : undefined;
  if (decided !== undefined || job.Status !== 'dead') return decided;
  return runOutcome(job, allocationsThatRan(view, job));
}

/** Those of the registration that ran last: a stop is a separate version, in which nothing runs. */
export function allocationsThatRan(view: ReadView, job: Job): readonly Allocation[] {
  return readAllocationsOfRun(view, job.Stop ? { ...job, Version: job.Version - 1 } : job);
}

/** The outcome of a job that is dead, as lists show it. */
export function readOutcome(view: ReadView, { Namespace, ID, Status }: Job): RunOutcome | undefined {
  return Status === 'dead' ? view.get(jobStubs, [Namespace, ID])?.record.Outcome : undefined;
}

/** The next launch of a job that was registered: launches count from now on, or end. A function is launched by its schedules. */
export const launchesReaction: Reaction = {
  tables: [jobs],
  react: (tx, changes) => {
    for (const change of changes.of(jobs)) {
      const { before, after } = change;
      if (after !== undefined && !isRegistered(change)) continue;
      const next = after === undefined ? undefined : scheduleLaunches(after, tx.now);
      if (next !== undefined && !isOfFunction(tx, next)) tx.put(periodicLaunches, next);
      else if (before !== undefined) tx.remove(periodicLaunches, [before.Namespace, before.ID]);
    }
  },
};

function isOfFunction(view: ReadView, { Namespace, ID }: Pick<Job, 'Namespace' | 'ID'>): boolean {
  return view.get(declarations, [ID])?.record.namespace === Namespace;
}
