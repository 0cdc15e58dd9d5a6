import type { ReadView } from '../../ports/storage.js';
import { type Allocation, allocations } from '../../scheduler/allocation.js';
import { capacitySignals } from '../../scheduler/capacity-signal.js';
import { useOf } from '../../scheduler/cluster/allocation-use.js';
import type { Cluster } from '../../scheduler/cluster/cluster.js';
import { deployments } from '../../scheduler/deployment/deployment.js';
import { type Evaluation, evaluations } from '../../scheduler/evaluation.js';
import { nodes } from '../../scheduler/node.js';
import { nodePools } from '../../scheduler/node-pool.js';
import type { SchedulingResult } from '../../scheduler/plan/outcome.js';
import { schedulerConfigurations } from '../../scheduler/scheduler-configuration.js';
import type { SchedulingSnapshot } from '../../scheduler/snapshot.js';
import { readJobRow } from '../books/job-rows.js';

/** What a plan was decided on, as far as another write may have changed it since. */
export interface PlanBasis {
  /** Index of the last write that the plan knows of. */
  readonly index: number;
  readonly evaluation: Evaluation;
  readonly snapshot: SchedulingSnapshot;
}

/** Tables whose every row a plan may have looked at. They seldom change. */
const lookedAtWhole = [nodes, nodePools, schedulerConfigurations];

/**
 * Whether the view still shows what the plan was decided on: the evaluation, the job, its deployments and allocations, the nodes, and
 * what allocations of other jobs use of the nodes that the plan changes.
 */
export function stillHolds(view: ReadView, basis: PlanBasis, result: SchedulingResult): boolean {
  const { index, evaluation } = basis;
  if (lookedAtWhole.some((table) => view.tableIndex(table) > index)) return false;
  if ((view.get(evaluations, [evaluation.ID])?.modifyIndex ?? Number.POSITIVE_INFINITY) > index) return false;
  if (!isSameJob(view, basis) || deploymentsChanged(view, basis)) return false;
  // Of removed allocations nothing tells where they were.
  if ((view.get(capacitySignals, ['removal'])?.record.index ?? 0) > index) return false;
  return !allocationsChanged(view, basis, result);
}

/** Its status follows from its allocations, and nothing is decided by it. */
function isSameJob(view: ReadView, { evaluation, snapshot: { job } }: PlanBasis): boolean {
  const now = readJobRow(view, evaluation.Namespace, evaluation.JobID)?.record;
  if (now === undefined || job === undefined) return now === job;
  return (
    now.CreateIndex === job.CreateIndex &&
    now.JobModifyIndex === job.JobModifyIndex &&
    now.Version === job.Version &&
    now.Stable === job.Stable
  );
}

function deploymentsChanged(view: ReadView, { index, evaluation }: PlanBasis): boolean {
  if (view.tableIndex(deployments) <= index) return false;
  const prefix = [evaluation.Namespace, evaluation.JobID];
  return view.list(deployments, { index: 'by_job', prefix }).some(({ modifyIndex }) => modifyIndex > index);
}

function allocationsChanged(view: ReadView, basis: PlanBasis, result: SchedulingResult): boolean {
  const { index, evaluation } = basis;
  if (view.tableIndex(allocations) <= index) return false;
  const planned = new Set(result.allocations.map(({ NodeID }) => NodeID));
  return view.list(allocations, { index: 'by_modify', from: [index + 1] }).some(({ record }) => {
    if (record.JobID === evaluation.JobID && record.Namespace === evaluation.Namespace) return true;
    return planned.has(record.NodeID) && !usesNoMore(basis.snapshot.cluster, record);
  });
}

/** It uses what it used, or nothing any more. */
function usesNoMore(cluster: Cluster, allocation: Allocation): boolean {
  const uses = useOf(allocation);
  if (uses === undefined) return true;
  const slot = cluster.slotOf(allocation.NodeID);
  const used = slot === undefined ? undefined : cluster.books[slot]?.uses.find(({ id }) => id === allocation.ID);
  return used !== undefined && JSON.stringify(used) === JSON.stringify(uses);
}
