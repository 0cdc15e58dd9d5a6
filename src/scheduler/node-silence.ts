import type { Milliseconds } from '../shared/duration.js';

/** A node's last heartbeat as a watcher reads it. */
export interface Heartbeat {
  readonly nodeId: string;
  /** Another one with each heartbeat. */
  readonly token: number;
  /** On the watcher's own monotonic clock; undefined when it was recorded on another timeline. */
  readonly at: Milliseconds | undefined;
}

/** The state of a watcher of heartbeats. All times are those of its own monotonic clock. */
export interface SilenceWatch {
  /** Since when heartbeats can be received: no node counts as silent from an earlier time. */
  readonly since: Milliseconds;
  /** When the watcher meant to check again; if it looks much later, the watcher itself was absent. */
  readonly expected: Milliseconds;
  /** When each heartbeat of another timeline was first seen. */
  readonly seen: ReadonlyMap<string, { readonly token: number; readonly at: Milliseconds }>;
}

export function newSilenceWatch(now: Milliseconds): SilenceWatch {
  return { since: now, expected: now, seen: new Map() };
}

interface Silence {
  readonly watch: SilenceWatch;
  /** Last heartbeats that are older than the whole time to live. */
  readonly silent: readonly Heartbeat[];
  /** When the next node can turn silent; undefined without nodes. */
  readonly next: Milliseconds | undefined;
}

/**
 * Checks the nodes by their silence. Wall time has no part in it, and a watcher that was absent itself (started just now, stopped,
 * suspended, late) gives every node one full time to live before it checks again.
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
