import { table } from '../shared/table.js';

/**
 * Blocked evaluations, queued by what they ask for. Evaluations of one queue want the same from a node, so when the first
 * of a queue still finds no place, the rest of that queue need not be tried.
 */
export interface BlockedEvaluation {
  readonly ID: string;
  /** The parent of a dispatched or periodic job, else the job itself: its children all ask for the same. */
  readonly queue: string;
  readonly priority: number;
  readonly createIndex: number;
}

export const blockedQueues = table<BlockedEvaluation>('blocked_evaluations', (blocked) => [blocked.ID], {
  by_queue: { version: 1, key: (blocked) => [blocked.queue, -blocked.priority, blocked.createIndex] },
});

export function blockedQueueName(namespace: string, jobId: string, parentId: string): string {
  return JSON.stringify([namespace, parentId === '' ? jobId : parentId]);
}
