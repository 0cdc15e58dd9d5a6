import type { CallAccess } from '../../../src/api/access.js';
import { isHandshakeAnnounced, type MessageSocket, tokenOfHandshake } from '../../../src/api/message-socket.js';
import type { Principal } from '../../../src/index.js';
import type { Query } from '../calls/query-and-body.js';
import type { Route, RouteCall } from '../calls/router.js';
import type { JobDialect } from '../dialect.js';
import { type Authentication, type Authenticator, mayHaveRight, tokenFrom } from '../edge/access.js';
import { claimantOf } from '../edge/shares.js';
import { internalErrorText } from '../errors/interface-errors.js';
import { type HttpRequest, headerValue, tokenHeaders } from '../http-message.js';
import type { Admit } from './upgrade-listener.js';

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
interface Gate {
  readonly authenticate: Authenticator;
  readonly handshakes: Handshakes;
  readonly dialect: JobDialect;
}

/** Timeout in milliseconds for the first message with the token. */
const handshakeTimeout = 10_000;

/**
 * Authenticates the caller of a socket (job interface, sockets): by the headers of the request, or with `ws_handshake=true`
 * by the first message, `{"version":1,"auth_token":"…"}`, because browsers cannot set headers.
 */
async function admitSocket(
  request: HttpRequest,
  query: Query,
  socket: MessageSocket,
  { authenticate, handshakes, dialect }: Gate,
): Promise<SocketAdmission> {
  const announced = query.get('ws_handshake');
  if (announced.isErr()) return refused(1008, announced.error.message);
  const asked = isHandshakeAnnounced(announced.value);
  if (typeof asked === 'object') return refused(1008, asked.fault);
  const admitted = async (asking: HttpRequest): Promise<SocketAdmission> => {
    const found = await authenticate(asking);
    // Sockets have no further headers. A foreign origin has been refused by now.
    const isOfPage = headerValue(asking, 'origin') !== undefined;
    if (found.type === 'known' && found.bySession && !isOfPage) return refused(1008, 'a session requires an Origin');
    return admissionOf(found, dialect.unknownSocketToken(tokenFrom(asking) ?? ''));
  };
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

/** A socket that was opened, before its caller is authenticated. */
interface OpenedSocket {
  /** Set before the caller is authenticated. */
  readonly call: RouteCall;
  readonly route: Route;
  readonly gate: Gate;
}

/** If the right depends on the record, the operation checks it: only it knows whether the record exists. */
function isJudgedHere(access: CallAccess, caller: Principal): boolean {
  return caller.node !== undefined || access.type !== 'namespace' || access.namedBy !== 'record';
}

/** Admits the caller, serves the route's socket and closes it. Never rejects. */
export async function serveSocket(
  { call, route, gate }: OpenedSocket,
  socket: MessageSocket,
  admit: Admit,
): Promise<void> {
  try {
    const admission = await admitSocket(call.request, call.query, socket, gate);
    if (admission.type === 'gone') return;
    if (admission.type === 'refused') return socket.close(admission.refusal.code, admission.refusal.reason);
    const { caller } = admission;
    if (isJudgedHere(route.access, caller) && !mayHaveRight(route, caller, call.pathValues, call.query))
      return socket.close(1011, 'Permission denied');
    if (!admit(claimantOf(caller, call.request, false)))
      return socket.close(1013, 'too many sockets of this caller are open; try again later');
    await route.socket?.({ ...call, caller }, socket);
    socket.close();
  } catch (error) {
    call.engine.logger.error({ error: error instanceof Error ? error.stack : 'unknown' }, 'A socket failed');
    socket.close(1011, internalErrorText);
  }
}

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
