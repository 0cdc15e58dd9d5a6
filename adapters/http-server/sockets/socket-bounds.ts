/** Limits of one socket, in bytes and milliseconds. */
export interface SocketBounds {
  /** The most bytes of a message; a longer one closes the socket with 1009. 1 MiB when absent. */
  readonly maximumMessageBytes: number;
  /** Buffered bytes in each direction beyond which the sender is paused. 1 MiB when absent. */
  readonly maximumQueuedBytes: number;
  /** Silence after which a peer counts as gone; it is pinged after half of it. Default: one minute. */
  readonly idleTimeout: number;
  /** Time in which a peer must accept sent data. Default: 30 seconds. */
  readonly stallTimeout: number;
}
