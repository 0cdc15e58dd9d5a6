import type { Instant } from '../../shared/instant.js';
import type { FailureClass } from '../delivery/classify-failure.js';
import type { QueueRecord } from './queue-record.js';

/** The stored state of a configuration's deliveries. Times are queue time. */
export interface DestinationHealth {
  /** Whether a user has paused it: only redeliveries are sent. */
  readonly paused: boolean;
  /**
   * `closed`: everything is sent. `open`: the destination kept failing; nothing is sent until `nextProbeAt`. `half_open`: the next
   * delivery is sent as a trial.
   */
  readonly breaker: 'closed' | 'open' | 'half_open';
  /** When the breaker last left `closed`; null while it is closed. */
  readonly breakerSince: Instant | null;
  /** When the destination is tried again; null while the breaker is closed. */
  readonly nextProbeAt: Instant | null;
  /** Consecutive failures while the breaker is closed. */
  readonly failures: number;
  /** First failure since the last success. */
  readonly failingSince: Instant | null;
  /**
   * The failure on this side that keeps deliveries from the destination: `proxy_failed` or `transform_failed`. Null when the last
   * attempt reached it.
   */
  readonly hinderedBy: FailureClass | null;
  /** The first failure of this kind. */
  readonly hinderedSince: Instant | null;
  /** Approximate number of deliveries that wait for their first attempt because events arrive faster than they are sent; 0 when small. */
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
