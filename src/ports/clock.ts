import type { Milliseconds } from '../shared/duration.js';
import type { Instant } from '../shared/instant.js';

/**
 * Two kinds of time. Wall time is what people read and what calendars mean; it steps when somebody sets the host's clock.
 * Monotonic time measures how long something takes: timeouts, leases, heartbeats. A deadline of one kind must never be
 * compared with a reading of the other.
 */
export interface Clock {
  /** Wall time: milliseconds since 1970-01-01T00:00:00Z. May step forward and back. */
  now(): Instant;
  /**
   * Milliseconds from a fixed but arbitrary moment. Never steps and never goes back. Goes on while the process is stopped.
   * Whether it goes on while the host is suspended is up to the host (Linux: no; macOS and Windows: yes), so a loop that
   * judges others by their silence must take a gap in its own progress for its own absence.
   */
  monotonic(): Milliseconds;
  /**
   * Names the moment that `monotonic` counts from: readings of two clocks are comparable exactly when their timelines are
   * equal, as they are in two processes of one host between two of its starts.
   */
  readonly timeline: string;
  /**
   * Resolves when so much monotonic time has passed, whatever happens to the wall clock, or when the signal aborts; never
   * rejects. At once for 0, less and NaN. Any duration is allowed.
   */
  sleep(duration: Milliseconds, signal: AbortSignal): Promise<void>;
  /**
   * Resolves when the wall clock has reached the instant, or when the signal aborts; never rejects. At once for a past
   * instant and NaN. When the wall clock is set, the instant is reached sooner or later accordingly, and the sleeper notices
   * within a second. For intervals use `sleep`. Any distance is allowed.
   */
  sleepUntil(instant: Instant, signal: AbortSignal): Promise<void>;
}
