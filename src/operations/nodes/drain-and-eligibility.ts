import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import type { StorageError } from '../../ports/storage.js';
import { isReadyNode, type Node, nodes } from '../../scheduler/node.js';
import { cancelDrain, type DrainSpec, startDrain } from '../../scheduler/nodes/decide-drain.js';
import { type NodeNotFound, type NodeRefused, nodeNotFound } from '../../scheduler/nodes/node-errors.js';
import { decideEligibility, type NodeWrite } from '../../scheduler/nodes/node-events.js';
import { commitValue } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { signalCapacity } from '../reactions/node-rows.js';
import { evaluateForNode } from '../records/scheduling/node-evaluations.js';
import type { Transaction } from '../write-transaction.js';

/** The result of a change of a node. */
export interface ChangedNode {
  /** IDs of the evaluations that the change requires, one for each job. */
  readonly evalIds: readonly string[];
  /** 0 without evaluations; otherwise after `index` if the node was changed. */
  readonly evalCreateIndex: number;
  /** 0 when the node is unchanged. */
  readonly nodeModifyIndex: number;
  /** Index of the change; without a change, of the evaluations; 0 when nothing was written. */
  readonly index: number;
}

/** Why an operation on a node is refused. */
type ChangeNodeError = NodeNotFound | NodeRefused | StorageError;

/** Changes a node by a pure rule. When a node becomes eligible again, the jobs that may use it are evaluated. */
function changeNode(
  context: EngineContext,
  caller: Principal,
  nodeId: string,
  decide: (node: Node, write: NodeWrite) => Result<Node, NodeRefused>,
): ResultAsync<ChangedNode, ChangeNodeError> {
  return withNode(context, caller, nodeId, (tx, before) =>
    decide(before, { now: tx.now, index: tx.index }).map((after) => {
      if (after === before) return unchanged(tx, []);
      tx.put(nodes, after);
      tx.emit('node.changed', { nodeId, status: after.Status });
      if (isReadyNode(before) || !isReadyNode(after)) return { ...unchanged(tx, []), nodeModifyIndex: tx.index };
      signalCapacity(tx);
      return changed(tx, after);
    }),
  );
}

/** Runs the work on an existing node. */
export function withNode<T, E>(
  context: EngineContext,
  caller: Principal,
  nodeId: string,
  work: (tx: Transaction, node: Node) => Result<T, E>,
): ResultAsync<T, NodeNotFound | E | StorageError> {
  return commitValue(context, caller, (tx): Result<T, NodeNotFound | E> => {
    const node = tx.get(nodes, [nodeId])?.record;
    return node === undefined ? err(nodeNotFound(nodeId)) : work(tx, node);
  });
}

/** The result after a changed node was stored. */
export function changed(tx: Transaction, node: Node): ChangedNode {
  const { index } = tx;
  return { ...unchanged(tx, evaluateForNode(tx, node, { apart: true })), nodeModifyIndex: index, index };
}

/** The result for an unchanged node, with the evaluations that were created. */
export function unchanged(tx: Transaction, made: readonly { readonly ID: string }[]): ChangedNode {
  const { index } = tx;
  return { evalIds: made.map(({ ID }) => ID), evalCreateIndex: made.length > 0 ? index : 0, nodeModifyIndex: 0, index };
}

/** Starts, changes or cancels a drain. */
interface DrainNodeInput {
  readonly nodeId: string;
  /** The deadline of the drain, 0 when absent; null and absent cancel it. */
  readonly spec?: Partial<DrainSpec> | null;
  /** When cancelling: makes the node eligible again. */
  readonly markEligible?: boolean;
  /** Stored with the drain, for display. */
  readonly meta?: Readonly<Record<string, string>> | null;
}

/**
 * Drains a node: it gets no new allocations, and its allocations leave as their migrate blocks allow, at the deadline all at once. The
 * drain loop carries it out; `LastDrain` of the node shows the progress.
 */
export function drainNode(
  context: EngineContext,
  caller: Principal,
  input: DrainNodeInput,
): ResultAsync<ChangedNode, ChangeNodeError> {
  const { spec: asked, meta = null } = input;
  const spec = asked ? { Deadline: asked.Deadline ?? 0, IgnoreSystemJobs: asked.IgnoreSystemJobs === true } : null;
  const { accessor } = caller;
  return changeNode(context, caller, input.nodeId, (node, write) =>
    spec === null
      ? ok(cancelDrain(node, { accessor, meta, markEligible: input.markEligible === true }, write))
      : startDrain(node, { spec, accessor, meta }, write),
  );
}

/** The node and its new eligibility. */
interface SetNodeEligibilityInput {
  readonly nodeId: string;
  /** `eligible` or `ineligible`. */
  readonly eligibility?: string;
}

/** Sets whether a node is eligible for new allocations; running ones are unaffected. The index is 0 without a change. */
export function setNodeEligibility(
  context: EngineContext,
  caller: Principal,
  { nodeId, eligibility = '' }: SetNodeEligibilityInput,
): ResultAsync<ChangedNode, ChangeNodeError> {
  return changeNode(context, caller, nodeId, (node, write) => decideEligibility(node, eligibility, write)).map(
    (changed) => (changed.nodeModifyIndex === 0 ? { ...changed, index: 0 } : changed),
  );
}
