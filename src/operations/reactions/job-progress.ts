import type { Job, JobStatus } from '../../jobs/document/job.js';
import { isLauncher, jobs } from '../../jobs/job-record.js';
import { jobStatusOf } from '../../jobs/status/job-status.js';
import { newSummary, withAllocation, withChild, withGroupsOf, withQueued } from '../../jobs/status/job-summary.js';
import { type JobSummary, jobSummaries } from '../../jobs/status/job-summary-record.js';
import type { ReadView } from '../../ports/storage.js';
import { type Allocation, allocations } from '../../scheduler/allocation.js';
import { deployments } from '../../scheduler/deployment/deployment.js';
import { type Evaluation, evaluations, timeOfChange } from '../../scheduler/evaluation.js';
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
  readonly job: RowChange<Job> | undefined;
  readonly evaluations: readonly RowChange<Evaluation>[];
  readonly allocations: readonly RowChange<Allocation>[];
}

export function touchedJobs(changes: Changes): Iterable<TouchedJob> {
  const touched = new Map<string, OpenTouchedJob>();
  const at = (namespace: string, jobId: string): OpenTouchedJob => {
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

interface OpenTouchedJob extends TouchedJob {
  job: RowChange<Job> | undefined;
  readonly evaluations: RowChange<Evaluation>[];
  readonly allocations: RowChange<Allocation>[];
}

const tablesOfJobs = [jobs, evaluations, allocations];

/** Counters of allocations in the summary of their job. */
export const summariesReaction: Reaction = {
  tables: tablesOfJobs,
  react: (tx, changes) => {
    for (const touched of touchedJobs(changes)) {
      const { namespace, jobId, job } = touched;
      const stored = changes.latest(tx, jobSummaries, [namespace, jobId]);
      if (job !== undefined && job.after === undefined) tx.remove(jobSummaries, [namespace, jobId]);
      else if (stored !== undefined) putSummary(tx, stored, counted(stored, touched));
      else if (job?.after !== undefined) tx.put(jobSummaries, counted(firstSummary(tx, job.after), touched));
    }
  },
};

function counted(before: JobSummary, touched: TouchedJob): JobSummary {
  const job = touched.job?.after;
  let summary = job === undefined ? before : withGroupsOf(before, job);
  for (const { before: was, after } of touched.allocations) {
    if (after?.JobCreateIndex === before.CreateIndex) summary = withAllocation(summary, was?.ClientStatus, after);
  }
  for (const { after } of touched.evaluations) {
    if (after?.QueuedAllocations !== undefined) summary = withQueued(summary, after.QueuedAllocations);
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

/** An evaluation that placed all that was wanted makes blocked ones of its job needless. */
export const needlessEvaluationsReaction: Reaction = {
  tables: [evaluations],
  react: (tx, changes) => {
    for (const { before, after } of changes.of(evaluations)) {
      if (after === undefined || before?.Status === 'complete' || !hasPlacedAll(after)) continue;
      const { ID, Namespace, JobID } = after;
      const query = { index: 'open_by_job', prefix: [Namespace, JobID, 'blocked'] };
      for (const { record } of tx.list(evaluations, query)) {
        tx.put(evaluations, {
          ...record,
          Status: 'canceled',
          StatusDescription: `evaluation "${ID}" successful`,
          ModifyIndex: tx.index,
          ModifyTime: timeOfChange(record, tx.now),
        });
      }
    }
  },
};

function hasPlacedAll({ Status, FailedTGAllocs = {} }: Evaluation): boolean {
  return Status === 'complete' && Object.keys(FailedTGAllocs).length === 0;
}

/** The status of a job. A change of it raises the job's ModifyIndex, and not its JobModifyIndex. */
export const jobStatusReaction: Reaction = {
  tables: tablesOfJobs,
  react: (tx, changes) => {
    for (const touched of touchedJobs(changes)) {
      const { namespace, jobId } = touched;
      const job = changes.latest(tx, jobs, [namespace, jobId]);
      if (job === undefined) continue;
      const before = touched.job === undefined ? job.Status : touched.job.before?.Status;
      const status = statusOf(tx, job, touched);
      if (status !== job.Status) tx.put(jobs, { ...job, Status: status, ModifyIndex: tx.index });
      if (status !== before) tx.emit('job.status', { namespace, jobId, status, index: tx.index });
    }
  },
};

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
