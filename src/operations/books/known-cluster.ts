import type { ReadView } from '../../ports/storage.js';
import { type Allocation, allocations } from '../../scheduler/allocation.js';
import { capacitySignals } from '../../scheduler/capacity-signal.js';
import {
  type AllocationChange,
  type Cluster,
  clusterFrom,
  withAllocationChanges,
} from '../../scheduler/cluster/cluster.js';
import { type Node, nodes } from '../../scheduler/node.js';
import type { Key } from '../../shared/table.js';

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
  const present = view.list(nodes).map(({ record }) => record);
  const cluster = clusterFrom(present, openAllocations(view));
  return { nodesIndex: view.tableIndex(nodes), allocationsIndex: view.tableIndex(allocations), cluster };
}

/** Records in memory at once: of each, the cluster keeps a twentieth. */
const readAtOnce = 1000;

/** Those that their nodes have not finished with, in pages. */
function* openAllocations(view: ReadView): Generator<Allocation, void> {
  for (let from: Key = []; ; ) {
    const page = view.list(allocations, { index: 'open_by_node', from, limit: readAtOnce });
    for (const { record } of page) yield record;
    const last = page.at(-1)?.record;
    if (last === undefined || page.length < readAtOnce) return;
    // The first key behind it.
    from = [last.NodeID, `${last.ID}\u0000`];
  }
}

function withPresentNodes(cluster: Cluster, present: readonly Node[]): Cluster {
  const put = present.filter((node) => cluster.nodeOf(node.ID)?.ModifyIndex !== node.ModifyIndex);
  const kept = new Set(present.map(({ ID }) => ID));
  const removed = cluster.books.map(({ node }) => node.ID).filter((id) => !kept.has(id));
  return cluster.withNodes({ put, removed });
}
