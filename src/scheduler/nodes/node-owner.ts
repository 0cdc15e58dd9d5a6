import { table } from '../../shared/table.js';

/** Which process is the agent of a node. None for agents that do not say. */
interface NodeOwner {
  /** Of the node. */
  readonly ID: string;
  /** The process. */
  readonly instance: string;
  /** Hash of the secret in the agent's folder, which its successors from that folder share; absent without a folder. */
  readonly folder?: string;
}

export const nodeOwners = table<NodeOwner>('node_owners', (owner) => [owner.ID]);

/**
 * Whether the process may register a node with this owner: another one only when the server takes the owner for dead, or when the process
 * is its successor. An agent that does not say which process it is is taken for another one.
 */
export function mayOwn(
  owner: NodeOwner | undefined,
  agent: Pick<NodeOwner, 'instance' | 'folder'> | undefined,
  isReachable: boolean,
): boolean {
  if (owner === undefined || !isReachable || owner.instance === agent?.instance) return true;
  return agent?.folder !== undefined && agent.folder === owner.folder;
}

/** Whether calls of the process are those of the node's agent. */
export function isOwner(owner: NodeOwner | undefined, instance: string | undefined): boolean {
  return owner === undefined || owner.instance === instance;
}
