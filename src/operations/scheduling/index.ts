import type { BackgroundLoop } from '../context/engine-context.js';
import { evaluationLoop } from './evaluation-loop.js';
import { nodeLivenessLoop } from './node-liveness-loop.js';
import { waitingJobsLoop } from './waiting-jobs-loop.js';

export { listNodeWork } from './list-node-work.js';
export type { NodeClaimant } from './node-ownership.js';
export { type ListNodesInput, listNodes, readNode } from './read-nodes.js';
export { readTaskVariables } from './read-task-variables.js';
export { heartbeatNode, registerNode } from './register-node.js';
export { reportAllocations } from './report-allocations.js';
export { leaveNode } from './take-node-down.js';

/** The background loops of this area. */
export const schedulingLoops: readonly BackgroundLoop[] = [evaluationLoop, nodeLivenessLoop, waitingJobsLoop];
