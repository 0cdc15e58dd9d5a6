import { ok, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import type { StorageError } from '../../ports/storage.js';
import { type Node, nodes } from '../../scheduler/node.js';
import type { NodeNotFound } from '../../scheduler/nodes/node-errors.js';
import { datacenter, type EngineContext, ownAddress } from '../context/engine-context.js';
import { evaluateForNode } from '../records/scheduling/node-evaluations.js';
import { type ChangedNode, unchanged, withNode } from './drain-and-eligibility.js';

/** The created evaluations, and the facts about servers that existing agents read from this response. */
export interface EvaluatedNode extends ChangedNode {
  /** Whether the node gets new allocations. */
  readonly eligibility: Node['SchedulingEligibility'];
  /** Nodes in the installation. */
  readonly nodeCount: number;
  /** Host and port of this server. */
  readonly server: string;
  /** The datacenter of the node. */
  readonly datacenter: string;
}

/** Creates evaluations of all jobs that the node affects. */
export function evaluateNode(
  context: EngineContext,
  caller: Principal,
  { nodeId }: { readonly nodeId: string },
): ResultAsync<EvaluatedNode, NodeNotFound | StorageError> {
  return withNode(context, caller, nodeId, (tx, node) =>
    ok({
      ...unchanged(tx, evaluateForNode(tx, node, { nodeIndex: node.ModifyIndex })),
      eligibility: node.SchedulingEligibility,
      nodeCount: tx.list(nodes).length,
      server: ownAddress(context),
      datacenter,
    }),
  );
}
