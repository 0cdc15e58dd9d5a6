import { ok, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import { cancelDrain, type DrainSpec, startDrain } from '../../scheduler/nodes/drain.js';
import type { EngineContext } from '../context/engine-context.js';
import { type ChangedNode, type ChangeNodeError, changeNode } from './change-node.js';

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
