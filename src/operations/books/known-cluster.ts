import type { ReadView } from '../../ports/storage.js';
import { allocations } from '../../scheduler/allocation.js';
import { capacitySignals } from '../../scheduler/capacity-signal.js';
import type { AllocationUse } from '../../scheduler/cluster/allocation-use.js';
import {
  type AllocationChange,
  addUse,
  type Cluster,
  clusterOfUses,
  withAllocationChanges,
} from '../../scheduler/cluster/cluster.js';
import { type Node, nodes } from '../../scheduler/node.js';
import { finish, type Steps } from '../../scheduler/steps.js';
import type { Key, Table } from '../../shared/table.js';

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
  if (known === undefined || isOutOfReach(view, known, allocationsIndex)) return readCluster(view);
  let { cluster } = known;
  if (nodesIndex !== known.nodesIndex) {
    const present = view.list(nodes).map(({ record }) => record);
    // What runs on a node that was not known is not known either.
    if (present.some(({ ID }) => cluster.slotOf(ID) === undefined)) return readCluster(view);
    cluster = withPresentNodes(cluster, present);
  }
  if (allocationsIndex !== known.allocationsIndex) {
    const changed = view.list(allocations, { index: 'by_modify', from: [known.allocationsIndex + 1] });
    cluster = withAllocationChanges(
      cluster,
      changed.map(({ record }) => ({ before: undefined, after: record })),
    );
  }
  return { nodesIndex, allocationsIndex, cluster };
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

/** Live allocations were removed since, or the store is another one: then the changes alone are not enough. */
function isOutOfReach(view: ReadView, known: KnownCluster, allocationsIndex: number): boolean {
  const removal = view.get(capacitySignals, ['removal'])?.record.index ?? 0;
  return removal > known.allocationsIndex || allocationsIndex < known.allocationsIndex;
}

function readCluster(view: ReadView): KnownCluster {
  return finish(clusterInSteps(() => view));
}

/** Records in memory at once: of each, the cluster keeps a twentieth. */
const readInStep = 64;

/**
 * Reads the cluster in steps, each from the view that is current by then. The result is as of its first step: what views show that came
 * later is partly in it, and `clusterAt` finds the rest.
 */
export function* clusterInSteps(view: () => ReadView): Steps<KnownCluster> {
  const allocationsIndex = view().tableIndex(allocations);
  const nodesIndex = view().tableIndex(nodes);
  const uses = new Map<string, AllocationUse[]>();
  for (const page of pages(view, allocations, 'open_by_node', ({ NodeID, ID }) => [NodeID, ID])) {
    for (const allocation of page) addUse(uses, allocation);
    yield;
  }
  const present: Node[] = [];
  for (const page of pages(view, nodes, undefined, ({ ID }) => [ID])) {
    present.push(...page);
    yield;
  }
  return { nodesIndex, allocationsIndex, cluster: clusterOfUses(present, uses) };
}

/** The records of a table in the order of an index, or of their keys, as far as the view of each page shows them. */
function* pages<T>(
  view: () => ReadView,
  table: Table<T>,
  index: string | undefined,
  keyOf: (record: T) => readonly [...Key, string],
): Generator<readonly T[], void> {
  for (let from: Key = []; ; ) {
    const page = view()
      .list(table, { ...(index === undefined ? {} : { index }), from, limit: readInStep })
      .map(({ record }) => record);
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < readInStep) return;
    const key = keyOf(last);
    // The first key behind it.
    from = [...key.slice(0, -1), `${key.at(-1)}\u0000`];
  }
}

function withPresentNodes(cluster: Cluster, present: readonly Node[]): Cluster {
  const put = present.filter((node) => cluster.nodeOf(node.ID)?.ModifyIndex !== node.ModifyIndex);
  const kept = new Set(present.map(({ ID }) => ID));
  const removed = cluster.books.map(({ node }) => node.ID).filter((id) => !kept.has(id));
  return cluster.withNodes({ put, removed });
}
