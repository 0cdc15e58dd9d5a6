import type { Instant } from '../shared/instant.js';

export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. May step back when the host's clock is set. */
  now(): Instant;
  /** Resolves at the instant (at once when it is past) or when the signal aborts; never rejects. Any distance is allowed. */
  sleepUntil(instant: Instant, signal: AbortSignal): Promise<void>;
}
