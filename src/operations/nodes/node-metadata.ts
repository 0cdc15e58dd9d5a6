import { err, errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import type { ReadView, StorageError } from '../../ports/storage.js';
import { isReadyNode, nodes } from '../../scheduler/node.js';
import { type NodeNotFound, type NodeRefused, nodeNotFound, nodeRefused } from '../../scheduler/nodes/node-errors.js';
import {
  type DynamicMeta,
  decideNodeMetadata,
  mergedMeta,
  type NodeMetadata,
  nodeMetadata,
  type StoredNodeMetadata,
} from '../../scheduler/nodes/node-metadata.js';
import { type EngineContext, onlyNode, readResult } from '../context/engine-context.js';
import { signalCapacity } from '../reactions/node-rows.js';
import { evaluateForNode } from '../records/scheduling/node-evaluations.js';
import { withNode } from './drain-and-eligibility.js';

/** Errors of reading and changing a node's metadata. */
type NodeMetadataError = NodeNotFound | NodeRefused | StorageError;

/** The metadata of a node; without an ID, of the one that is connected here. Needs `node:read`. */
export function readNodeMetadata(
  context: EngineContext,
  _caller: Principal,
  { nodeId }: { readonly nodeId?: string },
): ResultAsync<NodeMetadata, NodeMetadataError> {
  return nodeAsked(context, nodeId).asyncAndThen((id) =>
    readResult(context, (view): Result<NodeMetadata, NodeNotFound> => {
      const stored = storedIn(view, id);
      return stored === undefined ? err(nodeNotFound(id)) : ok(documentOf(stored));
    }),
  );
}

/**
 * Sets and removes metadata of a node, effective immediately and kept when its agent registers again. Jobs that may use the
 * node are evaluated. Needs `node:write`.
 */
export function applyNodeMetadata(
  context: EngineContext,
  caller: Principal,
  { nodeId, changes }: { readonly nodeId?: string; readonly changes: DynamicMeta },
): ResultAsync<NodeMetadata, NodeMetadataError> {
  const asked = nodeAsked(context, nodeId);
  if (asked.isErr()) return errAsync(asked.error);
  return withNode(context, caller, asked.value, (tx, node) =>
    decideNodeMetadata(storedIn(tx, node.ID) ?? { ID: node.ID, Static: {}, Dynamic: {} }, changes).map((stored) => {
      const document = documentOf(stored);
      tx.put(nodeMetadata, stored);
      tx.put(nodes, { ...node, Meta: document.Meta, ModifyIndex: tx.index });
      tx.emit('node.changed', { nodeId: node.ID, status: node.Status });
      if (isReadyNode(node)) {
        signalCapacity(tx);
        evaluateForNode(tx, node);
      }
      return document;
    }),
  );
}

function nodeAsked(context: EngineContext, nodeId = ''): Result<string, NodeRefused> {
  const asked = nodeId === '' ? onlyNode(context) : nodeId.toLowerCase();
  return asked === undefined
    ? err(nodeRefused('metadata', 'name the node: this server has no connected node, or several'))
    : ok(asked);
}

/** A node without added metadata has the metadata that its agent reported. */
function storedIn(view: ReadView, nodeId: string): StoredNodeMetadata | undefined {
  const node = view.get(nodes, [nodeId])?.record;
  if (node === undefined) return undefined;
  return view.get(nodeMetadata, [nodeId])?.record ?? { ID: nodeId, Static: node.Meta ?? {}, Dynamic: {} };
}

function documentOf({ Static, Dynamic }: StoredNodeMetadata): NodeMetadata {
  return { Meta: mergedMeta(Static, Dynamic), Dynamic, Static };
}
