/** How often the server is asked for its time while somebody needs it, in milliseconds. */
const every = 500;
/** The most that two clocks go apart in a millisecond: what a clock is adjusted by while it is corrected. */
const drift = 0.0005;

/**
 * The wall time of the server, by the monotonic clock of this process. Each answer limits by how much they differ: the server has read its
 * clock after the question was sent and before the answer came. The limits of all answers are combined, so the error is at most half of the
 * shortest round trip. An answer outside of the limits shows that the server's clock was set, or that another server answers: then it counts
 * alone, at once.
 */
export class ServerTime {
  readonly #monotonic: () => number;
  #low = Number.NEGATIVE_INFINITY;
  #high = Number.POSITIVE_INFINITY;
  /** When the limits were as they are, and the width that they had when the offset was chosen. */
  #at = Number.NEGATIVE_INFINITY;
  #width = Number.POSITIVE_INFINITY;
  #offset = 0;

  /** `monotonic`: in milliseconds. */
  constructor(monotonic: () => number = () => performance.now()) {
    this.#monotonic = monotonic;
  }

  /** Whether it should be measured again. */
  get isDue(): boolean {
    return this.#monotonic() - this.#at >= every;
  }

  /** Milliseconds since 1970. */
  now(): number {
    return this.#monotonic() + this.#offset;
  }

  /** An answer that arrives now, in milliseconds since 1970, to a question sent at `sent`. */
  measured(sent: number, server: number): void {
    const received = this.#monotonic();
    const [low, high] = [server - received, server - sent];
    const widened = Math.max(0, received - this.#at) * drift;
    const [before, after] = [this.#low - widened, this.#high + widened];
    const wasSet = high < before || low > after;
    this.#low = wasSet ? low : Math.max(low, before);
    this.#high = wasSet ? high : Math.min(high, after);
    this.#at = received;
    // It changes only when it has become wrong, or can be better, so that the time does not tremble.
    const width = this.#high - this.#low;
    if (this.#offset >= this.#low && this.#offset <= this.#high && width >= this.#width) return;
    this.#offset = (this.#low + this.#high) / 2;
    this.#width = width;
  }
}
