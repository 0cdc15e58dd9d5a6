import type { MessageSocket } from '../../../src/api/message-socket.js';
import { isHandshakeAnnounced, tokenOfHandshake } from '../../../src/api/socket-handshake.js';
import type { Principal } from '../../../src/index.js';
import type { Query } from '../calls/query.js';
import { type Authentication, type Authenticator, tokenFrom } from '../edge/access.js';
import { tokenHeaders } from '../edge/header-names.js';
import { refusedSocketToken } from '../edge/upstream-refusals.js';
import type { HttpRequest } from '../http-message.js';
import type { Handshakes } from './handshakes.js';

/** The close code and reason of a refused socket: 1008 for a fault of the client, 1011 for others. */
interface SocketRefusal {
  readonly code: 1008 | 1011;
  readonly reason: string;
}

type SocketAdmission =
  | { readonly type: 'admitted'; readonly caller: Principal }
  | { readonly type: 'refused'; readonly refusal: SocketRefusal }
  /** The client disconnected before it was authenticated. */
  | { readonly type: 'gone' };

/** The inputs of the admission of a caller. */
export interface Gate {
  readonly authenticate: Authenticator;
  readonly handshakes: Handshakes;
  /** Whether refusals use Nomad's messages. */
  readonly upstream: boolean;
}

/** Timeout in milliseconds for the first message with the token. */
const handshakeTimeout = 10_000;

/**
 * Authenticates the caller of a socket (job interface, sockets): by the headers of the request, or with `ws_handshake=true`
 * by the first message, `{"version":1,"auth_token":"…"}`, because browsers cannot set headers.
 */
export async function admitSocket(
  request: HttpRequest,
  query: Query,
  socket: MessageSocket,
  { authenticate, handshakes, upstream }: Gate,
): Promise<SocketAdmission> {
  const announced = query.get('ws_handshake');
  if (announced.isErr()) return refused(1008, announced.error.message);
  const asked = isHandshakeAnnounced(announced.value);
  if (typeof asked === 'object') return refused(1008, asked.fault);
  const admitted = async (asking: HttpRequest): Promise<SocketAdmission> =>
    admissionOf(await authenticate(asking), upstream ? refusedSocketToken(tokenFrom(asking) ?? '') : unknownToken);
  if (!asked) return admitted(request);
  const first = await handshakes.during(
    () => firstMessage(socket),
    request.remoteAddress?.() ?? '',
    () => socket.close(1011, 'too many sockets are waiting for their handshake; try again shortly'),
  );
  if (first === undefined) return { type: 'gone' };
  const token = tokenOfHandshake(first);
  if (typeof token === 'object') return refused(1008, token.fault);
  const inHeader = tokenFrom(request);
  if (inHeader !== undefined && inHeader !== token) {
    return refused(1008, 'handshake auth token mismatched auth header token');
  }
  return admitted(token === '' ? request : withToken(request, token));
}

function refused(code: SocketRefusal['code'], reason: string): SocketAdmission {
  return { type: 'refused', refusal: { code, reason } };
}

const unknownToken = 'rpc error: Permission denied';

function admissionOf(authentication: Authentication, whenUnknown: string): SocketAdmission {
  switch (authentication.type) {
    case 'known':
    case 'missing':
      return { type: 'admitted', caller: authentication.caller };
    case 'unknown':
      return refused(1008, whenUnknown);
    case 'failed':
      return refused(1011, 'the token store could not be read');
  }
}

/** The first message as a string; undefined if the socket closed or timed out before. */
async function firstMessage(socket: MessageSocket): Promise<string | undefined> {
  const timer = setTimeout(() => socket.close(1008, 'no handshake message arrived in time'), handshakeTimeout);
  const first = await socket.messages[Symbol.asyncIterator]().next();
  clearTimeout(timer);
  return first.done === true
    ? undefined
    : typeof first.value === 'string'
      ? first.value
      : Buffer.from(first.value).toString();
}

function withToken(request: HttpRequest, token: string): HttpRequest {
  return { ...request, headers: { ...request.headers, [tokenHeaders[0] as string]: token } };
}
