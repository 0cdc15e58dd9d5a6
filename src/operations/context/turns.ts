/**
 * Turns of the event loop for background work that is done in parts. Each round of the loop gives one turn, in the order in which they
 * were asked for, so that the time of two works never adds up to one long block.
 */
export class Turns {
  readonly #waiting: (() => void)[] = [];

  /** Resolves when it is the caller's turn. Its part ends with its next wait for anything else. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) setImmediate(this.#give);
    });
  }

  /** An immediate that is set during a round runs in the next one. */
  readonly #give = (): void => {
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) setImmediate(this.#give);
  };
}
