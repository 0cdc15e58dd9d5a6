/** The most sockets of a handler that may wait for a token in their first message. */
const mostHandshakes = 64;

interface Waiting {
  readonly source: string;
  readonly dismiss: () => void;
}

/**
 * Sockets whose callers are not authenticated yet. Anyone can open them, and each uses memory until its token has arrived, so their
 * number is limited. Beyond the limit, the oldest socket of the address with the most is closed: clients send their token immediately,
 * so silent sockets cannot block others.
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
