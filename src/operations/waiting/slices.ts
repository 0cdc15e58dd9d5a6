import type { Clock } from '../../ports/clock.js';
import type { Milliseconds } from '../../shared/duration.js';

/** How long the readers of one slice may block the event loop, in milliseconds. */
const target: Milliseconds = 2;
const first = 32;
const smallest = 8;
const largest = 96;

/**
 * Divides the answers of many readers into slices, one for each turn of the event loop. The cost of an answer is known only after its
 * turn, because most of it runs in promises: slices shrink when a turn took longer than `target`, and grow when shorter.
 */
export class Slices {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #size = first;
  #answered = 0;
  #began: Milliseconds;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
    this.#began = clock.monotonic();
  }

  /** Counts one more reader. */
  isFull(): boolean {
    this.#answered += 1;
    return this.#answered >= this.#size;
  }

  /** Resolves in the next iteration of the event loop. */
  async next(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    const now = this.#clock.monotonic();
    const took = now - this.#began;
    // With a clock that stands still, as in tests, the cost is unknown.
    if (took > 0) this.#size = within(Math.round((this.#answered * target) / took));
    this.#answered = 0;
    this.#began = now;
  }
}

function within(size: number): number {
  return Math.min(largest, Math.max(smallest, size));
}
