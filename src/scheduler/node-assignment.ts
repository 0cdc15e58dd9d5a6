import { table } from '../shared/table.js';
import { type Allocation, isClientTerminal } from './allocation.js';

/**
 * What a node's agent has to handle: one narrow row for each allocation that the node has not finished with. An
 * agent asks for the rows that changed since it last asked, so what it already runs costs nothing.
 */
export interface NodeAssignment {
  readonly nodeId: string;
  /** `collected` in the row that says that ended allocations of the node were removed. */
  readonly allocationId: string;
  /** The write that the scheduler last changed the allocation in, or that removed allocations. */
  readonly index: number;
  /** The server has nothing more to do with the allocation: what still runs of it ends. */
  readonly gone: boolean;
}

export const nodeAssignments = table<NodeAssignment>(
  'node_assignments',
  (assignment) => [assignment.nodeId, assignment.allocationId],
  { by_change: { version: 1, key: (assignment) => [assignment.nodeId, assignment.index] } },
);

const collected = 'collected';

/** Reports the agent of a node that ended allocations were removed: it need not keep their folders any more. */
export function collectedRow(nodeId: string, index: number): NodeAssignment {
  return { nodeId, allocationId: collected, index, gone: true };
}

export function isCollectedRow({ allocationId }: NodeAssignment): boolean {
  return allocationId === collected;
}

/**
 * The assignment after a change of an allocation: a row to store, `done` when the agent itself has finished, or `same`.
 * `before` and `after` are undefined for an allocation that is new or removed.
 */
export function assignmentAfter(
  before: Allocation | undefined,
  after: Allocation | undefined,
  index: number,
): NodeAssignment | 'done' | 'same' {
  const known = after ?? before;
  if (known === undefined) return 'same';
  const row = { nodeId: known.NodeID, allocationId: known.ID, index };
  const wasOpen = before !== undefined && !isClientTerminal(before);
  if (after === undefined || after.ClientStatus === 'lost') return wasOpen ? { ...row, gone: true } : 'same';
  if (isClientTerminal(after)) return wasOpen || before === undefined ? 'done' : 'same';
  return before?.AllocModifyIndex === after.AllocModifyIndex ? 'same' : { ...row, gone: false };
}
