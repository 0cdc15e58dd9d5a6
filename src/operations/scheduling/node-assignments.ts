import type { ReadView, WriteView } from '../../ports/storage.js';
import { type Allocation, allocations, isClientTerminal } from '../../scheduler/allocation.js';
import { type NodeAssignment, nodeAssignments } from '../../scheduler/node-assignment.js';
import type { Steps } from '../../scheduler/steps.js';
import { pagesOf } from '../records/pages.js';
import { readInStep } from '../records/scheduling/scheduling-snapshot.js';

/** The unfinished allocations of a node without an assignment row, by ID. Each step reads from the then current view. */
export function* unassignedInSteps(view: () => ReadView, nodeId: string): Steps<readonly string[]> {
  const unassigned: string[] = [];
  const keyOf = ({ Namespace, JobID, ID }: Allocation) => [nodeId, Namespace, JobID, ID] as const;
  const query = { index: 'open_by_node', prefix: [nodeId], size: readInStep, keyOf };
  for (const page of pagesOf(view, allocations, query)) {
    for (const { ID } of page) if (view().get(nodeAssignments, [nodeId, ID]) === undefined) unassigned.push(ID);
    yield;
  }
  return unassigned;
}

/** Assigns a node that was down its unfinished allocations again: those that were found before, unless they have ended since. */
export function assignOpenAllocations(view: WriteView, nodeId: string, unassigned: readonly string[]): void {
  for (const allocationId of unassigned) {
    const allocation = view.get(allocations, [allocationId])?.record;
    if (allocation === undefined || allocation.NodeID !== nodeId || isClientTerminal(allocation)) continue;
    if (view.get(nodeAssignments, [nodeId, allocationId]) !== undefined) continue;
    view.put(nodeAssignments, { nodeId, allocationId, index: view.index, gone: false });
  }
}

/** Removes the rows of removed allocations once nothing is left of them on their node. */
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
