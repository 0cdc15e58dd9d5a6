import type { TableName } from '../shared/table.js';
import { allocations } from './allocation.js';
import { blockedQueues } from './blocked-queue.js';
import { capacitySignals } from './capacity-signal.js';
import { deployments } from './deployment/deployment.js';
import { evaluations } from './evaluation.js';
import { nodeHeartbeats, nodes } from './node.js';
import { nodePools } from './node-pool.js';
import { nodeUsages } from './node-usage.js';
import { schedulerConfigurations } from './scheduler-configuration.js';

/** Every table of this area. */
export const schedulerTables: readonly TableName[] = [
  evaluations,
  allocations,
  nodes,
  nodeHeartbeats,
  nodeUsages,
  capacitySignals,
  blockedQueues,
  deployments,
  nodePools,
  schedulerConfigurations,
];
