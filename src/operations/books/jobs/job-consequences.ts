import type { Job } from '../../../jobs/document/job.js';
import { jobStatusOf } from '../../../jobs/status/job-status.js';
import { withAllocation, withChild, withQueued } from '../../../jobs/status/job-summary.js';
import { type JobSummary, jobSummaries } from '../../../jobs/status/job-summary-record.js';
import { allocations } from '../../../scheduler/allocation.js';
import { deployments } from '../../../scheduler/deployment/deployment.js';
import { type Evaluation, evaluations, timeOfChange } from '../../../scheduler/evaluation.js';
import type { Transaction } from '../../commit.js';
import { putEvaluation } from '../scheduling/put-evaluation.js';
import { readJobRow } from './job-rows.js';
import { type AllocationChange, endRun, followRun } from './job-runs.js';
import { completeJobStubs, putJob, putJobStub } from './job-stub-rows.js';

/** The rows that a write has put, complete. */
interface SchedulingChanges {
  readonly evaluations?: readonly Evaluation[];
  readonly allocations?: readonly AllocationChange[];
  /** Further parts of the same plan follow. */
  readonly unfinished?: true;
}

/**
 * Applies the consequences for jobs of the evaluations and allocations that this write has put: summary counters, blocked
 * evaluations that a success makes needless, job status, the parent's counters, and run events.
 *
 * Call it once, at the end of the write: a status depends on all rows, so a write that ends an allocation and puts the
 * evaluation that replaces it must have put both.
 */
export function applyJobConsequences(tx: Transaction, changes: SchedulingChanges): void {
  for (const touched of byJob(changes).values()) {
    const { namespace, jobId } = touched;
    const summary = countChanges(tx, touched);
    const success = touched.evaluations.find(succeeded);
    if (success !== undefined) cancelBlocked(tx, success);
    const before = readJobRow(tx, namespace, jobId)?.record;
    if (before === undefined) continue;
    recomputeJobStatus(tx, namespace, jobId);
    const after = readJobRow(tx, namespace, jobId)?.record ?? before;
    const died = before.Status !== 'dead' && after.Status === 'dead';
    const unfinished = changes.unfinished === true;
    followRun(tx, { job: after, summary, changes: touched.allocations, died, unfinished });
  }
}

/**
 * Recomputes the status of a job and stores a change of it: the job's ModifyIndex rises, its JobModifyIndex does not, and
 * the child counters of its parent move.
 */
export function recomputeJobStatus(tx: Transaction, namespace: string, jobId: string): void {
  const job = readJobRow(tx, namespace, jobId)?.record;
  if (job !== undefined) putStatus(tx, job, currentStatus(tx, job));
}

/**
 * The consequences for a job of removed evaluations: without other live rows it is dead, even if it has none left, and its
 * run is canceled.
 */
export function followRemovedEvaluations(tx: Transaction, namespace: string, jobId: string): void {
  const job = readJobRow(tx, namespace, jobId)?.record;
  if (job === undefined) return;
  const status = currentStatus(tx, job, true);
  if (status === 'dead' && job.Status !== 'dead') endRun(tx, namespace, jobId);
  putStatus(tx, job, status);
}

function putStatus(tx: Transaction, job: Job, status: Job['Status']): void {
  if (status === job.Status) return;
  const { Namespace: namespace, ID: jobId } = job;
  putJob(tx, { ...job, Status: status, ModifyIndex: tx.index });
  moveChild(tx, job, job.Status, status);
  tx.emit('job.status', { namespace, jobId, status, index: tx.index });
}

/** The status of a job from the stored rows. `wasEvaluated`: it has had evaluations, even if none is stored. */
export function currentStatus(tx: Transaction, job: Job, wasEvaluated = false): Job['Status'] {
  const prefix = [job.Namespace, job.ID];
  return jobStatusOf(job, {
    hasActiveDeployment: () => tx.list(deployments, { index: 'active', prefix, limit: 1 }).length > 0,
    hasLiveAllocation: () => tx.list(allocations, { index: 'live_by_job', prefix, limit: 1 }).length > 0,
    hasOpenEvaluation: () => tx.list(evaluations, { index: 'open_by_job', prefix, limit: 1 }).length > 0,
    hasAnyEvaluation: () => wasEvaluated || tx.list(evaluations, { index: 'by_job', prefix, limit: 1 }).length > 0,
  });
}

/** Moves a child between its parent's counters, if the parent exists; `before` is undefined for a new child. */
export function moveChild(
  tx: Transaction,
  child: Pick<Job, 'Namespace' | 'ParentID'>,
  before: Job['Status'] | undefined,
  after: Job['Status'],
): void {
  if (child.ParentID === '') return;
  const summary = tx.get(jobSummaries, [child.Namespace, child.ParentID])?.record;
  if (summary !== undefined) putSummary(tx, summary, withChild(summary, before, after));
}

/** Stores a summary when it differs, and the stub of its job with it. */
export function putSummary(tx: Transaction, before: JobSummary, after: JobSummary): JobSummary {
  if (after === before) return before;
  const stored = { ...after, ModifyIndex: tx.index };
  completeJobStubs(tx);
  tx.put(jobSummaries, stored);
  const job = readJobRow(tx, stored.Namespace, stored.JobID)?.record;
  if (job !== undefined) putJobStub(tx, job, stored);
  return stored;
}

interface TouchedJob {
  readonly namespace: string;
  readonly jobId: string;
  readonly evaluations: Evaluation[];
  readonly allocations: AllocationChange[];
}

function byJob(changes: SchedulingChanges): Map<string, TouchedJob> {
  const touched = new Map<string, TouchedJob>();
  const at = (namespace: string, jobId: string): TouchedJob => {
    const key = `${namespace}\u0000${jobId}`;
    let job = touched.get(key);
    if (job === undefined) {
      job = { namespace, jobId, evaluations: [], allocations: [] };
      touched.set(key, job);
    }
    return job;
  };
  for (const change of changes.allocations ?? []) {
    at(change.after.Namespace, change.after.JobID).allocations.push(change);
  }
  for (const evaluation of changes.evaluations ?? []) {
    at(evaluation.Namespace, evaluation.JobID).evaluations.push(evaluation);
  }
  return touched;
}

function countChanges(tx: Transaction, touched: TouchedJob): JobSummary | undefined {
  const stored = tx.get(jobSummaries, [touched.namespace, touched.jobId])?.record;
  if (stored === undefined) return undefined;
  let summary = stored;
  for (const { before, after } of touched.allocations) {
    if (after.JobCreateIndex === stored.CreateIndex) summary = withAllocation(summary, before?.ClientStatus, after);
  }
  for (const evaluation of touched.evaluations) {
    if (evaluation.QueuedAllocations !== undefined) summary = withQueued(summary, evaluation.QueuedAllocations);
  }
  return putSummary(tx, stored, summary);
}

/** Whether all wanted allocations were placed. */
function succeeded(evaluation: Evaluation): boolean {
  return evaluation.Status === 'complete' && Object.keys(evaluation.FailedTGAllocs ?? {}).length === 0;
}

function cancelBlocked(tx: Transaction, { Namespace, JobID, ID }: Evaluation): void {
  const prefix = [Namespace, JobID, 'blocked'];
  for (const { record } of tx.list(evaluations, { index: 'open_by_job', prefix })) {
    const canceled: Evaluation = {
      ...record,
      Status: 'canceled',
      StatusDescription: `evaluation "${ID}" successful`,
      ModifyIndex: tx.index,
      ModifyTime: timeOfChange(record, tx.now),
    };
    putEvaluation(tx, canceled);
  }
}
