/** Sockets that may wait for a token in their first message at once, over one handler. */
const mostHandshakes = 64;

/**
 * Sockets of callers that nobody knows yet: anybody can open them, and each holds a place and what it has sent until its token has
 * come. Few may do so at once, so that strangers cannot take all places, nor much memory.
 */
export class Handshakes {
  #waiting = 0;

  /** Runs the wait for a first message; `full` when too many wait already. */
  async during<T>(wait: () => Promise<T>): Promise<T | 'full'> {
    if (this.#waiting >= mostHandshakes) return 'full';
    this.#waiting += 1;
    try {
      return await wait();
    } finally {
      this.#waiting -= 1;
    }
  }
}
