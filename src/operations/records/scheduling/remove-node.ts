import { allocations } from '../../../scheduler/allocation.js';
import { noCapacity, sameCapacity } from '../../../scheduler/cluster/capacity.js';
import { nodeHeartbeats, nodes } from '../../../scheduler/node.js';
import { nodeAssignments } from '../../../scheduler/node-assignment.js';
import { nodeUsages } from '../../../scheduler/node-usage.js';
import { nodeMetadata } from '../../../scheduler/nodes/node-metadata.js';
import { nodeOwners } from '../../../scheduler/nodes/node-owner.js';
import type { Transaction } from '../../write-transaction.js';

/**
 * Removes a node and its rows. Rows of its allocations stay until these have ended or are collected: an agent that is
 * still alive registers again, continues unfinished allocations, and ends those that were lost.
 */
export function removeNode(tx: Transaction, nodeId: string): void {
  tx.remove(nodes, [nodeId]);
  tx.remove(nodeHeartbeats, [nodeId]);
  tx.remove(nodeMetadata, [nodeId]);
  tx.remove(nodeOwners, [nodeId]);
  for (const { record } of tx.list(nodeAssignments, { prefix: [nodeId] })) {
    const { allocationId, gone } = record;
    // What is not gone is an allocation that is there.
    if (gone && tx.get(allocations, [allocationId]) === undefined) tx.remove(nodeAssignments, [nodeId, allocationId]);
  }
  const used = tx.get(nodeUsages, [nodeId])?.record;
  if (used !== undefined && sameCapacity(used, noCapacity)) tx.remove(nodeUsages, [nodeId]);
  tx.emit('node.changed', { nodeId, status: 'purged' });
}
