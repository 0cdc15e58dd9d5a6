/** Limits of one socket, in bytes and milliseconds. */
export interface SocketBounds {
  /** The most bytes of a message; a longer one closes the socket with 1009. Default: 1 MiB. */
  readonly maximumMessageBytes: number;
  /** Buffered bytes in each direction beyond which the sender is paused. Default: 1 MiB. */
  readonly maximumQueuedBytes: number;
  /** Silence after which a peer counts as disconnected; it is pinged after half of this time. Default: one minute. */
  readonly idleTimeout: number;
  /** Time within which a peer must accept sent data. Default: 30 seconds. */
  readonly stallTimeout: number;
}
