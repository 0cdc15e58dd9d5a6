import type { WriteView } from '../../ports/storage.js';
import { type Allocation, allocations, isClientTerminal } from '../../scheduler/allocation.js';
import {
  addCapacity,
  capacityUsedBy,
  noCapacity,
  sameCapacity,
  subtractCapacity,
} from '../../scheduler/cluster/capacity.js';
import { nodes } from '../../scheduler/node.js';
import {
  assignmentAfter,
  capacitySignals,
  collectedRow,
  nodeAssignments,
  nodeUsages,
} from '../../scheduler/node-tables.js';
import type { Reaction } from './reaction.js';

/** What a node uses, and what its agent has to do. Freed capacity unblocks evaluations. */
export const nodeRowsReaction: Reaction = {
  tables: [allocations],
  react: (tx, changes) => {
    for (const { before, after } of changes.of(allocations)) {
      if (before !== undefined && after === undefined) followRemoved(tx, before);
      else {
        moveUsage(tx, before, after);
        assign(tx, before, after);
      }
    }
  },
};

function followRemoved(view: WriteView, allocation: Allocation): void {
  signalRemoval(view, isClientTerminal(allocation) ? allocation.ModifyIndex : view.index);
  moveUsage(view, allocation, undefined);
  if (isKnown(view, allocation.NodeID)) {
    assign(view, allocation, undefined);
    view.put(nodeAssignments, collectedRow(allocation.NodeID, view.index));
  } else view.remove(nodeAssignments, [allocation.NodeID, allocation.ID]);
}

/** Unblocks evaluations, because resources may be free now. */
export function signalCapacity(view: WriteView): void {
  view.put(capacitySignals, { name: 'capacity', index: view.index });
}

/** Marks caches from before this index as outdated: they may contain removed allocations. */
function signalRemoval(view: WriteView, index: number): void {
  const before = view.get(capacitySignals, ['removal'])?.record.index ?? 0;
  if (index > before) view.put(capacitySignals, { name: 'removal', index });
}

/** Makes the scheduler's changes visible to the node's agent. */
function assign(view: WriteView, before: Allocation | undefined, after: Allocation | undefined): void {
  const assignment = assignmentAfter(before, after, view.index);
  if (assignment === 'same') return;
  if (assignment !== 'done') view.put(nodeAssignments, assignment);
  else if (after !== undefined) view.remove(nodeAssignments, [after.NodeID, after.ID]);
}

/** A removed node gets no rows about removed allocations: when its agent registers again, it gets a complete list. */
function isKnown(view: WriteView, nodeId: string): boolean {
  return view.get(nodes, [nodeId]) !== undefined;
}

function moveUsage(view: WriteView, before: Allocation | undefined, after: Allocation | undefined): void {
  const nodeId = (after ?? before)?.NodeID;
  if (nodeId === undefined) return;
  const was = capacityUsedBy(before);
  const is = capacityUsedBy(after);
  if (sameCapacity(was, is)) return;
  const used = view.get(nodeUsages, [nodeId])?.record ?? noCapacity;
  const uses = addCapacity(subtractCapacity(used, was), is);
  if (sameCapacity(uses, noCapacity) && !isKnown(view, nodeId)) view.remove(nodeUsages, [nodeId]);
  else view.put(nodeUsages, { ID: nodeId, ...uses });
  if (is.cpu < was.cpu || is.memory < was.memory || is.disk < was.disk) signalCapacity(view);
}
