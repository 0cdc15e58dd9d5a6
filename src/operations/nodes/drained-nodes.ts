import type { ReadView } from '../../ports/storage.js';
import { type Allocation, allocations } from '../../scheduler/allocation.js';
import { isDraining, type Node, nodes } from '../../scheduler/node.js';
import type { DrainedNode } from '../../scheduler/nodes/decide-drain.js';
import type { Steps } from '../../scheduler/steps.js';
import { pagesOf } from '../records/pages.js';
import { isSameAllocation, type KnownAllocation, knownAllocation } from './known-allocation.js';

interface KnownNode {
  readonly node: DrainedNode['node'];
  /** Index of the last change of its row. */
  readonly modifyIndex: number;
  /** Allocations that its agent has not finished with, by ID; those of one job in the order of their IDs. */
  own: Map<string, KnownAllocation>;
}

/** Records read in one step. */
const readInStep = 16;

/** The draining nodes, with the allocations that their agents have not finished with. */
export class DrainedNodes {
  #nodes = new Map<string, KnownNode>();
  /** Index of the last change of any node at the time of the read. */
  #index = 0;

  clear(): void {
    this.#nodes.clear();
    this.#index = 0;
  }

  all(): Iterable<Pick<KnownNode, 'node'> & { readonly own: ReadonlyMap<string, KnownAllocation> }> {
    return this.#nodes.values();
  }

  /** Whether the node is unchanged since it was cached. */
  isSame(view: ReadView, nodeId: string): boolean {
    return view.get(nodes, [nodeId])?.modifyIndex === this.#nodes.get(nodeId)?.modifyIndex;
  }

  isNews(allocation: KnownAllocation): boolean {
    const node = this.#nodes.get(allocation.NodeID);
    return (
      node !== undefined && !isSameAllocation(node.own.get(allocation.ID), allocation.over ? undefined : allocation)
    );
  }

  put(allocation: KnownAllocation): void {
    const node = this.#nodes.get(allocation.NodeID);
    if (node === undefined) return;
    const known = node.own.has(allocation.ID);
    if (allocation.over) node.own.delete(allocation.ID);
    else node.own.set(allocation.ID, allocation);
    if (!known && !allocation.over) node.own = inOrder(node.own);
  }

  /** Reads the nodes if any has changed, and the allocations of new ones. Returns whether it did. */
  *read(view: () => ReadView): Steps<boolean> {
    const index = view().tableIndex(nodes);
    if (index === this.#index) return false;
    const present = new Map<string, KnownNode>();
    const query = { index: 'draining', size: readInStep, keyOf: ({ ID }: Node) => [ID] as const };
    for (const page of pagesOf(view, nodes, query)) {
      for (const { ID } of page) {
        const known = yield* this.#readNode(view, ID);
        if (known !== undefined) present.set(ID, known);
      }
      yield;
    }
    this.#nodes = present;
    this.#index = index;
    return true;
  }

  *#readNode(view: () => ReadView, nodeId: string): Steps<KnownNode | undefined> {
    const row = view().get(nodes, [nodeId]);
    if (row === undefined || !isDrained(row.record)) return undefined;
    const { record: node, modifyIndex } = row;
    const before = this.#nodes.get(nodeId);
    if (before !== undefined) return { node, modifyIndex, own: before.own };
    const own = new Map<string, KnownAllocation>();
    for (const page of pagesOf(view, allocations, openOn(nodeId))) {
      for (const allocation of page) own.set(allocation.ID, knownAllocation(allocation));
      yield;
    }
    return { node, modifyIndex, own };
  }
}

function isDrained(node: Node): node is DrainedNode['node'] {
  return isDraining(node);
}

function inOrder<T>(map: ReadonlyMap<string, T>): Map<string, T> {
  return new Map([...map].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function openOn(nodeId: string) {
  const keyOf = ({ Namespace, JobID, ID }: Allocation) => [nodeId, Namespace, JobID, ID] as const;
  return { index: 'open_by_node', prefix: [nodeId], size: readInStep, keyOf };
}
