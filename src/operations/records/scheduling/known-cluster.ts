import type { Job } from '../../../jobs/document/job.js';
import { jobSummaries } from '../../../jobs/status/job-summary.js';
import type { ListQuery, ReadView, Row } from '../../../ports/storage.js';
import { type Allocation, allocations } from '../../../scheduler/allocation.js';
import type { AllocationUse } from '../../../scheduler/cluster/capacity.js';
import {
  type AllocationChange,
  addUse,
  type Cluster,
  clusterOfUses,
  withAllocationChanges,
} from '../../../scheduler/cluster/cluster.js';
import type { Evaluation } from '../../../scheduler/evaluation.js';
import { type Node, nodes } from '../../../scheduler/node.js';
import { capacitySignals } from '../../../scheduler/node-tables.js';
import { finish, type Steps } from '../../../scheduler/steps.js';
import { wantedAllocations } from '../jobs/job-allocations.js';
import { pagesOf } from '../pages.js';

/** A cached cluster, with the indexes of its tables. */
export interface KnownCluster {
  readonly nodesIndex: number;
  readonly allocationsIndex: number;
  readonly cluster: Cluster;
}

/** The cluster of the view: the cached one with the changes since. */
export function clusterAt(view: ReadView, known: KnownCluster | undefined): KnownCluster {
  const nodesIndex = view.tableIndex(nodes);
  const allocationsIndex = view.tableIndex(allocations);
  if (known === undefined || isTooOld(view, known.allocationsIndex)) return finish(clusterInSteps(() => view));
  let { cluster } = known;
  if (nodesIndex !== known.nodesIndex) cluster = withPresentNodes(view, known);
  if (allocationsIndex !== known.allocationsIndex) {
    cluster = withChanged(cluster, view.list(allocations, changedSince(known.allocationsIndex)));
  }
  return { nodesIndex, allocationsIndex, cluster };
}

/** The most changed allocations that are applied within a write; more are applied before it, in turns of the event loop. */
const changesInWrite = 64;

/** Whether updating the cached cluster takes longer than a write should. */
export function needsTurns(view: ReadView, known: KnownCluster | undefined): boolean {
  if (known === undefined || isTooOld(view, known.allocationsIndex)) return true;
  if (view.tableIndex(allocations) === known.allocationsIndex) return false;
  const changed = view.list(allocations, changedSince(known.allocationsIndex, changesInWrite + 1));
  return changed.length > changesInWrite;
}

/** The cluster after a write that put these allocations and no others. */
export function clusterAfter(
  known: KnownCluster,
  changes: readonly AllocationChange[],
  view: Pick<ReadView, 'index'>,
): KnownCluster {
  if (changes.length === 0) return known;
  return { ...known, allocationsIndex: view.index, cluster: withAllocationChanges(known.cluster, changes) };
}

function withChanged(cluster: Cluster, rows: readonly Row<Allocation>[]): Cluster {
  return withAllocationChanges(
    cluster,
    rows.map(({ record }) => ({ before: undefined, after: record })),
  );
}

/** Records read at once; the cluster keeps about a twentieth of each. */
const readInStep = 16;

/**
 * Updates the cached cluster in steps, or reads it anew when nothing is cached or the changes are incomplete. Each step reads from
 * the then current view.
 */
export function* clusterInSteps(view: () => ReadView, known?: KnownCluster | undefined): Steps<KnownCluster> {
  const caughtUp = known === undefined ? undefined : yield* caughtUpInSteps(view, known);
  return caughtUp ?? (yield* readInSteps(view));
}

/** Undefined when the changes are incomplete. The nodes are not updated. */
function* caughtUpInSteps(view: () => ReadView, known: KnownCluster): Steps<KnownCluster | undefined> {
  let { cluster, allocationsIndex } = known;
  while (!isTooOld(view(), known.allocationsIndex)) {
    const changed = nextChanges(view(), allocationsIndex, readInStep);
    const last = changed.at(-1)?.record.ModifyIndex;
    if (last === undefined) return { ...known, cluster, allocationsIndex: view().tableIndex(allocations) };
    cluster = withChanged(cluster, changed);
    allocationsIndex = last;
    yield;
  }
  return undefined;
}

/**
 * Reads the cluster in steps. Its index is that of the first step: it contains some of the later changes, and `clusterAt`
 * applies the rest.
 */
function* readInSteps(view: () => ReadView): Steps<KnownCluster> {
  const allocationsIndex = view().tableIndex(allocations);
  const nodesIndex = view().tableIndex(nodes);
  const uses = new Map<string, AllocationUse[]>();
  const onNodes = {
    index: 'open_by_node',
    size: readInStep,
    keyOf: ({ NodeID, Namespace, JobID, ID }: Allocation) => [NodeID, Namespace, JobID, ID] as const,
  };
  for (const page of pagesOf(view, allocations, onNodes)) {
    for (const allocation of page) addUse(uses, allocation);
    yield;
  }
  const present: Node[] = [];
  for (const page of pagesOf(view, nodes, { size: readInStep, keyOf: ({ ID }) => [ID] })) {
    present.push(...page);
    yield;
  }
  return { nodesIndex, allocationsIndex, cluster: clusterOfUses(present, uses) };
}

/** With the nodes of the view, of which only changed ones are parsed, and with the usage of new ones. */
function withPresentNodes(view: ReadView, { cluster, nodesIndex }: KnownCluster): Cluster {
  const present = view.list(nodes);
  const put = present.filter(({ modifyIndex }) => modifyIndex > nodesIndex).map(({ record }) => record);
  const added = put.filter(({ ID }) => cluster.slotOf(ID) === undefined);
  const someRemoved = present.length < cluster.nodeStates.length + added.length;
  const removed = someRemoved ? missingFrom(present, cluster) : [];
  const uses = added.flatMap(({ ID }) => view.list(allocations, { index: 'open_by_node', prefix: [ID] }));
  return withChanged(cluster.withNodes({ put, removed }), uses);
}

function missingFrom(present: readonly Row<Node>[], { nodeStates }: Cluster): readonly string[] {
  const kept = new Set(present.map(({ record }) => record.ID));
  return nodeStates.map(({ node }) => node.ID).filter((id) => !kept.has(id));
}

/* The changes of allocations since a write, to update cached views of them. */

/** Live allocations were removed after the write; which ones is unknown. */
export function wereRemoved(view: ReadView, since: number): boolean {
  return (view.get(capacitySignals, ['removal'])?.record.index ?? 0) > since;
}

/** The changes since the write are incomplete: live allocations were removed after it, or the store is another one. */
export function isTooOld(view: ReadView, since: number): boolean {
  return wereRemoved(view, since) || view.tableIndex(allocations) < since;
}

/** Allocations that were changed after the write, oldest change first; all of them without a limit. */
export function changedSince(since: number, limit = Number.POSITIVE_INFINITY): ListQuery {
  return { index: 'by_modify', from: [since + 1], limit };
}

/** About `size` of them; all of each write. */
export function nextChanges(view: ReadView, since: number, size: number): readonly Row<Allocation>[] {
  const page = view.list(allocations, changedSince(since, size));
  const last = page.at(-1)?.record.ModifyIndex;
  if (last === undefined || page.length < size) return page;
  const complete = page.filter(({ record }) => record.ModifyIndex < last);
  return complete.length > 0 ? complete : view.list(allocations, { index: 'by_modify', from: [last], to: [last + 1] });
}

interface JobOfPlan {
  readonly whose: Pick<Evaluation, 'Namespace' | 'JobID'>;
  /** The planned job; undefined when it was removed. */
  readonly job: Job | undefined;
  /** The number of nodes. */
  readonly nodes: number;
}

/** Whether the job has or wants more than `atMost` allocations by its counters: deciding on it takes longer than a write should. */
export function isLarge(view: ReadView, { whose, job, nodes }: JobOfPlan, atMost: number): boolean {
  if (!Number.isFinite(atMost)) return false;
  if (job !== undefined && !job.Stop && wantedAllocations(job, nodes) > atMost) return true;
  const { Namespace, JobID } = whose;
  const summary = view.get(jobSummaries, [Namespace, JobID])?.record;
  if (job === undefined || summary === undefined) {
    const prefix = [Namespace, JobID, 'open'];
    return view.list(allocations, { index: 'current_by_job', prefix, limit: atMost + 1 }).length > atMost;
  }
  const groups = Object.values(summary.Summary);
  return groups.reduce((sum, { Running, Starting, Unknown }) => sum + Running + Starting + Unknown, 0) > atMost;
}
