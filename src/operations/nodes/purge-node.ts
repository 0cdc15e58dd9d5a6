import { ok, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import type { StorageError } from '../../ports/storage.js';
import type { NodeNotFound } from '../../scheduler/nodes/node-errors.js';
import type { EngineContext } from '../context/engine-context.js';
import { removeNode } from '../records/scheduling/node-rows.js';
import { type ChangedNode, changed, withNode } from './drain-and-eligibility.js';

/** Removes a node: its allocations are lost and replaced on other nodes. A live node reappears when it registers again. */
export function purgeNode(
  context: EngineContext,
  caller: Principal,
  { nodeId }: { readonly nodeId: string },
): ResultAsync<ChangedNode, NodeNotFound | StorageError> {
  return withNode(context, caller, nodeId, (tx, node) => {
    removeNode(tx, nodeId);
    return ok(changed(tx, node));
  });
}
