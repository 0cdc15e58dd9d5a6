import { err, ok, type Result } from 'neverthrow';
import type { NodeIdentity, Principal } from './principal.js';

/** A node that requests registration. */
interface ClaimedNode {
  readonly id: string;
  readonly pool: string;
  /** Whether the node already exists, or another token is bound to it. */
  readonly isTaken: boolean;
}

/** The agent may not register this node; `message` may be shown to it. */
export interface ClaimRefused {
  readonly type: 'claim_refused';
  readonly message: string;
}

/** Whether the caller may act as the node's agent: with its token, or with management rights. */
export function mayActForNode({ management, node }: Principal, nodeId: string): boolean {
  if (node !== undefined) return node.id !== undefined && node.id === nodeId;
  return management;
}

/**
 * Whether the agent with this identity may register the node. Returns the identity that the token is bound to from then on. A token
 * that is not bound yet can only register a new node, so that it cannot take over an existing one.
 */
export function decideNodeClaim(identity: NodeIdentity, claimed: ClaimedNode): Result<NodeIdentity, ClaimRefused> {
  if (claimed.pool !== identity.pool) {
    return refused(`the token is for nodes of the pool "${identity.pool}", and this one is in "${claimed.pool}"`);
  }
  if (identity.id === claimed.id) return ok(identity);
  if (identity.id !== undefined) return refused('the token belongs to another node');
  if (claimed.isTaken) {
    return refused('there is a node with this ID, and the token does not belong to it: make one for this node ID');
  }
  return ok({ ...identity, id: claimed.id });
}

function refused(message: string): Result<NodeIdentity, ClaimRefused> {
  return err({ type: 'claim_refused', message });
}
