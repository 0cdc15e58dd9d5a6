import type { TableName } from '../shared/table.js';
import { allocations } from './allocation.js';
import { blockedQueues } from './blocked-queue.js';
import { capacitySignals } from './capacity-signal.js';
import { evaluations } from './evaluation.js';
import { nodeHeartbeats, nodes } from './node.js';
import { nodeUsages } from './node-usage.js';

/** Every table of this area. */
export const schedulerTables: readonly TableName[] = [
  evaluations,
  allocations,
  nodes,
  nodeHeartbeats,
  nodeUsages,
  capacitySignals,
  blockedQueues,
];
