import type { Instant } from '../shared/instant.js';
import { table } from '../shared/table.js';

/** The unused part of a rate. Holds at most the tokens of one second, and at least one. */
export interface TokenBucket {
  readonly tokens: number;
  readonly at: Instant;
}

/** What a rate has left, by its key. It is stored, so that the processes on a store share it. */
interface StoredRate extends TokenBucket {
  readonly key: string;
}

export const storedRates = table<StoredRate>('queue_rates', ({ key }) => [key]);

export function fullBucket(rate: number, now: Instant): TokenBucket {
  return { tokens: Math.max(1, rate), at: now };
}

/** The result of `takeToken`: the new bucket, and, if no token was available, when the next one will be. */
interface TokenTaken {
  readonly bucket: TokenBucket;
  readonly taken: boolean;
  readonly readyAt: Instant;
}

/** Takes one of `rate` tokens per second; an infinite rate always has one. A clock that stepped back refills nothing. */
export function takeToken(bucket: TokenBucket, rate: number, now: Instant): TokenTaken {
  const at = Math.max(now, bucket.at);
  const gained = at === bucket.at ? 0 : ((at - bucket.at) * rate) / 1000;
  const tokens = Math.min(Math.max(1, rate), bucket.tokens + gained);
  // A small tolerance; otherwise rounding could cause a wait of a fraction of a millisecond.
  if (tokens >= 1 - 1e-9) return { bucket: { tokens: Math.max(0, tokens - 1), at }, taken: true, readyAt: now };
  return { bucket: { tokens, at }, taken: false, readyAt: at + Math.ceil(((1 - tokens) / rate) * 1000 - 1e-6) };
}
