import { err, errAsync, type Result, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import type { StorageError } from '../../ports/storage.js';
import { isReadyNode, type Node, nodes } from '../../scheduler/node.js';
import { type NodeNotFound, type NodeRefused, nodeNotFound } from '../../scheduler/nodes/node-errors.js';
import type { NodeWrite } from '../../scheduler/nodes/node-events.js';
import { authoriseArea, type PermissionDenied } from '../authorise.js';
import { commit } from '../commit.js';
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
export type ChangeNodeError = PermissionDenied | NodeNotFound | NodeRefused | StorageError;

/** Changes a node by a pure rule. When a node becomes eligible again, the jobs that may use it are evaluated. */
export function changeNode(
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
): ResultAsync<T, PermissionDenied | NodeNotFound | E | StorageError> {
  const allowed = authoriseArea(caller, 'node', 'write');
  if (allowed.isErr()) return errAsync(allowed.error);
  return commit(context, caller, (tx): Result<T, NodeNotFound | E> => {
    const node = tx.get(nodes, [nodeId])?.record;
    return node === undefined ? err(nodeNotFound(nodeId)) : work(tx, node);
  }).map(({ value }) => value);
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
