import type { Clock } from '../../../src/ports/clock.js';
import type { Milliseconds } from '../../../src/shared/duration.js';
import { type Instant, instantFromUnixNanos } from '../../../src/shared/instant.js';

/**
 * The wall time of the server, as it was in its last answer, carried on by the monotonic clock. Ages of what the server has made are
 * counted on it: the clock of this host may be wrong by days, and may be set at any time.
 */
export class ServerTime {
  readonly #clock: Clock;
  /** Wall time of the server less monotonic time of this host; undefined for servers that do not report their time. */
  #offset: Milliseconds | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The server has just answered, at this time of its own. */
  heard(now: Instant | undefined): void {
    this.#offset = Number.isFinite(now) ? Number(now) - this.#clock.monotonic() : undefined;
  }

  /** The time on this host's monotonic clock at which the server made a record; never one to come. */
  moment(createTime: number): Milliseconds {
    const now = this.#clock.monotonic();
    const offset = this.#offset ?? this.#clock.now() - now;
    return Math.min(now, instantFromUnixNanos(createTime) - offset);
  }
}
