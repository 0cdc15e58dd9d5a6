/** Sockets that may wait for a token in their first message at once, over one handler. */
const mostHandshakes = 64;

interface Waiting {
  readonly source: string;
  readonly dismiss: () => void;
}

/**
 * Sockets of callers that nobody knows yet: anybody can open them, and each holds a place and what it has sent until its token has
 * come. Few may do so at once. When there are more, the oldest from the address that has the most is dismissed: a client sends its token at once,
 * so that sockets which stay silent cannot keep others out.
 */
export class Handshakes {
  /** The oldest first. */
  readonly #waiting = new Set<Waiting>();

  /** Runs the wait for a first message from an address; `dismiss` ends it. */
  async during<T>(wait: () => Promise<T>, source: string, dismiss: () => void): Promise<T> {
    const own = { source, dismiss };
    this.#waiting.add(own);
    if (this.#waiting.size > mostHandshakes) this.#dismissOne();
    try {
      return await wait();
    } finally {
      this.#waiting.delete(own);
    }
  }

  #dismissOne(): void {
    const bySource = new Map<string, Waiting[]>();
    for (const each of this.#waiting) {
      const others = bySource.get(each.source);
      if (others === undefined) bySource.set(each.source, [each]);
      else others.push(each);
    }
    const most = [...bySource.values()].reduce((one, other) => (other.length > one.length ? other : one));
    const [oldest] = most;
    if (oldest === undefined) return;
    this.#waiting.delete(oldest);
    oldest.dismiss();
  }
}
