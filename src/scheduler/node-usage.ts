import { table } from '../shared/table.js';
import type { Capacity } from './cluster/capacity.js';

/** What the allocations use that a node has not finished with; kept beside the node so that no placement has to add them up. */
export interface NodeUsage extends Capacity {
  readonly ID: string;
}

export const nodeUsages = table<NodeUsage>('node_usages', (usage) => [usage.ID]);
