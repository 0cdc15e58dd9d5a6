import type { Milliseconds } from '../shared/duration.js';
import type { Instant } from '../shared/instant.js';
import { table } from '../shared/table.js';

/** A string at rest: sealed by the host's cipher, or as it is when the host gives none. */
export type StoredText = { readonly sealed: string } | { readonly plain: string };

/**
 * A time that a clock step does not move: by monotonic time for the process that set it, by wall time for every other one.
 */
export interface Deadline {
  readonly at: Instant;
  readonly monotonic: Milliseconds;
  readonly timeline: string;
}

/** A lock on a variable: the holder of its ID may change the variable. */
export interface StoredLock {
  readonly ID: string;
  /** Nanoseconds until it is lost unless it is renewed. */
  readonly TTL: number;
  /** Nanoseconds after the loss of a lock in which it cannot be acquired. */
  readonly LockDelay: number;
  readonly until: Deadline;
}

/** A stored variable: a few named strings under a path of a namespace. */
export interface StoredVariable {
  readonly Namespace: string;
  readonly Path: string;
  /** JSON of the items. */
  readonly items: StoredText;
  readonly lock: StoredLock | null;
  /** Until then the lock cannot be acquired, because it was lost. */
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

/** The content of a variable: names and values. */
export type VariableItems = Readonly<Record<string, string>>;

/** A lock as callers see it. Whoever has its ID may change the variable, so it is shown to its holder only. */
export interface LockView {
  /** Empty unless the caller has acquired the lock with this call, or gave its ID. */
  readonly ID: string;
  /** A duration such as `15s`. */
  readonly TTL: string;
  /** A duration: after the loss of the lock nobody can acquire it for so long. */
  readonly LockDelay: string;
}

/** What lists show of a variable, in the wire's own member names. */
export interface VariableStub {
  readonly Namespace: string;
  /** Parts with slashes between them; unique in the namespace. */
  readonly Path: string;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
  /** Unix nanoseconds. */
  readonly CreateTime: number;
  /** Unix nanoseconds. */
  readonly ModifyTime: number;
  /** Absent when nobody holds the lock. */
  readonly Lock?: LockView;
}

/** A variable with its items, in the wire's own member names. */
export interface VariableDocument extends VariableStub {
  /** Null for a caller that may not read them. */
  readonly Items: VariableItems | null;
}
