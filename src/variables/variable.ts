import type { Milliseconds } from '../shared/duration.js';
import type { Instant } from '../shared/instant.js';
import { table } from '../shared/table.js';

/** A string at rest: encrypted by the host's cipher, or in plain text without one. */
export type StoredText = { readonly sealed: string } | { readonly plain: string };

/**
 * A time that is safe against clock steps: on monotonic time for the processes of the host that set it. For those of other hosts it is over
 * when they have seen it unchanged for its length, or on wall time if they cannot observe it.
 */
export interface Deadline {
  readonly at: Instant;
  readonly monotonic: Milliseconds;
  readonly timeline: string;
  /** How long it was when it was set; absent from records of earlier versions. */
  readonly length?: Milliseconds;
}

/** A lock on a variable: only the holder of its ID may change the variable. */
export interface StoredLock {
  readonly ID: string;
  /** Nanoseconds until the lock is lost unless renewed. */
  readonly TTL: number;
  /** Nanoseconds after a loss during which the lock cannot be acquired. */
  readonly LockDelay: number;
  readonly until: Deadline;
}

/** A stored variable: a few named strings under a path in a namespace. */
export interface StoredVariable {
  readonly Namespace: string;
  readonly Path: string;
  /** JSON of the items. */
  readonly items: StoredText;
  readonly lock: StoredLock | null;
  /** The lock was lost and cannot be acquired before this time. */
  readonly delayedUntil?: Deadline;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
  /** Unix nanoseconds. */
  readonly CreateTime: number;
  readonly ModifyTime: number;
}

export const variables = table<StoredVariable>('variables', (variable) => [variable.Namespace, variable.Path], {
  locked: {
    version: 1,
    key: ({ lock, Namespace, Path }) => (lock === null ? undefined : [lock.until.at, Namespace, Path]),
  },
});
