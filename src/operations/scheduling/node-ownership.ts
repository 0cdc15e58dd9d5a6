import { err, ok, type Result } from 'neverthrow';
import type { NodeTaken } from '../../ports/agent-link.js';
import type { ReadView } from '../../ports/storage.js';
import type { Node } from '../../scheduler/node.js';
import { isOutOfReach } from '../../scheduler/node-silence.js';
import { isOwner, mayOwn, nodeOwners } from '../../scheduler/nodes/node-owner.js';
import type { Transaction } from '../write-transaction.js';

/** A process that registers a node. */
export interface NodeClaimant {
  /** A new string for each start of an agent. */
  readonly instance: string;
  /** A hash shared by all agents of the same folder; absent without a folder. */
  readonly folder?: string;
}

/** Makes the process the agent of the node, unless another live process is its agent. */
export function takeNode(
  tx: Transaction,
  nodeId: string,
  before: Node | undefined,
  agent: NodeClaimant | undefined,
): Result<void, NodeTaken> {
  const owner = tx.get(nodeOwners, [nodeId])?.record;
  const isReachable = before !== undefined && !isOutOfReach(before);
  if (!mayOwn(owner, agent, isReachable)) return err(nodeTaken(nodeId));
  if (agent === undefined) tx.remove(nodeOwners, [nodeId]);
  else if (owner?.instance !== agent.instance) tx.put(nodeOwners, { ID: nodeId, ...agent });
  return ok(undefined);
}

/** Whether the process is the agent of the node according to the store. */
export function isAgentOf(view: ReadView, nodeId: string, instance: string | undefined): boolean {
  return isOwner(view.get(nodeOwners, [nodeId])?.record, instance);
}

function nodeTaken(nodeId: string): NodeTaken {
  const message =
    `another live agent owns the node ${nodeId}: give each agent its own node ID and directory. ` +
    'A replacement for a dead agent can register once the server marks the node down';
  return { type: 'node_taken', message };
}
