import { ok, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import { cancelDrain, type DrainSpec, startDrain } from '../../scheduler/nodes/drain.js';
import type { EngineContext } from '../context/engine-context.js';
import { type ChangedNode, type ChangeNodeError, changeNode } from './change-node.js';

/** The node that is emptied, or whose drain ends. */
export interface DrainNodeInput {
  readonly nodeId: string;
  /** Null ends the drain. */
  readonly spec: DrainSpec | null;
  /** With the end of a drain: the node takes allocations again. */
  readonly markEligible?: boolean;
  /** Kept with the drain, for people. */
  readonly meta?: Readonly<Record<string, string>> | null;
}

/**
 * Empties a node: it takes nothing new, and its allocations leave it as their migrate blocks allow, at the deadline all at once. The
 * drain loop does that; `LastDrain` of the node says how far it is.
 */
export function drainNode(
  context: EngineContext,
  caller: Principal,
  input: DrainNodeInput,
): ResultAsync<ChangedNode, ChangeNodeError> {
  const { spec, meta = null } = input;
  const { accessor } = caller;
  return changeNode(context, caller, input.nodeId, (node, moment) =>
    spec === null
      ? ok(cancelDrain(node, { accessor, meta, markEligible: input.markEligible === true }, moment))
      : startDrain(node, { spec, accessor, meta }, moment),
  );
}
