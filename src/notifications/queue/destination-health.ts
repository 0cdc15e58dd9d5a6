import type { Instant } from '../../shared/instant.js';
import type { FailureClass } from '../delivery/classify-failure.js';
import type { QueueRecord } from './queue-record.js';

/** The state of the deliveries of a configuration, according to the store. Times are those of the queue. */
export interface DestinationHealth {
  /** Paused: only redeliveries are sent. */
  readonly paused: boolean;
  /**
   * `closed`: everything is sent. `open`: the destination kept failing and is left alone until `nextProbeAt`. `half_open`: the next
   * delivery is sent to find out whether it works again.
   */
  readonly breaker: 'closed' | 'open' | 'half_open';
  /** Since when the breaker is not closed. */
  readonly breakerSince: Instant | null;
  /** When the destination is tried again; null while the breaker is closed. */
  readonly nextProbeAt: Instant | null;
  /** Failures in a row, while the breaker is closed. */
  readonly failures: number;
  /** First failure since the last success. */
  readonly failingSince: Instant | null;
  /**
   * What on the side of this service keeps deliveries from the destination: `proxy_failed` or `transform_failed`. Null when the last
   * attempt reached it.
   */
  readonly hinderedBy: FailureClass | null;
  /** Since when. */
  readonly hinderedSince: Instant | null;
  /** New deliveries that wait for their first attempt because others come faster than they are sent, about; 0 for a few. */
  readonly backlog: number;
}

export function healthOf(
  { breaker, failingSince, pausedAt, hindered, backlog = 0 }: QueueRecord,
  now: Instant,
): DestinationHealth {
  const held = { hinderedBy: hindered?.by ?? null, hinderedSince: hindered?.since ?? null };
  const common = { paused: pausedAt !== undefined, failingSince, ...held, backlog };
  if (breaker.type === 'closed') {
    return { ...common, breaker: 'closed', breakerSince: null, nextProbeAt: null, failures: breaker.failures };
  }
  const state = breaker.until > now ? 'open' : 'half_open';
  return { ...common, breaker: state, breakerSince: breaker.since, nextProbeAt: breaker.until, failures: 0 };
}
