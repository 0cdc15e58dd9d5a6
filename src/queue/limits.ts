import type { Milliseconds } from '../shared/duration.js';
import type { Instant } from '../shared/instant.js';
import { table } from '../shared/table.js';

/**
 * The limit of concurrent attempts at one destination. Grows while the destination answers and the limit is
 * reached: doubles until the first overload, then by one for each full round. Halves at an
 * overload.
 */
export interface AdaptiveLimit {
  readonly limit: number;
  /** Responses since the last change while the limit was reached. */
  readonly answered: number;
  /** The limit from which it grows by one. */
  readonly careful: number;
  /** When it was last halved: failures of attempts that began before are ignored. */
  readonly halvedAt: Instant;
}

export interface LimitRules {
  readonly initial: number;
  readonly maximum: number;
}

export function initialLimit({ initial, maximum }: LimitRules): AdaptiveLimit {
  return { limit: Math.min(initial, maximum), answered: 0, careful: maximum, halvedAt: Number.NEGATIVE_INFINITY };
}

/** After an answer; `full`: whether the limit was reached during the attempt. */
export function afterAnswer(state: AdaptiveLimit, full: boolean, rules: LimitRules): AdaptiveLimit {
  if (!full || state.limit >= rules.maximum) return state;
  if (state.answered + 1 < state.limit) return { ...state, answered: state.answered + 1 };
  const grown = state.limit < state.careful ? Math.min(state.limit * 2, state.careful) : state.limit + 1;
  return { ...state, limit: Math.min(grown, rules.maximum), answered: 0 };
}

/** After a failure that began at `startedAt`. */
export function afterOverload(state: AdaptiveLimit, startedAt: Instant, now: Instant): AdaptiveLimit {
  if (startedAt < state.halvedAt) return state;
  const limit = Math.max(1, Math.floor(state.limit / 2));
  return { limit, answered: 0, careful: limit, halvedAt: now };
}

/** So many starts in a time; `burst`: how many may follow each other at once after a pause. */
interface Rate {
  readonly limit: number;
  readonly per: Milliseconds;
  readonly burst: number;
}

/** The unused part of a rate, and when it was counted. */
export interface TokenBucket {
  readonly tokens: number;
  readonly at: Instant;
}

/** What a rate has left, by its key. It is stored, so that the processes on a store share it. */
interface StoredRate extends TokenBucket {
  readonly key: string;
}

export const storedRates = table<StoredRate>('queue_rates', ({ key }) => [key]);

/** Starts per second: at least one at once. */
export const perSecond = (limit: number): Rate => ({ limit, per: 1000, burst: Math.max(1, limit) });

/** What is left now; a rate that was never used is full. A clock that was set back gives nothing and takes nothing. */
export function refilled(bucket: TokenBucket | undefined, { limit, per, burst }: Rate, now: Instant): TokenBucket {
  if (bucket === undefined || limit === Number.POSITIVE_INFINITY) return { tokens: burst, at: now };
  const passed = Math.max(0, now - bucket.at);
  return { tokens: Math.min(burst, bucket.tokens + (passed * limit) / per), at: now };
}

/** When one more may start: at once, or later. Rounding must not hold it for a fraction of a millisecond. */
export function startsAt({ tokens, at }: TokenBucket, { limit, per }: Rate): Instant {
  return tokens >= 1 - 1e-9 ? at : at + Math.ceil(((1 - tokens) * per) / limit - 1e-6);
}

/** After a start. */
export const drawn = ({ tokens, at }: TokenBucket): TokenBucket => ({ tokens: tokens - 1, at });

/** Attempts in progress, per limit. */
interface SlotUse {
  /** Of the configuration's queue. */
  readonly queue: number;
  /** To its origin (scheme, host and port), by all configurations. */
  readonly origin: number;
  readonly all: number;
}

export interface SlotRules {
  readonly all: number;
  /** Slots that all configurations at one origin share, beyond the `own` of each. */
  readonly perOrigin: number;
  /** Slots reserved for each configuration at an origin, however busy the others are. */
  readonly own: number;
}

/**
 * Whether one more attempt may start. Every configuration may have one, however busy the others are, up to four
 * times the overall limit; a few more are reserved for it at its origin; further ones share the rest of the origin's limit. So
 * hanging destinations cannot block one that answers, even at the same origin.
 */
export function hasSlot(use: SlotUse, limit: number, rules: SlotRules): boolean {
  if (use.queue === 0) return use.all < rules.all * 4;
  if (use.queue >= limit || use.all >= rules.all) return false;
  return use.queue < rules.own || use.origin < rules.perOrigin;
}

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
