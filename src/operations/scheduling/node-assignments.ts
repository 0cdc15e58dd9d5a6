import type { ReadView, WriteView } from '../../ports/storage.js';
import { type Allocation, allocations, isClientTerminal } from '../../scheduler/allocation.js';
import { type NodeAssignment, nodeAssignments } from '../../scheduler/node-assignment.js';

/** Gives a node that was down its unfinished work back. */
export function assignOpenAllocations(view: WriteView, nodeId: string): void {
  for (const { record } of openAllocations(view, nodeId)) {
    if (view.get(nodeAssignments, [nodeId, record.ID]) !== undefined) continue;
    view.put(nodeAssignments, { nodeId, allocationId: record.ID, index: view.index, gone: false });
  }
}

/** Forgets the rows of allocations that are gone, once nothing is left of them on their node. */
export function forgetEnded(view: WriteView, nodeId: string, ended: readonly string[]): void {
  for (const allocationId of ended) {
    const allocation = view.get(allocations, [allocationId])?.record;
    if (allocation === undefined || allocation.NodeID !== nodeId || isClientTerminal(allocation)) {
      view.remove(nodeAssignments, [nodeId, allocationId]);
    }
  }
}

/** The assignments of a node, all of them or those that changed after an index. */
export function listAssignments(view: ReadView, nodeId: string, after: number): NodeAssignment[] {
  const query =
    after <= 0
      ? { prefix: [nodeId] }
      : { index: 'by_change', from: [nodeId, after + 1], to: [nodeId, Number.MAX_SAFE_INTEGER] };
  return view.list(nodeAssignments, query).map(({ record }) => record);
}

function openAllocations(view: ReadView, nodeId: string): readonly { readonly record: Allocation }[] {
  return view.list(allocations, { index: 'open_by_node', prefix: [nodeId] });
}
