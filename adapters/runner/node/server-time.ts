import type { Clock } from '../../../src/ports/clock.js';
import type { Milliseconds } from '../../../src/shared/duration.js';
import { type Instant, instantFromUnixNanos } from '../../../src/shared/instant.js';

/**
 * The server's wall time: from its last answer, advanced by the monotonic clock. Ages of the server's records are
 * measured on it: the wall clock of this host may be wrong by days and may be set at any time.
 */
export class ServerTime {
  readonly #clock: Clock;
  /** Wall time of the server minus monotonic time of this host, in milliseconds; undefined for servers that do not report their time. */
  #offset: Milliseconds | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes the server's time from an answer that has just arrived. */
  heard(now: Instant | undefined): void {
    this.#offset = Number.isFinite(now) ? Number(now) - this.#clock.monotonic() : undefined;
  }

  /** Converts the server's time of a record to this host's monotonic clock; never in the future. */
  moment(createTime: number): Milliseconds {
    const now = this.#clock.monotonic();
    const offset = this.#offset ?? this.#clock.now() - now;
    return Math.min(now, instantFromUnixNanos(createTime) - offset);
  }
}
