import { durationTextFromNanos, type Milliseconds, millisecondsFromNanos } from '../shared/duration.js';
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

/** The content of a variable: names and values. */
export type VariableItems = Readonly<Record<string, string>>;

/** A lock as callers see it. Its ID permits changes of the variable, so it is shown to the holder only. */
export interface LockView {
  /** Empty unless the caller acquired the lock with this call, or passed its ID. */
  readonly ID: string;
  /** A duration such as `15s`. */
  readonly TTL: string;
  /** A duration during which nobody can acquire a lost lock. */
  readonly LockDelay: string;
}

/** A variable in a list, in the wire's member names. */
export interface VariableStub {
  readonly Namespace: string;
  /** Segments separated by slashes; unique in the namespace. */
  readonly Path: string;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
  /** Unix nanoseconds. */
  readonly CreateTime: number;
  /** Unix nanoseconds. */
  readonly ModifyTime: number;
  /** Absent when the lock is free. */
  readonly Lock?: LockView;
}

/** A variable with its items, in the wire's member names. */
export interface VariableDocument extends VariableStub {
  /** Null for a caller that may not read the items. */
  readonly Items: VariableItems | null;
}

/** The members in a list. The ID of the lock is shown only to its holder. */
export function variableStub(variable: StoredVariable, moment: ClockReadings, ownLock?: string): VariableStub {
  const { Namespace, Path, CreateIndex, ModifyIndex, CreateTime, ModifyTime } = variable;
  const stub = { Namespace, Path, CreateIndex, ModifyIndex, CreateTime, ModifyTime };
  const state = lockState(variable, moment);
  if (state.type !== 'held') return stub;
  const { ID, TTL, LockDelay } = state.lock;
  const shownId = ID === ownLock ? ID : '';
  return {
    ...stub,
    Lock: { ID: shownId, TTL: durationTextFromNanos(TTL), LockDelay: durationTextFromNanos(LockDelay) },
  };
}

/** The members in an answer about a single variable. */
export function variableDocument(stub: VariableStub, items: VariableItems | null): VariableDocument {
  return { ...stub, Items: items };
}

/** The members for a path without a variable, in the answer to a conflict. */
export function absentVariable(namespace: string, path: string): VariableDocument {
  return {
    Namespace: namespace,
    Path: path,
    CreateIndex: 0,
    ModifyIndex: 0,
    CreateTime: 0,
    ModifyTime: 0,
    Items: null,
  };
}

/** The time of a decision, on both clocks. */
export interface ClockReadings {
  readonly now: Instant;
  readonly monotonic: Milliseconds;
  readonly timeline: string;
  /** What other hosts have set, over a store that several hosts share. */
  readonly sightings?: Sighted | undefined;
}

interface Sighted {
  /** When this process has seen it first, by its own monotonic clock. */
  first(key: string, now: Milliseconds): Milliseconds;
}

const secondInNanos = 1_000_000_000;
const shortestTtl = 10 * secondInNanos;
const longestTtl = 24 * 3600 * secondInNanos;
const defaultNanos = 15 * secondInNanos;

/** The state of a variable's lock: free, held, or unavailable because it was lost recently. */
export type LockState =
  | { readonly type: 'free' }
  | { readonly type: 'held'; readonly lock: StoredLock }
  | { readonly type: 'delayed' };

/** The state at a given time: an expired lock is lost, even if the record does not show it yet. */
export function lockState(variable: StoredVariable, moment: ClockReadings): LockState {
  const { lock, delayedUntil } = variable;
  if (lock !== null) {
    if (!isOver(lock.until, moment)) return { type: 'held', lock };
    return isOver(after(lock.until, lock.LockDelay), moment) ? { type: 'free' } : { type: 'delayed' };
  }
  return delayedUntil === undefined || isOver(delayedUntil, moment) ? { type: 'free' } : { type: 'delayed' };
}

/** The variable without the lost lock, which cannot be acquired before its delay has passed. */
export function withLockLost(variable: StoredVariable): StoredVariable {
  const { lock } = variable;
  return lock === null ? variable : { ...variable, lock: null, delayedUntil: after(lock.until, lock.LockDelay) };
}

/** Requested times of a lock, in nanoseconds; 0 means 15 seconds. */
export interface LockTerms {
  readonly ttl: number;
  readonly delay: number;
}

/** What is wrong with the terms; undefined when they are valid. */
export function termsFault({ ttl, delay }: LockTerms): string | undefined {
  if (delay < 0 || ttl < 0) return 'Lock delay and TTL must be positive';
  if (ttl !== 0 && (ttl < shortestTtl || ttl > longestTtl)) return 'TTL must be between 10 seconds and 24 hours';
  return delay > longestTtl ? 'Lock delay must be at most 24 hours' : undefined;
}

export function lockFrom(id: string, { ttl, delay }: LockTerms, moment: ClockReadings): StoredLock {
  const TTL = ttl === 0 ? defaultNanos : ttl;
  return { ID: id, TTL, LockDelay: delay === 0 ? defaultNanos : delay, until: from(moment, TTL) };
}

/** The same lock, renewed now. */
export function renewed(lock: StoredLock, moment: ClockReadings): StoredLock {
  return { ...lock, until: from(moment, lock.TTL) };
}

function from({ now, monotonic, timeline }: ClockReadings, nanos: number): Deadline {
  return after({ at: now, monotonic, timeline, length: 0 }, nanos);
}

function after({ at, monotonic, timeline, length }: Deadline, nanos: number): Deadline {
  const more = millisecondsFromNanos(nanos);
  const later = { at: at + more, monotonic: monotonic + more, timeline };
  return length === undefined ? later : { ...later, length: length + more };
}

function isOver(deadline: Deadline, { now, monotonic, timeline, sightings }: ClockReadings): boolean {
  if (deadline.timeline === timeline) return deadline.monotonic <= monotonic;
  if (sightings === undefined || deadline.length === undefined) return deadline.at <= now;
  const begun = Math.round(deadline.monotonic - deadline.length);
  return sightings.first(`${deadline.timeline} ${begun}`, monotonic) + deadline.length <= monotonic;
}
