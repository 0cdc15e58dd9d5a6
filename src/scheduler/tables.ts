import type { TableName } from '../shared/table.js';
import { allocations } from './allocation.js';
import { evaluations } from './evaluation.js';
import { nodeHeartbeats, nodes } from './node.js';

/** Every table of this area. */
export const schedulerTables: readonly TableName[] = [evaluations, allocations, nodes, nodeHeartbeats];
