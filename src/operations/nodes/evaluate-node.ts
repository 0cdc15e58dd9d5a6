import { ok, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import type { StorageError } from '../../ports/storage.js';
import type { NodeNotFound } from '../../scheduler/nodes/node-errors.js';
import type { PermissionDenied } from '../authorise.js';
import { evaluateForNode } from '../books/node-evaluations.js';
import type { EngineContext } from '../context/engine-context.js';
import { answerOf, type ChangedNode, withNode } from './change-node.js';

/** Has the scheduler look at every job that the node concerns. */
export function evaluateNode(
  context: EngineContext,
  caller: Principal,
  { nodeId }: { readonly nodeId: string },
): ResultAsync<ChangedNode, PermissionDenied | NodeNotFound | StorageError> {
  return withNode(context, caller, nodeId, (tx, node) => ok(answerOf(tx, evaluateForNode(tx, node), 0)));
}
