/**
 * Turns of the event loop for background work in parts. Each round of the loop grants one turn, in the order of
 * requests, so that several works never block one round together.
 */
export class Turns {
  readonly #waiting: (() => void)[] = [];

  /** Resolves at the caller's turn, which ends at its next `await` of anything else. */
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
