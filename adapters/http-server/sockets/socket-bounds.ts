/** Bounds of one socket, in bytes and milliseconds. */
export interface SocketBounds {
  /** Longest message that is taken; a longer one closes the socket with 1009. 1 MiB when absent. */
  readonly maximumMessageBytes: number;
  /** Bytes on their way, in each direction; then the sender is held back. 1 MiB when absent. */
  readonly maximumQueuedBytes: number;
  /** Silence after which a peer counts as gone; it is pinged after half of it. Default: one minute. */
  readonly idleTimeout: number;
  /** Time within which a peer must accept sent data. Default: 30 seconds. */
  readonly stallTimeout: number;
}
