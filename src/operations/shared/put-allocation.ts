import type { WriteView } from '../../ports/storage.js';
import { type Allocation, allocations } from '../../scheduler/allocation.js';
import { capacitySignals } from '../../scheduler/capacity-signal.js';
import { addCapacity, capacityUsedBy, noCapacity, nodeUsages, subtractCapacity } from '../../scheduler/node-usage.js';

/**
 * Stores an allocation and keeps its node's usage true. Capacity that it frees is signalled to the blocked evaluations.
 * Every write of an allocation goes through here or through `removeAllocation`.
 */
export function putAllocation(view: WriteView, before: Allocation | undefined, after: Allocation): void {
  view.put(allocations, after);
  moveUsage(view, before, after);
}

/** Removes an allocation, and what it used, as a purge does. */
export function removeAllocation(view: WriteView, allocation: Allocation): void {
  view.remove(allocations, [allocation.ID]);
  moveUsage(view, allocation, undefined);
}

/** Tells the blocked evaluations that there may be room now. */
export function signalCapacity(view: WriteView): void {
  view.put(capacitySignals, { name: 'capacity', index: view.index });
}

function moveUsage(view: WriteView, before: Allocation | undefined, after: Allocation | undefined): void {
  const nodeId = (after ?? before)?.NodeID;
  if (nodeId === undefined) return;
  const was = capacityUsedBy(before);
  const is = capacityUsedBy(after);
  if (was.cpu === is.cpu && was.memory === is.memory && was.disk === is.disk) return;
  const used = view.get(nodeUsages, [nodeId])?.record ?? noCapacity;
  view.put(nodeUsages, { ID: nodeId, ...addCapacity(subtractCapacity(used, was), is) });
  if (is.cpu < was.cpu || is.memory < was.memory || is.disk < was.disk) signalCapacity(view);
}
