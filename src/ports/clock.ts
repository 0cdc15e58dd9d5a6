import type { Milliseconds } from '../shared/duration.js';
import type { Instant } from '../shared/instant.js';

/**
 * Two kinds of time. Wall time is used for display and calendars; it steps when the clock of the host is set. Monotonic time
 * measures how long something takes: timeouts, leases, heartbeats. A deadline of one kind must never be compared with a reading
 * of the other.
 */
export interface Clock {
  /** Wall time: milliseconds since 1970-01-01T00:00:00Z. May step forward and back. */
  now(): Instant;
  /**
   * Milliseconds from a fixed but arbitrary time. Never steps and never goes back. Continues while the process is stopped.
   * Whether it continues while the host is suspended depends on the host (Linux: no; macOS and Windows: yes), so a loop that
   * checks others by their silence must treat a gap in its own progress as a separate pause.
   */
  monotonic(): Milliseconds;
  /**
   * Names the time that `monotonic` counts from: readings of two clocks are comparable exactly when their timelines are
   * equal, as they are in two processes of one host between two of its starts.
   */
  readonly timeline: string;
  /**
   * Resolves when this much monotonic time has passed, whatever happens to the wall clock, or when the signal aborts; never
   * rejects. At once for 0, less and NaN. Any duration is allowed.
   */
  sleep(duration: Milliseconds, signal: AbortSignal): Promise<void>;
  /**
   * Resolves when the wall clock has reached the instant, or when the signal aborts; never rejects. At once for a past
   * instant and NaN. When the wall clock is set, the instant is reached sooner or later accordingly, and the sleeper notices
   * within a second. For intervals use `sleep`. Any distance is allowed.
   */
  sleepUntil(instant: Instant, signal: AbortSignal): Promise<void>;
  /** Only for clocks that are moved by tests: time does not move until the work has ended. The engine's own code is loaded so. */
  hold?(work: PromiseLike<unknown>): unknown;
}
