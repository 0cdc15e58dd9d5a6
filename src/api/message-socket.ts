import type { Call } from './call.js';
import type { ErrorTag } from './errors.js';

/** How a socket ended: the peer's close code and reason, or 1006 for a broken connection. */
export interface SocketEnd {
  /** The WebSocket close code; 1006 for a broken connection. */
  readonly code: number;
  /** The peer's reason; may be empty. */
  readonly reason: string;
}

/**
 * A bidirectional message stream, as of a WebSocket, independent of the transport: servers have one per upgrade, clients
 * one per socket call, and tests use a pair without a network.
 */
export interface MessageSocket {
  /**
   * Messages of the peer, in order, text as strings; ends when the socket does. Single reader. Unread messages
   * apply back-pressure to the peer.
   */
  readonly messages: AsyncIterable<string | Uint8Array>;
  /** Sends a message. Resolves when there is room for the next one; false if the socket has ended. */
  send(message: string | Uint8Array): Promise<boolean>;
  /** Closes with a code (default 1000) and a reason of at most 123 bytes; longer ones are truncated. Idempotent. */
  close(code?: number, reason?: string): void;
  /** Ends the connection after pending data is sent, without a close frame. */
  cut(): void;
  /** Resolves when the socket has ended, however it did; never rejects. */
  readonly closed: Promise<SocketEnd>;
}

/** Close code and reason of a socket whose call was refused. */
interface SocketRefusal {
  /** 1008 for errors of the caller, 1011 for missing rights and for failures (job interface, sockets). */
  readonly code: 1008 | 1011;
  readonly reason: string;
}

/** Clients distinguish the two codes, and show the reason. */
export function socketRefusal(
  call: Call,
  error: { readonly type: ErrorTag; readonly message?: string },
): SocketRefusal {
  const failed = ['permission_denied', 'storage_failed', 'unknown_region'].includes(error.type);
  const reason = error.type === 'permission_denied' ? 'Permission denied' : (error.message ?? error.type);
  return { code: call.closeCodes?.[error.type] ?? (failed ? 1011 : 1008), reason };
}
