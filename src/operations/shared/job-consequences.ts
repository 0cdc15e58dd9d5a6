import type { Job } from '../../jobs/document/job.js';
import { jobs } from '../../jobs/job-record.js';
import { jobStatusOf } from '../../jobs/job-status.js';
import { withAllocation, withChild, withQueued } from '../../jobs/job-summary.js';
import { type JobSummary, jobSummaries } from '../../jobs/job-summary-record.js';
import type { WriteView } from '../../ports/storage.js';
import { type Allocation, allocations } from '../../scheduler/allocation.js';
import { type Evaluation, evaluations } from '../../scheduler/evaluation.js';
import { unixNanosFromInstant } from '../../shared/instant.js';
import type { ConsequenceEnvironment } from './consequence-environment.js';
import type { Fact } from './facts.js';
import { type AllocationChange, followRun } from './job-runs.js';
import { readJobRow } from './job-store.js';
import { putEvaluation } from './put-evaluation.js';

export type { ConsequenceEnvironment } from './consequence-environment.js';

/** What a write has put, after all of it has been put. */
export interface SchedulingChanges {
  readonly evaluations?: readonly Evaluation[];
  readonly allocations?: readonly AllocationChange[];
}

/**
 * Everything that follows for jobs from evaluations and allocations that this write has put: summary counters, blocked
 * evaluations that a success makes needless, job status, the parent's counters, and run events.
 *
 * Call it once, at the end of the write: a status looks at all rows, so a write that ends an allocation and puts the
 * evaluation that replaces it must have put both. Gives the facts to emit after the commit.
 */
export function applyJobConsequences(
  view: WriteView,
  environment: ConsequenceEnvironment,
  changes: SchedulingChanges,
): Fact[] {
  const facts: Fact[] = [];
  for (const touched of byJob(changes).values()) {
    const { namespace, jobId } = touched;
    const summary = countChanges(view, touched);
    if (touched.evaluations.some(succeeded)) cancelBlocked(view, environment, namespace, jobId);
    const before = readJobRow(view, namespace, jobId)?.record;
    if (before === undefined) continue;
    facts.push(...recomputeJobStatus(view, environment, namespace, jobId));
    const after = readJobRow(view, namespace, jobId)?.record ?? before;
    const died = before.Status !== 'dead' && after.Status === 'dead';
    facts.push(...followRun(view, environment, after, summary, touched.allocations, died));
  }
  return facts;
}

/** `applyJobConsequences` for one evaluation that is the only thing the write has put. */
export function afterEvaluationWrite(
  view: WriteView,
  environment: ConsequenceEnvironment,
  evaluation: Evaluation,
): Fact[] {
  return applyJobConsequences(view, environment, { evaluations: [evaluation] });
}

/** `applyJobConsequences` for one allocation that is the only thing the write has put. */
export function afterAllocationWrite(
  view: WriteView,
  environment: ConsequenceEnvironment,
  before: Allocation | undefined,
  after: Allocation,
): Fact[] {
  return applyJobConsequences(view, environment, { allocations: [{ before, after }] });
}

/**
 * Recomputes the status of a job and stores a change of it: the job's ModifyIndex rises, its JobModifyIndex does not, and
 * the child counters of its parent move.
 */
export function recomputeJobStatus(
  view: WriteView,
  _environment: ConsequenceEnvironment,
  namespace: string,
  jobId: string,
): Fact[] {
  const job = readJobRow(view, namespace, jobId)?.record;
  if (job === undefined) return [];
  const status = currentStatus(view, job);
  if (status === job.Status) return [];
  view.put(jobs, { ...job, Status: status, ModifyIndex: view.index });
  moveChild(view, job, job.Status, status);
  return [{ name: 'job.status', fact: { namespace, jobId, status, index: view.index } }];
}

/** The status that the stored rows give a job now. */
export function currentStatus(view: WriteView, job: Job): Job['Status'] {
  const prefix = [job.Namespace, job.ID];
  return jobStatusOf(job, {
    hasLiveAllocation: () => view.list(allocations, { index: 'live_by_job', prefix, limit: 1 }).length > 0,
    hasOpenEvaluation: () => view.list(evaluations, { index: 'open_by_job', prefix, limit: 1 }).length > 0,
    hasAnyEvaluation: () => view.list(evaluations, { index: 'by_job', prefix, limit: 1 }).length > 0,
  });
}

/** Moves a child between its parent's counters; `before` is undefined for a new child. Nothing when the parent is gone. */
export function moveChild(
  view: WriteView,
  child: Pick<Job, 'Namespace' | 'ParentID'>,
  before: Job['Status'] | undefined,
  after: Job['Status'],
): void {
  if (child.ParentID === '') return;
  const summary = view.get(jobSummaries, [child.Namespace, child.ParentID])?.record;
  if (summary !== undefined) putSummary(view, summary, withChild(summary, before, after));
}

/** Stores a summary when it differs. */
export function putSummary(view: WriteView, before: JobSummary, after: JobSummary): JobSummary {
  if (after === before) return before;
  const stored = { ...after, ModifyIndex: view.index };
  view.put(jobSummaries, stored);
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

function countChanges(view: WriteView, touched: TouchedJob): JobSummary | undefined {
  const stored = view.get(jobSummaries, [touched.namespace, touched.jobId])?.record;
  if (stored === undefined) return undefined;
  let summary = stored;
  for (const { before, after } of touched.allocations) {
    if (after.JobCreateIndex === stored.CreateIndex) summary = withAllocation(summary, before?.ClientStatus, after);
  }
  for (const evaluation of touched.evaluations) {
    if (evaluation.QueuedAllocations !== undefined) summary = withQueued(summary, evaluation.QueuedAllocations);
  }
  return putSummary(view, stored, summary);
}

/** Everything that the job wanted had a place. */
function succeeded(evaluation: Evaluation): boolean {
  return evaluation.Status === 'complete' && Object.keys(evaluation.FailedTGAllocs ?? {}).length === 0;
}

function cancelBlocked(view: WriteView, environment: ConsequenceEnvironment, namespace: string, jobId: string): void {
  const prefix = [namespace, jobId, 'blocked'];
  for (const { record } of view.list(evaluations, { index: 'open_by_job', prefix })) {
    const canceled: Evaluation = {
      ...record,
      Status: 'canceled',
      StatusDescription: 'A newer evaluation of the job placed everything',
      ModifyIndex: view.index,
      ModifyTime: modifyTime(record, environment),
    };
    putEvaluation(view, canceled, '');
  }
}

/** Always after the creation, even when the clock stood still. */
function modifyTime(evaluation: Evaluation, environment: ConsequenceEnvironment): number {
  const now = unixNanosFromInstant(environment.now);
  return now > evaluation.CreateTime ? now : evaluation.CreateTime + 1;
}
