import { table } from '../../shared/table.js';

/** The process that is the agent of a node. Undefined for agents that do not identify themselves. */
interface NodeOwner {
  /** Of the node. */
  readonly ID: string;
  /** The process. */
  readonly instance: string;
  /** Hash of the secret in the agent's folder, which later processes from that folder share; absent without a folder. */
  readonly folder?: string;
}

export const nodeOwners = table<NodeOwner>('node_owners', (owner) => [owner.ID]);

/**
 * Whether the process may register a node with this owner: a different process may only when the server considers the owner dead, or when it
 * is the owner's successor. An agent that does not identify its process counts as a different one.
 */
export function mayOwn(
  owner: NodeOwner | undefined,
  agent: Pick<NodeOwner, 'instance' | 'folder'> | undefined,
  isReachable: boolean,
): boolean {
  if (owner === undefined || !isReachable || owner.instance === agent?.instance) return true;
  return agent?.folder !== undefined && agent.folder === owner.folder;
}

/** Whether the process making the call is the node's agent. */
export function isOwner(owner: NodeOwner | undefined, instance: string | undefined): boolean {
  return owner === undefined || owner.instance === instance;
}
