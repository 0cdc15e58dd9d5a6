import type { BackgroundLoop } from '../shared/context.js';
import { evaluationLoop } from './evaluation-loop.js';
import { nodeLivenessLoop } from './node-liveness-loop.js';

export { listNodeWork, type NodeWork } from './list-node-work.js';
export { listNodes, readNode } from './read-nodes.js';
export {
  heartbeatNode,
  type NodeDescription,
  type RegisteredNode,
  registerNode,
  type UnknownNode,
} from './register-node.js';
export { type AllocationReport, type ReportOutcome, reportAllocations } from './report-allocations.js';

/** The background loops of this area. */
export const schedulingLoops: readonly BackgroundLoop[] = [evaluationLoop, nodeLivenessLoop];
