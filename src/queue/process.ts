import type { Milliseconds } from '../shared/duration.js';
import type { Instant } from '../shared/instant.js';
import { table } from '../shared/table.js';

/*
 * Who works on a row. An outcome counts for the start that is stored, so that a process that was paused for longer than its lease
 * decides nothing about a row that another one has taken meanwhile.
 */

/** The part of a row that says who works on it. */
export interface Hold {
  /** The process that works on it; absent or null when none does. */
  readonly holder?: string | null;
  /** How often it was taken; absent before the first time. */
  readonly starts?: number;
}

/** The row as taken by a process. */
export function claimed<R extends Hold>(row: R, holder: string): R {
  return { ...row, holder, starts: (row.starts ?? 0) + 1 };
}

/** The row that nobody works on: handed back, taken from a dead process, or after its outcome. */
export function freed<R extends Hold>(row: R): R {
  const { holder: _, ...rest } = row;
  return rest as R;
}

/** Whether the stored row is still in the start that this one began. */
export function isSameStart(stored: Hold | undefined, begun: Hold): boolean {
  return typeof stored?.holder === 'string' && stored.holder === begun.holder && stored.starts === begun.starts;
}

/**
 * A process that works on rows of a queue, and until when they are its own. The lease belongs to the process, not to a row, and is renewed
 * only while there is something under it: an idle process writes nothing.
 */
export interface QueueProcess {
  readonly queue: string;
  readonly id: string;
  readonly timeline: string;
  /** Monotonic time, comparable on its timeline. */
  readonly leaseUntil: Milliseconds;
  /** How long it was when it was renewed; absent from records of earlier versions. */
  readonly lease?: Milliseconds;
  /** Its end as wall time. */
  readonly until: Instant;
  /** Names it on its machine for ever, by which others see whether it is alive. */
  readonly identity?: string;
  /** What it can work on, by name, in which version; absent when it takes any row. Such a process is known for a day after its lease. */
  readonly versions?: Readonly<Record<string, number>>;
}

export const processes = table<QueueProcess>('queue_processes', ({ queue, id }) => [queue, id]);

/** One point on a timeline. */
interface TimelinePoint {
  readonly timeline: string;
  readonly monotonic: Milliseconds;
}

/** A lease on another timeline as it was seen first, and when. */
export interface SeenLease {
  readonly leaseUntil: Milliseconds;
  readonly since: Milliseconds;
}

/**
 * The end of a lease by this process's clock: of another timeline, it ends when it has been the same for its whole length; `length` when
 * that is not known.
 */
export function leaseEnd(
  { timeline, leaseUntil, lease }: Pick<QueueProcess, 'timeline' | 'leaseUntil' | 'lease'>,
  now: TimelinePoint,
  seen: SeenLease | undefined,
  length: Milliseconds,
): { readonly until: Milliseconds; readonly seen: SeenLease | undefined } {
  if (timeline === now.timeline) return { until: leaseUntil, seen: undefined };
  const first = seen?.leaseUntil === leaseUntil ? seen : { leaseUntil, since: now.monotonic };
  return { until: first.since + (lease ?? length), seen: first };
}

/** How much of a lease is left when it is renewed: whole milliseconds, since a clock that counts in them never reaches a part of one. */
export function renewalAt(length: Milliseconds): Milliseconds {
  return Math.floor((length * 2) / 3);
}

/**
 * Defines queue time on one timeline of the monotonic clock (see the port `Clock`). All waits, pauses and
 * leases of queues use it: it begins as wall time and never steps, and every engine on the timeline reads the same,
 * even if the wall clock is set in between.
 */
export interface Timeline {
  readonly timeline: string;
  /** Wall clock minus monotonic clock when the first engine on the timeline began. */
  readonly offset: Milliseconds;
}

export const timelines = table<Timeline>('notification_timelines', ({ timeline }) => [timeline]);

/** Queue time for a reading of the monotonic clock. */
export function queueTime({ offset }: Timeline, monotonic: Milliseconds): Instant {
  return offset + monotonic;
}

/** Converts queue time to wall time, for display. */
export function wallTimeOf(time: Instant, now: { readonly wall: Instant; readonly queue: Instant }): Instant {
  return time - now.queue + now.wall;
}
