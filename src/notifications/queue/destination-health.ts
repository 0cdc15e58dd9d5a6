import type { Instant } from '../../shared/instant.js';
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
  /** New deliveries that wait for their first attempt, about; 0 for a few. */
  readonly backlog: number;
}

export function healthOf(
  { breaker, failingSince, pausedAt, backlog = 0 }: QueueRecord,
  now: Instant,
): DestinationHealth {
  const common = { paused: pausedAt !== undefined, failingSince, backlog };
  if (breaker.type === 'closed') {
    return { ...common, breaker: 'closed', breakerSince: null, nextProbeAt: null, failures: breaker.failures };
  }
  const state = breaker.until > now ? 'open' : 'half_open';
  return { ...common, breaker: state, breakerSince: breaker.since, nextProbeAt: breaker.until, failures: 0 };
}
