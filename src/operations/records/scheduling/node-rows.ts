import { type TaskNeed, unmetNeeds } from '../../../jobs/task-needs.js';
import type { ReadView } from '../../../ports/storage.js';
import { allocations } from '../../../scheduler/allocation.js';
import { noCapacity, sameCapacity } from '../../../scheduler/cluster/capacity.js';
import { nodeHeartbeats, nodes, provisionOf } from '../../../scheduler/node.js';
import { nodeAssignments, nodeUsages } from '../../../scheduler/node-tables.js';
import { nodeMetadata } from '../../../scheduler/nodes/node-metadata.js';
import { nodeOwners } from '../../../scheduler/nodes/node-owner.js';
import type { Transaction } from '../../write-transaction.js';

/**
 * Returns a function for the needs that the best matching node does not meet; none while there are no nodes. Nodes are
 * read on demand, each once, and before the needs are asked for.
 */
export function unmetByNodes(view: ReadView): (needsOf: () => readonly TaskNeed[]) => readonly TaskNeed[] {
  const known: (string | undefined)[] = [];
  const further = provisions(view);
  return (needsOf) => {
    if (known.length === 0 && !read(further, known)) return [];
    const needs = needsOf();
    let fewest: readonly TaskNeed[] | undefined;
    for (let at = 0; at < known.length || read(further, known); at += 1) {
      const unmet = unmetNeeds(needs, known[at]);
      if (unmet.length === 0) return [];
      if (fewest === undefined || unmet.length < fewest.length) fewest = unmet;
    }
    return fewest ?? [];
  };
}

/** Reads the next one, if any. */
function read<T>(from: Iterator<T>, into: T[]): boolean {
  const next = from.next();
  if (next.done !== true) into.push(next.value);
  return next.done !== true;
}

/** The distinct provisions of nodes. Most installations have one or two. */
function* provisions(view: ReadView): Generator<string | undefined> {
  for (let from: readonly string[] = []; ; ) {
    const [row] = view.list(nodes, { index: 'by_provision', from, limit: 1 });
    if (row === undefined) return;
    const provision = provisionOf(row.record);
    yield provision;
    from = [`${provision ?? ''}\u0001`];
  }
}

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
