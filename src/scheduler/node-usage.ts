import { table } from '../shared/table.js';
import type { Capacity } from './cluster/capacity.js';

/** Usage of all allocations that a node has not finished with; stored beside the node so that no placement has to sum it up. */
export interface NodeUsage extends Capacity {
  readonly ID: string;
}

export const nodeUsages = table<NodeUsage>('node_usages', (usage) => [usage.ID]);
