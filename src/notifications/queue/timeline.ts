import type { Milliseconds } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import { table } from '../../shared/table.js';

/**
 * What the queues' time is made of on one timeline of the monotonic clock (see the port `Clock`). All waits, pauses and
 * leases of queues are in this time: it begins as wall time and never steps, and every engine on the timeline reads the same,
 * however often the wall clock is set in between.
 */
export interface Timeline {
  readonly timeline: string;
  /** The wall clock minus the monotonic one when the first engine on the timeline began. */
  readonly offset: Milliseconds;
}

export const timelines = table<Timeline>('notification_timelines', ({ timeline }) => [timeline]);

/** The queues' time. */
export function queueTime({ offset }: Timeline, monotonic: Milliseconds): Instant {
  return offset + monotonic;
}

/** A time of the queues' time as wall time, for people. */
export function wallTimeOf(moment: Instant, now: { readonly wall: Instant; readonly queue: Instant }): Instant {
  return moment - now.queue + now.wall;
}
