import type { Job } from '../../jobs/document/job.js';
import type { ReadView } from '../../ports/storage.js';
import { type Allocation, allocations } from '../../scheduler/allocation.js';
import { isRemembered } from '../../scheduler/snapshot.js';
import type { Key } from '../../shared/table.js';

/** The parts of a job that say which of its allocations still matter. */
export type JobOfAllocations = Pick<Job, 'Namespace' | 'ID' | 'Version' | 'CreateIndex' | 'Type' | 'TaskGroups'>;

/**
 * A job's allocations that still matter, by ID: those that their nodes have not finished with, and of the ended ones those that were
 * not replaced, as far as decisions look at them. How many allocations the job has had in all does not matter.
 * `nodes`: how many nodes there are at most.
 */
export function readCurrentAllocations(
  view: ReadView,
  {
    namespace,
    jobId,
    job,
  }: { readonly namespace: string; readonly jobId: string; readonly job: JobOfAllocations | undefined },
  nodes: number,
): Allocation[] {
  const read = (state: string, rest: Key = [], limit?: number): Allocation[] => {
    const prefix = [namespace, jobId, state, ...rest];
    return view
      .list(allocations, { index: 'current_by_job', prefix, ...(limit === undefined ? {} : { limit }) })
      .map(({ record }) => record);
  };
  const open = read('open');
  if (job === undefined) return open;
  const count = wanted(job, nodes);
  // A batch job does not repeat what it has completed in this version, so each of those allocations counts.
  const complete =
    job.Type === 'batch'
      ? read('complete', [-job.Version])
      : read('complete', [], job.Type === 'sysbatch' ? 2 * count : few);
  const failed = read('failed', [], 4 * count + few);
  return [...open, ...[...complete, ...failed].filter((ended) => isRemembered(ended, job))].sort(byId);
}

/** Ended ones that decide nothing by themselves, such as those of services that count as history. */
const few = 64;

/** How many allocations the job wants in all. */
function wanted({ Type, TaskGroups }: JobOfAllocations, nodes: number): number {
  if (Type === 'system' || Type === 'sysbatch') return nodes * TaskGroups.length;
  return TaskGroups.reduce((sum, { Count }) => sum + Count, 0);
}

function byId(a: Allocation, b: Allocation): number {
  return a.ID < b.ID ? -1 : a.ID > b.ID ? 1 : 0;
}
