import type { Milliseconds } from '../shared/duration.js';
import type { Instant } from '../shared/instant.js';
import { table } from '../shared/table.js';

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
