import type { Clock } from '../../ports/clock.js';
import type { Milliseconds } from '../../shared/duration.js';

/** How long the readers of one slice may keep the event loop. */
const target: Milliseconds = 2;
const first = 32;
const smallest = 8;
const largest = 96;

/**
 * Cuts the answers of many readers into slices, one for each turn of the event loop. What an answer costs is known only when its
 * turn is over, as most of it is done by promises: slices become smaller when a turn took longer than `target`, larger when shorter.
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

  /** The next turn of the event loop. */
  async next(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    const now = this.#clock.monotonic();
    const took = now - this.#began;
    // A clock that stands still, as in tests, says nothing about the cost.
    if (took > 0) this.#size = within(Math.round((this.#answered * target) / took));
    this.#answered = 0;
    this.#began = now;
  }
}

function within(size: number): number {
  return Math.min(largest, Math.max(smallest, size));
}
