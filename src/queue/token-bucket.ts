import type { Milliseconds } from '../shared/duration.js';
import type { Instant } from '../shared/instant.js';
import { table } from '../shared/table.js';

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
