import type { ReadView, Row } from '../../../ports/storage.js';
import { type Allocation, allocations } from '../../../scheduler/allocation.js';
import type { AllocationUse } from '../../../scheduler/cluster/allocation-use.js';
import {
  type AllocationChange,
  addUse,
  type Cluster,
  clusterOfUses,
  withAllocationChanges,
} from '../../../scheduler/cluster/cluster.js';
import { type Node, nodes } from '../../../scheduler/node.js';
import { finish, type Steps } from '../../../scheduler/steps.js';
import { pagesOf } from '../pages.js';
import { changedSince, isTooOld, nextChanges } from './allocation-changes.js';

/** The cluster as of certain writes of the tables that it is made of. */
export interface KnownCluster {
  readonly nodesIndex: number;
  readonly allocationsIndex: number;
  readonly cluster: Cluster;
}

/** The cluster as the view shows it: what is known of it, with what has changed since. */
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

/** Changes of allocations that are caught up with in one write; more of them in turns of the event loop, before the write. */
const changesInWrite = 64;

/** Bringing what is known up to date takes longer than a write should. */
export function needsTurns(view: ReadView, known: KnownCluster | undefined): boolean {
  if (known === undefined || isTooOld(view, known.allocationsIndex)) return true;
  if (view.tableIndex(allocations) === known.allocationsIndex) return false;
  const changed = view.list(allocations, changedSince(known.allocationsIndex, changesInWrite + 1));
  return changed.length > changesInWrite;
}

/** The cluster after a write of the view that has put these allocations and no others. */
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

/** Records in memory at once: of each, the cluster keeps a twentieth. */
const readInStep = 16;

/**
 * Brings what is known up to date in steps, or reads the cluster where nothing is known or the changes are not enough. Each step reads from
 * the view that is current by then.
 */
export function* clusterInSteps(view: () => ReadView, known?: KnownCluster | undefined): Steps<KnownCluster> {
  const caughtUp = known === undefined ? undefined : yield* caughtUpInSteps(view, known);
  return caughtUp ?? (yield* readInSteps(view));
}

/** Undefined when the changes are not enough. The nodes stay as they were known. */
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
 * Reads the cluster in steps. The result is as of its first step: what views show that came later is partly in it, and `clusterAt`
 * finds the rest.
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

/** With the nodes as they are in the view, of which only changed ones are parsed, and with what uses those that were not known. */
function withPresentNodes(view: ReadView, { cluster, nodesIndex }: KnownCluster): Cluster {
  const present = view.list(nodes);
  const put = present.filter(({ modifyIndex }) => modifyIndex > nodesIndex).map(({ record }) => record);
  const added = put.filter(({ ID }) => cluster.slotOf(ID) === undefined);
  const someRemoved = present.length < cluster.books.length + added.length;
  const removed = someRemoved ? missingFrom(present, cluster) : [];
  const uses = added.flatMap(({ ID }) => view.list(allocations, { index: 'open_by_node', prefix: [ID] }));
  return withChanged(cluster.withNodes({ put, removed }), uses);
}

function missingFrom(present: readonly Row<Node>[], { books }: Cluster): readonly string[] {
  const kept = new Set(present.map(({ record }) => record.ID));
  return books.map(({ node }) => node.ID).filter((id) => !kept.has(id));
}
