import { table } from '../shared/table.js';
import { type Allocation, isClientTerminal } from './allocation.js';
import type { Capacity } from './cluster/capacity.js';

/**
 * The agent's work list: one narrow row for each allocation that the node has not finished with. An
 * agent requests the rows that changed since its last request, so unchanged allocations cost nothing.
 */
export interface NodeAssignment {
  readonly nodeId: string;
  /** `collected` in the row that says that ended allocations of the node were removed. */
  readonly allocationId: string;
  /** The write in which the scheduler last changed the allocation, or that removed allocations. */
  readonly index: number;
  /** Whether the server has finished with the allocation: the agent ends whatever still runs. */
  readonly gone: boolean;
}

export const nodeAssignments = table<NodeAssignment>(
  'node_assignments',
  (assignment) => [assignment.nodeId, assignment.allocationId],
  { by_change: { version: 1, key: (assignment) => [assignment.nodeId, assignment.index] } },
);

const collected = 'collected';

/** Notifies the node's agent that ended allocations were removed: it need not keep their folders any more. */
export function collectedRow(nodeId: string, index: number): NodeAssignment {
  return { nodeId, allocationId: collected, index, gone: true };
}

export function isCollectedRow({ allocationId }: NodeAssignment): boolean {
  return allocationId === collected;
}

/**
 * The assignment after a change of an allocation: a row to store, `done` when the agent has finished with it, or `same`.
 * `before` and `after` are undefined for a new or removed allocation.
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

/** Usage of all allocations that a node has not finished with; stored beside the node so that no placement has to sum it up. */
export interface NodeUsage extends Capacity {
  readonly ID: string;
}

export const nodeUsages = table<NodeUsage>('node_usages', (usage) => [usage.ID]);

/**
 * `capacity`: written when capacity was freed or added, so that blocked evaluations are retried. `removal`: written
 * when allocations were removed: node usage that was read before this write must be read again.
 */
interface CapacitySignal {
  readonly name: 'capacity' | 'removal';
  /** For `capacity`, the index of the write. For `removal`, the same, or the allocation's last change if its node had finished with it. */
  readonly index: number;
}

export const capacitySignals = table<CapacitySignal>('capacity_signals', (signal) => [signal.name]);
