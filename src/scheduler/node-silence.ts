import type { TaskGroup } from '../jobs/document/task-group.js';
import type { Milliseconds } from '../shared/duration.js';
import type { Instant } from '../shared/instant.js';
import { type Allocation, isClientTerminal } from './allocation.js';
import type { Node } from './node.js';
import { isExpired, lostAfter } from './reconcile/situation.js';

/** A node's last heartbeat as a watcher reads it. */
export interface Heartbeat {
  readonly nodeId: string;
  /** Differs for each heartbeat. */
  readonly token: number;
  /** On the watcher's own monotonic clock; undefined when recorded on another timeline. */
  readonly at: Milliseconds | undefined;
}

/** State of a heartbeat watcher. All times are on its own monotonic clock. */
export interface SilenceWatch {
  /** Since when heartbeats could be received: silence is counted from here at the earliest. */
  readonly since: Milliseconds;
  /** When the watcher planned its next check; if the check is much later, the watcher itself was suspended. */
  readonly expected: Milliseconds;
  /** When each heartbeat of another timeline was first seen. */
  readonly seen: ReadonlyMap<string, { readonly token: number; readonly at: Milliseconds }>;
}

export function newSilenceWatch(now: Milliseconds): SilenceWatch {
  return { since: now, expected: now, seen: new Map() };
}

interface Silence {
  readonly watch: SilenceWatch;
  /** Heartbeats that are older than the time to live. */
  readonly silent: readonly Heartbeat[];
  /** When the next node may become silent; undefined without nodes. */
  readonly next: Milliseconds | undefined;
}

/**
 * Finds silent nodes. Wall time is never used, and a watcher that was absent itself (started just now, stopped,
 * suspended, late) gives every node one full time to live before the next check.
 */
export function observeHeartbeats(
  watch: SilenceWatch,
  heartbeats: readonly Heartbeat[],
  ttl: Milliseconds,
  now: Milliseconds,
): Silence {
  const since = wasAbsent(watch, ttl, now) ? now : watch.since;
  const seen = new Map<string, { token: number; at: Milliseconds }>();
  const silent: Heartbeat[] = [];
  let next: Milliseconds | undefined;
  for (const heartbeat of heartbeats) {
    const heard = Math.max(since, heardAt(watch, heartbeat, now));
    if (heartbeat.at === undefined) seen.set(heartbeat.nodeId, { token: heartbeat.token, at: heard });
    // Both branches use one sum: computed in two ways, rounding could make a node neither silent now nor due later.
    const due = heard + ttl;
    if (now >= due) silent.push(heartbeat);
    else next = Math.min(next ?? Number.POSITIVE_INFINITY, due);
  }
  return { watch: { since, expected: next ?? now, seen }, silent, next };
}

/** A watcher that is late by more than this share of the time to live may have missed heartbeats. */
const lateness = 1 / 3;

function wasAbsent(watch: SilenceWatch, ttl: Milliseconds, now: Milliseconds): boolean {
  return now - watch.expected > ttl * lateness;
}

function heardAt(watch: SilenceWatch, { nodeId, token, at }: Heartbeat, now: Milliseconds): Milliseconds {
  if (at !== undefined) return at;
  const before = watch.seen.get(nodeId);
  return before?.token === token ? before.at : now;
}

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
