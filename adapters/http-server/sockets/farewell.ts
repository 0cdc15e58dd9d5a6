import type { Duplex } from 'node:stream';

/** Milliseconds that a peer may take to close its side of a connection that this side has closed. */
export const farewellTimeout = 5000;
/** The most connections to wait for. */
const mostAwaited = 64;

/**
 * Connections that this side has closed and the peer has not. Each holds a descriptor, so only a few may wait; beyond that, the oldest
 * is destroyed.
 */
export class Farewell {
  /** The oldest first. */
  readonly #awaited = new Map<Duplex, NodeJS.Timeout>();

  await(socket: Duplex): void {
    if (socket.destroyed || this.#awaited.has(socket)) return;
    const timer = setTimeout(() => socket.destroy(), farewellTimeout);
    timer.unref();
    this.#awaited.set(socket, timer);
    socket.once('close', () => this.#forget(socket));
    if (this.#awaited.size <= mostAwaited) return;
    const [oldest] = this.#awaited.keys();
    if (oldest === undefined) return;
    this.#forget(oldest);
    oldest.destroy();
  }

  #forget(socket: Duplex): void {
    clearTimeout(this.#awaited.get(socket));
    this.#awaited.delete(socket);
  }
}
