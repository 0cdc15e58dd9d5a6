import type { ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import { decideEligibility } from '../../scheduler/nodes/eligibility.js';
import type { EngineContext } from '../context/engine-context.js';
import { type ChangedNode, type ChangeNodeError, changeNode } from './change-node.js';

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
