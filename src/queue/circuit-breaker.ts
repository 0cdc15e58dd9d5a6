import type { Milliseconds } from '../shared/duration.js';
import type { Instant } from '../shared/instant.js';

/**
 * The state of the circuit breaker of a destination. `closed` allows all attempts and counts consecutive failures; `open`
 * allows none until an instant, and from then on one attempt at a time (half open), whose outcome decides.
 */
export type Breaker =
  | { readonly type: 'closed'; readonly failures: number }
  | {
      readonly type: 'open';
      /** When it opened; failed trial attempts since do not change it. */
      readonly since: Instant;
      /** When the next trial attempt is allowed. */
      readonly until: Instant;
      readonly pause: Milliseconds;
    };

export interface BreakerRules {
  /** Consecutive failures that open it; 0 disables it. */
  readonly failures: number;
  /** How long it stays open the first time; doubles with each further time up to `maximumPause`. */
  readonly pause: Milliseconds;
  readonly maximumPause: Milliseconds;
}

export const closedBreaker: Breaker = { type: 'closed', failures: 0 };

/** How many concurrent attempts the breaker allows: any number, none, or one. */
export function breakerAllows(breaker: Breaker, now: Instant): 'all' | 'none' | 'one' {
  if (breaker.type === 'closed') return 'all';
  return breaker.until <= now ? 'one' : 'none';
}

/** After a successful attempt. */
export function afterSuccess(breaker: Breaker): Breaker {
  return breaker.type === 'closed' && breaker.failures === 0 ? breaker : closedBreaker;
}

/** After an attempt that the destination failed. Failures that arrive while it is open change nothing. */
export function afterFailure(breaker: Breaker, rules: BreakerRules, now: Instant): Breaker {
  if (rules.failures <= 0) return closedBreaker;
  if (breaker.type === 'closed') {
    return breaker.failures + 1 >= rules.failures
      ? { type: 'open', since: now, until: now + rules.pause, pause: rules.pause }
      : { type: 'closed', failures: breaker.failures + 1 };
  }
  if (breaker.until > now) return breaker;
  const pause = Math.min(breaker.pause * 2, Math.max(rules.maximumPause, rules.pause));
  return { type: 'open', since: breaker.since, until: now + pause, pause };
}
