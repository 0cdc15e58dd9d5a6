import { jsonFaultText, jsonValueEnd, wrongJsonType } from '../shared/json-scan.js';
import { isRecord, noBooleanText, parseBoolean } from '../shared/values.js';
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

/** Whether the first message of a socket is a handshake, by the parameter `ws_handshake`; or why its value is invalid. */
export function isHandshakeAnnounced(text = ''): boolean | { readonly fault: string } {
  const announced = text === '' ? false : parseBoolean(text);
  return announced ?? { fault: noBooleanText('ws_handshake', text) };
}

/**
 * The token of a handshake message, `{"version":1,"auth_token":"…"}`, or why the message is invalid. An empty string means no token.
 * Names are case-insensitive, null means absent, and anything after the first JSON value is ignored.
 */
export function tokenOfHandshake(message: string): string | { readonly fault: string } {
  const end = jsonValueEnd(message);
  if (typeof end !== 'number') return { fault: jsonFaultText(message, end, 'unexpected EOF') };
  const value: unknown = JSON.parse(message.slice(0, end));
  if (value !== null && !isRecord(value)) {
    return { fault: wrongJsonType(value, 'value of type agent.wsHandshakeMessage') };
  }
  let version = 0;
  let token = '';
  for (const [key, member] of Object.entries(value ?? {})) {
    const name = key.toLowerCase();
    const fault = memberFault(name, member);
    if (fault !== undefined) return { fault };
    if (name === 'version') version = (member as number | null) ?? version;
    if (name === 'auth_token') token = (member as string | null) ?? token;
  }
  return version === 1 ? token : { fault: `unexpected handshake value: ${version}` };
}

function memberFault(name: string, member: unknown): string | undefined {
  if (member === null) return undefined;
  if (name === 'version' && !Number.isSafeInteger(member)) {
    return wrongJsonType(member, 'struct field wsHandshakeMessage.version of type int');
  }
  if (name === 'auth_token' && typeof member !== 'string') {
    return wrongJsonType(member, 'struct field wsHandshakeMessage.auth_token of type string');
  }
  return undefined;
}
