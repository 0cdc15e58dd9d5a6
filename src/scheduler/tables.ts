import type { TableName } from '../shared/table.js';
import { allocations } from './allocation.js';
import { blockedRequirements } from './blocked/blocked-requirement.js';
import { capacitySignals } from './capacity-signal.js';
import { deployments } from './deployment/deployment.js';
import { evaluations } from './evaluation.js';
import { nodeHeartbeats, nodes } from './node.js';
import { nodeAssignments } from './node-assignment.js';
import { nodePools } from './node-pool.js';
import { nodeUsages } from './node-usage.js';
import { nodeMetadata } from './nodes/node-metadata.js';
import { schedulerConfigurations } from './scheduler-configuration.js';

/** All tables of this folder. */
export const schedulerTables: readonly TableName[] = [
  evaluations,
  allocations,
  nodes,
  nodeHeartbeats,
  nodeMetadata,
  nodeAssignments,
  nodeUsages,
  capacitySignals,
  blockedRequirements,
  deployments,
  nodePools,
  schedulerConfigurations,
];
