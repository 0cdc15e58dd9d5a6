import type { ReadView } from '../../../ports/storage.js';
import { type Allocation, allocations } from '../../../scheduler/allocation.js';
import { useOf } from '../../../scheduler/cluster/capacity.js';
import type { Cluster } from '../../../scheduler/cluster/cluster.js';
import { deployments } from '../../../scheduler/deployment/deployment.js';
import { type Evaluation, evaluations } from '../../../scheduler/evaluation.js';
import { nodes } from '../../../scheduler/node.js';
import { nodePools } from '../../../scheduler/node-pool.js';
import type { PlanPart } from '../../../scheduler/plan/outcome.js';
import { schedulerConfigurations } from '../../../scheduler/scheduler-configuration.js';
import type { SchedulingSnapshot } from '../../../scheduler/snapshot.js';
import { readJobRow } from '../jobs/job-rows.js';
import { changedSince, wereRemoved } from './known-cluster.js';

/** The mutable inputs of a plan. */
export interface PlanBasis {
  /** Index of the last write that the plan has seen. */
  readonly index: number;
  readonly evaluation: Evaluation;
  readonly snapshot: SchedulingSnapshot;
  /** The allocations of the snapshot, by ID. */
  readonly existing: ReadonlyMap<string, Allocation>;
}

/** Tables that a plan may depend on as a whole. They seldom change. */
const wholeTables = [nodes, nodePools, schedulerConfigurations];

/** Changes by other writes since a plan was decided that leave most of it valid. */
export interface PlanWatch {
  /** Index of the last write checked; these include the plan's own parts. */
  readonly since: number;
  /** Allocations of the job with new reports of their nodes. */
  readonly reported: ReadonlySet<string>;
  /** Nodes whose usage by other jobs has grown, so that the plan may exceed their capacity. */
  readonly overCapacity: ReadonlySet<string>;
}

export function watchOf({ index }: Pick<PlanBasis, 'index'>): PlanWatch {
  return { since: index, reported: new Set(), overCapacity: new Set() };
}

/**
 * The changes since the plan was decided. Undefined when one of its inputs has changed: the evaluation, the job, its
 * deployments, the scheduler's decisions about its allocations, the nodes.
 */
export function changesSince(view: ReadView, basis: PlanBasis, watch: PlanWatch): PlanWatch | undefined {
  const { evaluation } = basis;
  const changed = view.get(evaluations, [evaluation.ID])?.modifyIndex ?? Number.POSITIVE_INFINITY;
  return changed > watch.since ? undefined : inputChangesSince(view, { whose: evaluation, ...basis.snapshot }, watch);
}

/** The scheduler's inputs before: `job` is undefined if there was none. */
interface Situation extends Pick<SchedulingSnapshot, 'job' | 'cluster'> {
  readonly whose: Pick<Evaluation, 'Namespace' | 'JobID'>;
}

/** `changesSince` without the evaluation, which a rehearsal does not store. */
export function inputChangesSince(view: ReadView, seen: Situation, watch: PlanWatch): PlanWatch | undefined {
  const { since } = watch;
  if (wholeTables.some((table) => view.tableIndex(table) > since)) return undefined;
  if (!isSameJob(view, seen) || deploymentsChanged(view, seen.whose, since)) return undefined;
  // The nodes of removed allocations are unknown.
  if (wereRemoved(view, since)) return undefined;
  return allocationChangesSince(view, seen, watch);
}

/**
 * Whether the part can be written as decided. An evaluation must not end with a plan that has not seen a report, since reports create
 * no evaluation while one is open.
 */
export function allows({ reported, overCapacity }: PlanWatch, { allocations: own, last }: PlanPart): boolean {
  if (last && reported.size > 0) return false;
  return !own.some(({ ID, NodeID }) => reported.has(ID) || overCapacity.has(NodeID));
}

/** Ignores the status of the job: it follows from its allocations, and no decision depends on it. */
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

function allocationChangesSince(view: ReadView, { whose, cluster }: Situation, watch: PlanWatch) {
  const { since } = watch;
  if (view.tableIndex(allocations) <= since) return { ...watch, since: view.index };
  const reported = new Set(watch.reported);
  const overCapacity = new Set(watch.overCapacity);
  for (const { record } of view.list(allocations, changedSince(since))) {
    if (record.JobID !== whose.JobID || record.Namespace !== whose.Namespace) {
      if (!usesNoMore(cluster, record)) overCapacity.add(record.NodeID);
    } else if (record.AllocModifyIndex > since) return undefined;
    else reported.add(record.ID);
  }
  return { since: view.index, reported, overCapacity };
}

/** Whether its usage is unchanged or has ended. */
function usesNoMore(cluster: Cluster, allocation: Allocation): boolean {
  const uses = useOf(allocation);
  if (uses === undefined) return true;
  const slot = cluster.slotOf(allocation.NodeID);
  const used = slot === undefined ? undefined : cluster.nodeStates[slot]?.uses.find(({ id }) => id === allocation.ID);
  return used !== undefined && JSON.stringify(used) === JSON.stringify(uses);
}
