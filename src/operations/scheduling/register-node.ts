import { err, errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import { type ClaimRefused, decideNodeClaim } from '../../access/node-claim.js';
import type { Principal } from '../../access/principal.js';
import { tokens } from '../../access/tokens.js';
import type { NodeDescription, RegisteredNode } from '../../agent/link/node-work.js';
import type { NodeTaken, UnknownNode } from '../../ports/agent-link.js';
import type { StorageError } from '../../ports/storage.js';
import { type Node, nodeHeartbeats, nodes } from '../../scheduler/node.js';
import { newNodePool, nodePools } from '../../scheduler/node-pool.js';
import { withNodeEvent } from '../../scheduler/nodes/node-events.js';
import { mergedMeta, nodeMetadata } from '../../scheduler/nodes/node-metadata.js';
import { isOutOfReach } from '../../scheduler/nodes/silent-status.js';
import { unixSecondsFromInstant } from '../../shared/instant.js';
import { authoriseNode, type PermissionDenied } from '../authorise.js';
import { readNodePool } from '../books/node-pool-rows.js';
import { evaluateForNode } from '../books/scheduling/node-evaluations.js';
import { signalCapacity } from '../books/scheduling/put-allocation.js';
import { commit, type Transaction } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { assignOpenAllocations } from './node-assignments.js';
import { isAgentOf, type NodeClaimant, takeNode } from './node-ownership.js';

/**
 * Registers a node, or brings its description up to date, and makes it ready. With `agent` that process is the node's agent from then on.
 */
export function registerNode(
  context: EngineContext,
  caller: Principal,
  description: NodeDescription,
  agent?: NodeClaimant,
): ResultAsync<RegisteredNode, PermissionDenied | ClaimRefused | NodeTaken | StorageError> {
  if (!caller.management && caller.node === undefined) return errAsync({ type: 'permission_denied' });
  const { heartbeatTtl } = context.settings.scheduling;
  return commit(context, caller, (tx) => {
    const before = tx.get(nodes, [description.ID])?.record;
    const claimed = caller.node === undefined ? ok(undefined) : claimNode(tx, caller, description, before);
    if (claimed.isErr()) return err<never, ClaimRefused | NodeTaken>(claimed.error);
    const taken = takeNode(tx, description.ID, before, agent);
    if (taken.isErr()) return err<never, ClaimRefused | NodeTaken>(taken.error);
    const node = registered(tx, description, before);
    tx.put(nodes, node);
    createPool(tx, node.NodePool);
    putHeartbeat(tx, node.ID);
    signalCapacity(tx);
    assignOpenAllocations(tx, node.ID);
    if (before?.Status !== 'ready') {
      evaluateForNode(tx, node, { returns: before?.Status === 'disconnected' });
      tx.tell('node.changed', { nodeId: node.ID, status: 'ready' });
    }
    return ok<undefined, ClaimRefused | NodeTaken>(undefined);
  }).map(({ index }) => ({ index, heartbeatTtl }));
}

/** The token of an agent is for one node: the one that it names, or the first that registers with it. */
function claimNode(
  tx: Transaction,
  caller: Principal,
  { ID, NodePool }: NodeDescription,
  before: Node | undefined,
): Result<void, ClaimRefused> {
  const token = tx.get(tokens, [caller.accessor])?.record;
  const identity = token?.node ?? caller.node;
  if (identity === undefined) return ok(undefined);
  const holders = tx.list(tokens, { index: 'by_node', prefix: [ID], limit: 1 });
  const isTaken = before !== undefined || holders.length > 0;
  return decideNodeClaim(identity, { id: ID, pool: NodePool, isTaken }).andThen((node): Result<void, ClaimRefused> => {
    if (node === identity) return ok(undefined);
    if (token === undefined)
      return err({
        type: 'claim_refused',
        message:
          'no token of the store belongs to the caller, so it cannot be bound to a node; give its principal the ID of the node',
      });
    tx.put(tokens, { ...token, node });
    return ok(undefined);
  });
}

/** The node as its agent describes it, with what operators have decided about it. */
function registered(tx: Transaction, description: NodeDescription, before: Node | undefined): Node {
  const node: Node = {
    ...description,
    Meta: metaOf(tx, description),
    ...(before === undefined ? {} : decidedByOperators(before)),
    Status: 'ready',
    StatusDescription: '',
    StatusUpdatedAt: before?.Status === 'ready' ? before.StatusUpdatedAt : unixSecondsFromInstant(tx.now),
    CreateIndex: before?.CreateIndex ?? tx.index,
    ModifyIndex: tx.index,
  };
  if (before?.Status === 'ready') return node;
  const Message = before === undefined ? 'Node registered' : 'Node re-registered';
  return withNodeEvent(node, { Subsystem: 'Cluster', Message }, { now: tx.now, index: tx.index });
}

/** What operators have added stays, and what the agent reports now is kept beside it. */
function metaOf(tx: Transaction, { ID, Meta }: NodeDescription): Node['Meta'] {
  const before = tx.get(nodeMetadata, [ID])?.record;
  if (before === undefined) return Meta;
  tx.put(nodeMetadata, { ...before, Static: Meta ?? {} });
  return mergedMeta(Meta ?? {}, before.Dynamic);
}

function decidedByOperators(before: Node): Partial<Node> {
  const { SchedulingEligibility, DrainStrategy, LastDrain, Events } = before;
  return {
    SchedulingEligibility,
    ...(DrainStrategy === undefined ? {} : { DrainStrategy }),
    ...(LastDrain === undefined ? {} : { LastDrain }),
    ...(Events === undefined ? {} : { Events }),
  };
}

/** A pool exists from its first node on. */
function createPool(tx: Transaction, name: string): void {
  if (readNodePool(tx, name) === undefined) tx.put(nodePools, newNodePool(name, tx.index));
}

/**
 * Tells that the node is alive. A node that is down or disconnected, or has another agent than this process, is unknown here and must register
 * again.
 */
export function heartbeatNode(
  context: EngineContext,
  caller: Principal,
  nodeId: string,
  instance?: string,
): ResultAsync<{ readonly heartbeatTtl: number }, PermissionDenied | UnknownNode | StorageError> {
  const allowed = authoriseNode(caller, nodeId);
  if (allowed.isErr()) return errAsync(allowed.error);
  const { heartbeatTtl } = context.settings.scheduling;
  return commit(context, caller, (tx) => {
    const node = tx.get(nodes, [nodeId])?.record;
    if (node === undefined || isOutOfReach(node) || !isAgentOf(tx, nodeId, instance)) {
      return err<never, UnknownNode>({ type: 'node_not_found', nodeId });
    }
    putHeartbeat(tx, nodeId);
    return ok<undefined, UnknownNode>(undefined);
  }).map(() => ({ heartbeatTtl }));
}

function putHeartbeat(tx: Transaction, nodeId: string): void {
  tx.put(nodeHeartbeats, { ID: nodeId, timeline: tx.timeline, at: tx.monotonic });
}
