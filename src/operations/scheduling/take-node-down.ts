import { err, errAsync, ok, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import type { UnknownNode } from '../../ports/agent-link.js';
import type { StorageError } from '../../ports/storage.js';
import { type Node, nodeHeartbeats, nodes } from '../../scheduler/node.js';
import { unixSecondsFromInstant } from '../../shared/instant.js';
import { authoriseNode, type PermissionDenied } from '../authorise.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { evaluateForNode } from '../records/scheduling/node-evaluations.js';
import type { Transaction } from '../write-transaction.js';
import { isAgentOf } from './node-ownership.js';

/** The node's agent deregisters: its allocations are replaced now instead of when its silence is noticed. */
export function leaveNode(
  context: EngineContext,
  caller: Principal,
  nodeId: string,
  instance?: string,
): ResultAsync<{ readonly index: number }, PermissionDenied | UnknownNode | StorageError> {
  const allowed = authoriseNode(caller, nodeId);
  if (allowed.isErr()) return errAsync(allowed.error);
  return commit(context, caller, (tx) => {
    const node = tx.get(nodes, [nodeId])?.record;
    if (node === undefined || !isAgentOf(tx, nodeId, instance))
      return err<never, UnknownNode>({ type: 'node_not_found', nodeId });
    if (node.Status !== 'down') takeNodeDown(tx, node, 'The agent of the node has left');
    return ok<undefined, UnknownNode>(undefined);
  }).map(({ index }) => ({ index }));
}

/** Marks the node as down or disconnected, and creates evaluations of its jobs, which replace the allocations or wait for them. */
export function takeNodeDown(
  tx: Transaction,
  node: Node,
  description: string,
  status: Extract<Node['Status'], 'down' | 'disconnected'> = 'down',
): void {
  tx.remove(nodeHeartbeats, [node.ID]);
  const lost: Node = {
    ...node,
    Status: status,
    StatusDescription: description,
    StatusUpdatedAt: unixSecondsFromInstant(tx.now),
    ModifyIndex: tx.index,
  };
  tx.put(nodes, lost);
  evaluateForNode(tx, lost);
  tx.emit('node.changed', { nodeId: node.ID, status });
}
