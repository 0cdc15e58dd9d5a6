import type { ReadView } from '../../../ports/storage.js';
import { type Allocation, allocations } from '../../../scheduler/allocation.js';
import { useOf } from '../../../scheduler/cluster/allocation-use.js';
import type { Cluster } from '../../../scheduler/cluster/cluster.js';
import { deployments } from '../../../scheduler/deployment/deployment.js';
import { type Evaluation, evaluations } from '../../../scheduler/evaluation.js';
import { nodes } from '../../../scheduler/node.js';
import { nodePools } from '../../../scheduler/node-pool.js';
import type { PlanPart } from '../../../scheduler/plan/plan-parts.js';
import { schedulerConfigurations } from '../../../scheduler/scheduler-configuration.js';
import type { SchedulingSnapshot } from '../../../scheduler/snapshot.js';
import { readJobRow } from '../jobs/job-rows.js';
import { changedSince, wereRemoved } from './allocation-changes.js';

/** What a plan was decided on, as far as another write may have changed it since. */
export interface PlanBasis {
  /** Index of the last write that the plan knows of. */
  readonly index: number;
  readonly evaluation: Evaluation;
  readonly snapshot: SchedulingSnapshot;
  /** The allocations of the snapshot, by ID. */
  readonly existing: ReadonlyMap<string, Allocation>;
}

/** Tables of which a plan may depend on every row. They seldom change. */
const lookedAtWhole = [nodes, nodePools, schedulerConfigurations];

/** What other writes have done since a plan was decided, as far as that leaves most of it true. */
export interface PlanWatch {
  /** Index of the last write that was considered; the plan's own parts are among those. */
  readonly since: number;
  /** Allocations of the job that their nodes have reported. */
  readonly reported: ReadonlySet<string>;
  /** Nodes that allocations of other jobs use more of. */
  readonly crowded: ReadonlySet<string>;
}

export function watchOf({ index }: Pick<PlanBasis, 'index'>): PlanWatch {
  return { since: index, reported: new Set(), crowded: new Set() };
}

/**
 * What has been done up to now. Undefined when the view does not show any more what the plan was decided on: the evaluation, the job, its
 * deployments, what the scheduler has decided about its allocations, the nodes.
 */
export function lookAgain(view: ReadView, basis: PlanBasis, watch: PlanWatch): PlanWatch | undefined {
  const { evaluation } = basis;
  const changed = view.get(evaluations, [evaluation.ID])?.modifyIndex ?? Number.POSITIVE_INFINITY;
  return changed > watch.since ? undefined : lookAtSituation(view, { whose: evaluation, ...basis.snapshot }, watch);
}

/** What the scheduler considers, as it was: `job` is undefined where there was none. */
interface Situation extends Pick<SchedulingSnapshot, 'job' | 'cluster'> {
  readonly whose: Pick<Evaluation, 'Namespace' | 'JobID'>;
}

/** `lookAgain` without the evaluation, which a rehearsal does not store. */
export function lookAtSituation(view: ReadView, seen: Situation, watch: PlanWatch): PlanWatch | undefined {
  const { since } = watch;
  if (lookedAtWhole.some((table) => view.tableIndex(table) > since)) return undefined;
  if (!isSameJob(view, seen) || deploymentsChanged(view, seen.whose, since)) return undefined;
  // It is not known on which nodes removed allocations were.
  if (wereRemoved(view, since)) return undefined;
  return lookAtAllocations(view, seen, watch);
}

/**
 * The part can be written as it was decided. An evaluation does not end with a plan that did not know of a report, since reports ask for
 * no evaluation while one is open.
 */
export function allows({ reported, crowded }: PlanWatch, { allocations: own, last }: PlanPart): boolean {
  if (last && reported.size > 0) return false;
  return !own.some(({ ID, NodeID }) => reported.has(ID) || crowded.has(NodeID));
}

/** Its status follows from its allocations, and nothing is decided by it. */
function isSameJob(view: ReadView, { whose, job }: Situation): boolean {
  const now = readJobRow(view, whose.Namespace, whose.JobID)?.record;
  if (now === undefined || job === undefined) return now === job;
  return (
    now.CreateIndex === job.CreateIndex &&
    now.JobModifyIndex === job.JobModifyIndex &&
    now.Version === job.Version &&
    now.Stable === job.Stable
  );
}

function deploymentsChanged(view: ReadView, { Namespace, JobID }: Situation['whose'], since: number): boolean {
  if (view.tableIndex(deployments) <= since) return false;
  return view
    .list(deployments, { index: 'by_job', prefix: [Namespace, JobID] })
    .some(({ modifyIndex }) => modifyIndex > since);
}

function lookAtAllocations(view: ReadView, { whose, cluster }: Situation, watch: PlanWatch) {
  const { since } = watch;
  if (view.tableIndex(allocations) <= since) return { ...watch, since: view.index };
  const reported = new Set(watch.reported);
  const crowded = new Set(watch.crowded);
  for (const { record } of view.list(allocations, changedSince(since))) {
    if (record.JobID !== whose.JobID || record.Namespace !== whose.Namespace) {
      if (!usesNoMore(cluster, record)) crowded.add(record.NodeID);
    } else if (record.AllocModifyIndex > since) return undefined;
    else reported.add(record.ID);
  }
  return { since: view.index, reported, crowded };
}

/** It uses what it used, or nothing any more. */
function usesNoMore(cluster: Cluster, allocation: Allocation): boolean {
  const uses = useOf(allocation);
  if (uses === undefined) return true;
  const slot = cluster.slotOf(allocation.NodeID);
  const used = slot === undefined ? undefined : cluster.books[slot]?.uses.find(({ id }) => id === allocation.ID);
  return used !== undefined && JSON.stringify(used) === JSON.stringify(uses);
}
