/** The node does not exist, or must register again. */
export interface NodeNotFound {
  readonly type: 'node_not_found';
  /** The ID that was asked for. */
  readonly nodeId: string;
  readonly message: string;
}

/** The node's current state does not allow the request. */
export interface NodeRefused {
  readonly type: 'node_refused';
  /** What cannot be changed, or what prevents the change. */
  readonly reason: 'eligibility' | 'draining' | 'drain' | 'metadata';
  readonly message: string;
}

export function nodeNotFound(nodeId: string): NodeNotFound {
  return { type: 'node_not_found', nodeId, message: 'node not found' };
}

export function nodeRefused(reason: NodeRefused['reason'], message: string): NodeRefused {
  return { type: 'node_refused', reason, message };
}
