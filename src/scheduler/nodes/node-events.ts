import { type Instant, isoFromInstant } from '../../shared/instant.js';
import type { Node, NodeEvent } from '../node.js';

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
