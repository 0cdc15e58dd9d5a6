import type { Job } from '../../../jobs/document/job.js';
import type { ReadView } from '../../../ports/storage.js';
import { type Allocation, allocations, isClientTerminal } from '../../../scheduler/allocation.js';
import { nodes } from '../../../scheduler/node.js';
import { affectsDecisions } from '../../../scheduler/snapshot.js';
import { finish } from '../../../scheduler/steps.js';
import type { Key } from '../../../shared/table.js';

/** The members of a job that decide which of its allocations are relevant. */
type JobOfAllocations = Pick<Job, 'Namespace' | 'ID' | 'Version' | 'CreateIndex' | 'Type' | 'TaskGroups'>;

interface WhoseAllocations {
  readonly namespace: string;
  readonly jobId: string;
  readonly job: JobOfAllocations | undefined;
}

/**
 * A job's allocations that decisions depend on, by ID: those unfinished on their nodes, and ended ones that were
 * not replaced. The cost does not depend on the job's total number of allocations.
 * `nodes`: an upper bound of the number of nodes.
 */
export function readCurrentAllocations(view: ReadView, whose: WhoseAllocations, nodes: number): Allocation[] {
  return finish(currentAllocationsInSteps(() => view, whose, nodes, Number.POSITIVE_INFINITY));
}

/** The same in steps of `page` allocations, each from the view that is then current. */
export function* currentAllocationsInSteps(
  view: () => ReadView,
  { namespace, jobId, job }: WhoseAllocations,
  nodes: number,
  page: number,
): Generator<void, Allocation[]> {
  const read = (state: string, rest: Key = [], limit = Number.POSITIVE_INFINITY) =>
    inPages(view, [namespace, jobId, state, ...rest], limit, page);
  const open = yield* read('open');
  if (job === undefined) return open;
  const count = wantedAllocations(job, nodes);
  // A batch job does not repeat work completed in this version, so all those allocations count.
  const complete =
    job.Type === 'batch'
      ? yield* read('complete', [-job.Version])
      : yield* read('complete', [], job.Type === 'sysbatch' ? 2 * count : few);
  const failed = yield* read('failed', [], 4 * count + few);
  yield;
  return [...open, ...[...complete, ...failed].filter((ended) => affectsDecisions(ended, job))].sort(byId);
}

/** Those of the current registration of a job: its outcome and readiness depend on them. */
export function readAllocationsOfRun(view: ReadView, job: JobOfAllocations): Allocation[] {
  const everywhere = job.Type === 'system' || job.Type === 'sysbatch';
  const nodeCount = everywhere ? view.list(nodes).length : 0;
  const current = readCurrentAllocations(view, { namespace: job.Namespace, jobId: job.ID, job }, nodeCount);
  return current.filter((allocation) => allocation.JobCreateIndex === job.CreateIndex);
}

/** The first `limit` allocations under a key of `current_by_job`, of which the ID is the last part. */
function* inPages(view: () => ReadView, prefix: Key, limit: number, page: number): Generator<void, Allocation[]> {
  const found: Allocation[] = [];
  for (let from: Key = prefix; ; ) {
    const most = Math.min(page, limit - found.length);
    const bound = Number.isFinite(most) ? { limit: most } : {};
    const rows = view().list(allocations, { index: 'current_by_job', prefix, from, ...bound });
    for (const { record } of rows) found.push(record);
    const last = rows.at(-1)?.record;
    if (last === undefined || rows.length < most || found.length >= limit) return found;
    from = keyBehind(last);
    yield;
  }
}

/** The first key of `current_by_job` after that of an allocation. */
function keyBehind({ Namespace, JobID, ClientStatus, JobVersion, CreateIndex, ID }: Allocation): Key {
  const behind = `${ID}\u0000`;
  if (!isClientTerminal({ ClientStatus })) return [Namespace, JobID, 'open', behind];
  const state = ClientStatus === 'complete' ? 'complete' : 'failed';
  return [Namespace, JobID, state, -JobVersion, -CreateIndex, behind];
}

/** How many ended allocations are read that only count as history, such as those of services. */
const few = 64;

/** An upper bound of the number of allocations that the job wants. */
export function wantedAllocations({ Type, TaskGroups }: Pick<Job, 'Type' | 'TaskGroups'>, nodes: number): number {
  if (Type === 'system' || Type === 'sysbatch') return nodes * TaskGroups.length;
  return TaskGroups.reduce((sum, { Count }) => sum + Count, 0);
}

function byId(a: Allocation, b: Allocation): number {
  return a.ID < b.ID ? -1 : a.ID > b.ID ? 1 : 0;
}
