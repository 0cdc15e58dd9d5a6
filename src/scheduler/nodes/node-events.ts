import { err, ok, type Result } from 'neverthrow';
import { type Instant, isoFromInstant } from '../../shared/instant.js';
import { isDraining, type Node, type NodeEvent } from '../node.js';
import { type NodeRefused, nodeRefused } from './node-errors.js';

/** The write that changes a node. */
export interface NodeWrite {
  readonly now: Instant;
  readonly index: number;
}

/** Number of events kept per node. */
const keptEvents = 10;

/** The node with an added event and the write's index. */
export function withNodeEvent(
  node: Node,
  event: Pick<NodeEvent, 'Message' | 'Subsystem'>,
  { now, index }: NodeWrite,
): Node {
  const added = { ...event, Details: null, Timestamp: isoFromInstant(now), CreateIndex: index };
  return { ...node, Events: [...(node.Events ?? []), added].slice(-keptEvents), ModifyIndex: index };
}

/** Sets whether the node takes new allocations. Returns the same node when nothing changes. */
export function decideEligibility(node: Node, eligibility: string, write: NodeWrite): Result<Node, NodeRefused> {
  if (eligibility !== 'eligible' && eligibility !== 'ineligible') {
    return err(nodeRefused('eligibility', `invalid scheduling eligibility ${JSON.stringify(eligibility)}`));
  }
  if (eligibility === 'eligible' && isDraining(node)) {
    const message = "can not set node's scheduling eligibility to eligible while it is draining";
    return err(nodeRefused('draining', message));
  }
  if (node.SchedulingEligibility === eligibility) return ok(node);
  const event = { Subsystem: 'Cluster', Message: `Node marked as ${eligibility} for scheduling` };
  return ok(withNodeEvent({ ...node, SchedulingEligibility: eligibility }, event, write));
}
