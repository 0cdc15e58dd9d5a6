import { err, errAsync, ok, type Result, ResultAsync } from 'neverthrow';
import { type ClaimRefused, decideNodeClaim, type PermissionDenied } from '../../access/allows.js';
import type { Principal } from '../../access/principal.js';
import { tokens } from '../../access/tokens.js';
import type { NodeDescription, RegisteredNode } from '../../agent/link/node-work.js';
import type { NodeTaken, UnknownNode } from '../../ports/agent-link.js';
import type { StorageError } from '../../ports/storage.js';
import { allocations } from '../../scheduler/allocation.js';
import { type Node, nodeHeartbeats, nodes } from '../../scheduler/node.js';
import { newNodePool, nodePools } from '../../scheduler/node-pool.js';
import { isOutOfReach } from '../../scheduler/node-silence.js';
import { withNodeEvent } from '../../scheduler/nodes/node-events.js';
import { mergedMeta, nodeMetadata } from '../../scheduler/nodes/node-metadata.js';
import { finish } from '../../scheduler/steps.js';
import { unixSecondsFromInstant } from '../../shared/instant.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { steppedWork, stepsInTurns } from '../context/steps-in-turns.js';
import { signalCapacity } from '../reactions/node-rows.js';
import { readNodePool } from '../records/declared-rows.js';
import { evaluateForNode } from '../records/scheduling/node-evaluations.js';
import type { Transaction } from '../write-transaction.js';
import { assignOpenAllocations, unassignedInSteps } from './list-node-work.js';
import { isAgentOf, type NodeClaimant, takeNode } from './node-ownership.js';

/**
 * Registers a node, or updates its description, and makes it ready. With `agent`, that process becomes the node's agent.
 */
export function registerNode(
  context: EngineContext,
  caller: Principal,
  description: NodeDescription,
  agent?: NodeClaimant,
): ResultAsync<RegisteredNode, PermissionDenied | ClaimRefused | NodeTaken | StorageError> {
  if (!caller.management && caller.node === undefined) return errAsync({ type: 'permission_denied' });
  const { heartbeatTtl } = context.settings.scheduling;
  const attempt = (found?: readonly string[]) =>
    commit(context, caller, (tx): Result<'registered' | 'unread', ClaimRefused | NodeTaken> => {
      const unassigned = found ?? fewUnassigned(tx, description.ID);
      if (unassigned === undefined) return ok('unread');
      return register(tx, { caller, description, agent, unassigned }).map(() => 'registered');
    });
  return attempt()
    .andThen((first) => (first.value === 'unread' ? unassignedOn(context, description.ID).andThen(attempt) : ok(first)))
    .map(({ index }) => ({ index, heartbeatTtl }));
}

/** Undefined if finding them takes longer than a write should. */
function fewUnassigned(tx: Transaction, nodeId: string): readonly string[] | undefined {
  const some = tx.list(allocations, { index: 'open_by_node', prefix: [nodeId], limit: foundInWrite + 1 });
  return some.length > foundInWrite ? undefined : finish(unassignedInSteps(() => tx, nodeId));
}

/** The maximum number of a node's allocations that are examined in one write. */
const foundInWrite = 64;

/** The same in steps, between which the event loop runs. */
function unassignedOn(context: EngineContext, nodeId: string): ResultAsync<readonly string[], StorageError> {
  const work = steppedWork((view) => unassignedInSteps(view, nodeId));
  return new ResultAsync(stepsInTurns(context, work, never)).map((found) => found ?? []);
}

const never = new AbortController().signal;

interface Registration {
  readonly caller: Principal;
  readonly description: NodeDescription;
  readonly agent: NodeClaimant | undefined;
  /** IDs of its unfinished allocations without an assignment row. */
  readonly unassigned: readonly string[];
}

function register(
  tx: Transaction,
  { caller, description, agent, unassigned }: Registration,
): Result<undefined, ClaimRefused | NodeTaken> {
  const before = tx.get(nodes, [description.ID])?.record;
  const claimed = caller.node === undefined ? ok(undefined) : claimNode(tx, caller, description, before);
  if (claimed.isErr()) return err(claimed.error);
  const taken = takeNode(tx, description.ID, before, agent);
  if (taken.isErr()) return err(taken.error);
  const node = registered(tx, description, before);
  tx.put(nodes, node);
  createPool(tx, node.NodePool);
  putHeartbeat(tx, node.ID);
  signalCapacity(tx);
  assignOpenAllocations(tx, node.ID, unassigned);
  if (before?.Status !== 'ready') {
    evaluateForNode(tx, node, { returns: before?.Status === 'disconnected' });
    tx.emit('node.changed', { nodeId: node.ID, status: 'ready' });
  }
  return ok(undefined);
}

/** An agent's token is valid for one node: the one that it names, or the first that registers with it. */
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
          'the caller has no token of the store that could be bound to a node; give its principal the ID of the node',
      });
    tx.put(tokens, { ...token, node });
    return ok(undefined);
  });
}

/** The node as its agent describes it, with the decisions of operators kept. */
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

/** Metadata set by operators is kept, and the agent's current metadata is stored beside it. */
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

/** A pool is created with its first node. */
function createPool(tx: Transaction, name: string): void {
  if (readNodePool(tx, name) === undefined) tx.put(nodePools, newNodePool(name, tx.index));
}

/**
 * Records a heartbeat. A node that is down or disconnected, or has another agent than this process, gets an error and must register
 * again.
 */
export function heartbeatNode(
  context: EngineContext,
  caller: Principal,
  nodeId: string,
  instance?: string,
): ResultAsync<{ readonly heartbeatTtl: number }, UnknownNode | StorageError> {
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

/** The node's agent deregisters: its allocations are replaced now instead of when its silence is noticed. */
export function leaveNode(
  context: EngineContext,
  caller: Principal,
  nodeId: string,
  instance?: string,
): ResultAsync<{ readonly index: number }, UnknownNode | StorageError> {
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
