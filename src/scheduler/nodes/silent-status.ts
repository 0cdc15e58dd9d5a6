import type { TaskGroup } from '../../jobs/document/task-group.js';
import type { Instant } from '../../shared/instant.js';
import { type Allocation, isClientTerminal } from '../allocation.js';
import type { Node } from '../node.js';
import { isExpired, lostAfter } from '../reconcile/disconnect.js';

/** An allocation that its node has not finished with, and its group in the job version that it runs. */
export interface UnfinishedAllocation {
  readonly allocation: Allocation;
  readonly group: TaskGroup | undefined;
}

/**
 * The status of a node whose agent is silent: `disconnected` while the group of one of its allocations waits for it
 * (`disconnect.lost_after`), else `down`.
 */
export function silentStatus(
  unfinished: Iterable<UnfinishedAllocation>,
  now: Instant,
): Extract<Node['Status'], 'down' | 'disconnected'> {
  for (const { allocation, group } of unfinished) {
    if (allocation.DesiredStatus !== 'run' || isClientTerminal(allocation) || lostAfter(group) === 0) continue;
    if (!isExpired(allocation, group, now)) return 'disconnected';
  }
  return 'down';
}

/** Whether the node was silent for so long that its agent has to register again before it reports. */
export function isOutOfReach({ Status }: Pick<Node, 'Status'>): boolean {
  return Status === 'down' || Status === 'disconnected';
}
