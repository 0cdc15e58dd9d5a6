import { err, ok, type Result } from 'neverthrow';
import { isDraining, type Node } from '../node.js';
import { type NodeRefused, nodeRefused } from './node-errors.js';
import { type NodeWrite, withNodeEvent } from './node-events.js';

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
