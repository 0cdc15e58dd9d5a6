/** How a socket ended: the close code and reason of the other side, or of the connection that broke (1006). */
export interface SocketEnd {
  readonly code: number;
  readonly reason: string;
}

/**
 * A two-way stream of messages, as WebSockets have it, without the transport: servers get one for each upgrade, clients
 * for each call that opens one, tests a pair without a network.
 */
export interface MessageSocket {
  /**
   * What the other side sends, in order, text as strings; ends when the socket does. For one reader. Messages that are
   * not taken hold the other side back.
   */
  readonly messages: AsyncIterable<string | Uint8Array>;
  /** Sends a message. Resolves when there is room for the next one; gives false when the socket has ended. */
  send(message: string | Uint8Array): Promise<boolean>;
  /** Closes with a code (1000 when absent) and a reason of at most 123 bytes; longer ones are cut. Safe to call twice. */
  close(code?: number, reason?: string): void;
  /** Ends the connection after what was sent, without a close frame. */
  cut(): void;
  readonly closed: Promise<SocketEnd>;
}
