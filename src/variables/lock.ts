import { type Milliseconds, millisecondsFromNanos } from '../shared/duration.js';
import type { Instant } from '../shared/instant.js';
import type { Deadline, StoredLock, StoredVariable } from './variable.js';

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
