import { errAsync, ok, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import { jobs } from '../../jobs/job-record.js';
import {
  type ChildrenSummary,
  type GroupSummary,
  type JobSummary,
  jobSummaries,
} from '../../jobs/status/job-summary-record.js';
import type { ReadView, StorageError } from '../../ports/storage.js';
import { type Allocation, allocations } from '../../scheduler/allocation.js';
import { authoriseManagement, type PermissionDenied } from '../authorise.js';
import { putSummary } from '../books/jobs/job-consequences.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';

/**
 * Counts the summaries of all jobs anew. Totals over the life of a job (complete, failed, lost, dead instances) may be greater than what is
 * still kept, and never fall.
 */
export function reconcileSummaries(
  context: EngineContext,
  caller: Principal,
): ResultAsync<{ readonly index: number }, PermissionDenied | StorageError> {
  const allowed = authoriseManagement(caller);
  if (allowed.isErr()) return errAsync(allowed.error);
  return commit(context, caller, (tx) => {
    for (const { record } of tx.list(jobSummaries)) {
      const counted = recount(tx, record);
      if (JSON.stringify(counted) !== JSON.stringify(record)) putSummary(tx, record, counted);
    }
    return ok(undefined);
  }).map(({ index }) => ({ index }));
}

function recount(view: ReadView, summary: JobSummary): JobSummary {
  const own = view
    .list(allocations, { index: 'by_job', prefix: [summary.Namespace, summary.JobID] })
    .map(({ record }) => record)
    .filter(({ JobCreateIndex }) => JobCreateIndex === summary.CreateIndex);
  const Summary = Object.fromEntries(
    Object.entries(summary.Summary).map(([name, group]) => [
      name,
      countGroup(
        group,
        own.filter(({ TaskGroup }) => TaskGroup === name),
      ),
    ]),
  );
  return { ...summary, Summary, Children: countChildren(view, summary) };
}

function countGroup(before: GroupSummary, own: readonly Allocation[]): GroupSummary {
  const count = (status: Allocation['ClientStatus']): number =>
    own.filter(({ ClientStatus }) => ClientStatus === status).length;
  return {
    Queued: before.Queued,
    Complete: Math.max(before.Complete, count('complete')),
    Failed: Math.max(before.Failed, count('failed')),
    Running: count('running'),
    Starting: count('pending'),
    Lost: Math.max(before.Lost, count('lost')),
    Unknown: count('unknown'),
  };
}

function countChildren(view: ReadView, { Namespace, JobID, Children }: JobSummary): ChildrenSummary {
  const statuses = view
    .list(jobs, { index: 'by_parent', prefix: [Namespace, JobID] })
    .map(({ record }) => record.Status);
  const count = (status: string): number => statuses.filter((one) => one === status).length;
  return { Pending: count('pending'), Running: count('running'), Dead: Math.max(Children.Dead, count('dead')) };
}
