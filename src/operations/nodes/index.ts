import type { BackgroundLoop } from '../context/engine-context.js';
import { drainLoop } from './drain-loop.js';

/*
 * Operations on nodes for operators: eligibility, drains, purges, pools, and the configuration of the scheduler.
 */
export type { ChangedNode, ChangeNodeError } from './change-node.js';
export { type DrainNodeInput, drainNode } from './drain-node.js';
export { type EvaluatedNode, evaluateNode } from './evaluate-node.js';
export { applyNodeMetadata, type NodeMetadataError, readNodeMetadata } from './node-metadata.js';
export {
  listNodePoolNodes,
  listNodePools,
  type NodePoolInput,
  putNodePool,
  readNodePool,
  removeNodePool,
} from './node-pools.js';
export { purgeNode } from './purge-node.js';
export { listNodeAllocations } from './read-node-allocations.js';
export {
  readSchedulerConfiguration,
  type SchedulerConfigurationInput,
  setSchedulerConfiguration,
} from './scheduler-configuration.js';
export { type SetNodeEligibilityInput, setNodeEligibility } from './set-node-eligibility.js';

/** The background loops of this area. */
export const nodeLoops: readonly BackgroundLoop[] = [drainLoop];
