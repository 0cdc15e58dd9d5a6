import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { MessageSocket } from '../../../src/api/message-socket.js';
import { checkArgument, checkOptions, type OptionTable } from '../../../src/options/check-options.js';
import { amount, oneOf, optional, port, textLike } from '../../../src/options/option-kinds.js';
import { nodeListener } from '../bridges/node-listener.js';
import { type Claimant, Shares } from '../edge/shares.js';
import type { HttpHandler, HttpRequest } from '../http-message.js';
import { boundedSocket, type SocketBounds, servedSocket } from './web-socket.js';

/** A handler's decision on an upgrade request. */
export type UpgradeAnswer =
  /**
   * The socket is opened and passed to `serve`, which never rejects and closes it. It calls `admit` when the caller is authenticated;
   * false means that the caller has reached its limit of sockets.
   */
  | { readonly type: 'accepted'; readonly serve: (socket: MessageSocket, admit: Admit) => Promise<void> }
  /** The path has no socket, or the request is refused: it is answered like any other request. */
  | { readonly type: 'ordinary' }
  /** The path does not belong to the handler. */
  | { readonly type: 'unknown_path' };

/** Counts a socket against the share of its caller; false if there is no room. */
export type Admit = (claimant: Claimant) => boolean;

/** A handler that also opens WebSockets. */
export interface UpgradeHandler extends HttpHandler {
  upgrade(request: HttpRequest): UpgradeAnswer | Promise<UpgradeAnswer>;
}

/** Where upgrades are accepted, and limits of the sockets. */
export interface UpgradeOptions extends Partial<SocketBounds> {
  /**
   * Path prefix under which a framework mounts the handler, such as `/api`, if it strips the prefix from ordinary requests: frameworks
   * do not strip it from upgrades.
   */
  readonly mountPath?: string;
  /**
   * The most open sockets; default: 1024. Beyond it, upgrades get a 503. An eighth is reserved for management and agents; every other
   * caller can have a quarter. Refused and ended sockets do not count.
   */
  readonly maximumSockets?: number;
  /** Upgrades of other paths get a 404 (the default), or are ignored, so that another listener of the server can answer. */
  readonly unknownPaths?: 'refuse' | 'ignore';
}

/** A listener for the event `upgrade` of a `node:http` server. */
export interface UpgradeListener {
  (request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Closes every socket with 1001. Call it before the server's `close`, which waits for open sockets. */
  closeAll(): void;
}

const bounds: SocketBounds = {
  maximumMessageBytes: 1024 * 1024,
  maximumQueuedBytes: 1024 * 1024,
  idleTimeout: 60_000,
  stallTimeout: 30_000,
};

const optionTable: OptionTable<UpgradeOptions> = {
  mountPath: optional(textLike(/^(?:\/.*)?$/, "'' or a path that begins with a slash")),
  maximumSockets: optional(amount),
  unknownPaths: optional(oneOf('refuse', 'ignore')),
  maximumMessageBytes: optional(amount),
  maximumQueuedBytes: optional(amount),
  idleTimeout: optional(amount),
  stallTimeout: optional(amount),
};

/**
 * The handler's WebSockets as a listener for the event `upgrade` of a `node:http` server:
 * `server.on('upgrade', upgradeListener(handler))`. With a framework, use its server: the result of Express's `app.listen()`, Fastify's
 * `app.server`, the result of `serve` of Hono's Node server. Loads `ws` at the first upgrade.
 */
export function upgradeListener(handler: UpgradeHandler, options: UpgradeOptions = {}): UpgradeListener {
  checkArgument('upgradeListener', 'handler', handler, port('a handler, made by createHttpHandler', 'upgrade'));
  checkOptions<UpgradeOptions>('upgradeListener', options, optionTable);
  const { mountPath = '', maximumSockets = 1024, unknownPaths = 'refuse', ...own } = options;
  const socketBounds: SocketBounds = { ...bounds, ...own };
  const ordinary = nodeListener(handler, { stallTimeout: socketBounds.stallTimeout });
  const places = new Places(maximumSockets);
  const farewell = new Farewell();
  let server: ReturnType<typeof webSocketServer> | undefined;

  const accept = async (
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    serve: (socket: MessageSocket, admit: Admit) => Promise<void>,
  ): Promise<void> => {
    if (places.areFull) return refuse(request, socket, 503, 'too many sockets are open; try again later');
    if (!isCurrentVersion(request))
      return refuse(request, socket, 400, 'unsupported WebSocket version: use Sec-WebSocket-Version 13');
    server ??= webSocketServer(socketBounds.maximumMessageBytes, refuse);
    const webSockets = await server;
    webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      const bounded = boundedSocket(webSocket, socket, socketBounds);
      void places.serve(socket, bounded, serve).then(() => farewell.await(socket));
    });
  };

  const respond = (request: IncomingMessage, socket: Duplex, write: (response: ServerResponse) => void): void =>
    respondOn(request, socket, write, () => farewell.await(socket));

  const refuse = (request: IncomingMessage, socket: Duplex, status: number, message: string): void =>
    respond(request, socket, (response) => writeRefusal(response, status, message));

  const answer = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const target = withoutMount(request.url ?? '/', mountPath);
    if (target === undefined) return unknownPath(request, socket);
    request.url = target;
    const decided = await handler.upgrade(recordOf(request, socket));
    if (decided.type === 'accepted') return accept(request, socket, head, decided.serve);
    if (decided.type === 'unknown_path' && unknownPaths === 'ignore') return;
    respond(request, socket, (response) => ordinary(request, response));
  };

  const unknownPath = (request: IncomingMessage, socket: Duplex): void => {
    if (unknownPaths === 'refuse') refuse(request, socket, 404, '');
  };

  const listener = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on('error', ignore);
    void answer(request, socket, head).catch(() => socket.destroy());
  };
  return Object.assign(listener, { closeAll: () => places.closeAll() });
}

/** The open sockets. Each counts until it is refused or closed by this side, whether or not its peer has closed it, too. */
class Places {
  readonly #maximum: number;
  readonly #open = new Map<Duplex, MessageSocket>();
  readonly #shares: Shares;

  constructor(maximum: number) {
    this.#maximum = maximum;
    this.#shares = new Shares(maximum, 1);
  }

  get areFull(): boolean {
    return this.#open.size >= this.#maximum;
  }

  async serve(
    socket: Duplex,
    bounded: MessageSocket,
    serve: (socket: MessageSocket, admit: Admit) => Promise<void>,
  ): Promise<void> {
    let counted: Claimant | undefined;
    const free = (): void => {
      if (this.#open.delete(socket) && counted !== undefined) this.#shares.release(counted, 1);
    };
    socket.once('close', free);
    this.#open.set(socket, bounded);
    await serve(bounded, (claimant) => {
      if (!this.#open.has(socket) || !this.#shares.take(claimant, 1)) return false;
      counted = claimant;
      return true;
    });
    free();
  }

  closeAll(): void {
    for (const bounded of this.#open.values()) bounded.close(1001, 'the server is stopping');
  }
}

function recordOf(request: IncomingMessage, socket: Duplex): HttpRequest {
  return {
    method: request.method ?? 'GET',
    target: request.url ?? '/',
    headers: request.headers,
    readBody: () => Promise.resolve({ type: 'absent' }),
    whenClosed: (callback) => {
      if (socket.destroyed) callback();
      else socket.once('close', callback);
    },
    localAddress: () => request.socket.localAddress,
    remoteAddress: () => request.socket.remoteAddress,
    original: request,
  };
}

async function webSocketServer(
  maxPayload: number,
  refuse: (request: IncomingMessage, socket: Duplex, status: number, message: string) => void,
) {
  const ws = await import('ws');
  // No compression: it needs much memory per socket, and small messages can expand. No subprotocol is negotiated.
  const options = {
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload,
    closeTimeout: farewellTimeout,
  };
  const server = new ws.WebSocketServer({
    ...options,
    handleProtocols: () => false as const,
    WebSocket: servedSocket(ws.WebSocket),
  });
  server.on('wsClientError', ({ message }, socket, request) => refuse(request, socket, 400, message));
  return server;
}

/** The only version that is not a draft; `ws` also accepts version 8. */
function isCurrentVersion({ headers }: IncomingMessage): boolean {
  return headers['sec-websocket-version'] === '13';
}

/** Answers an upgrade request like an ordinary one, and closes the connection. `closed` is called when this side has closed it. */
function respondOn(
  request: IncomingMessage,
  socket: Duplex,
  write: (response: ServerResponse) => void,
  closed: () => void,
): void {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket as never);
  response.once('finish', () => {
    response.detachSocket(socket as never);
    socket.end();
    closed();
  });
  // The body of such a request, if it has one, is not read; what is left of it must not hold the answer up.
  socket.resume();
  write(response);
}

function writeRefusal(response: ServerResponse, status: number, message: string): void {
  const plain = { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' };
  response.writeHead(status, message === '' ? {} : { ...plain, ...furtherHeaders[status] });
  response.end(message);
}

/** What a refusal says beside its text, by its status. */
const furtherHeaders: Readonly<Record<number, Record<string, string>>> = {
  400: { 'Sec-WebSocket-Version': '13' },
  503: { 'Retry-After': '1' },
};

/** The target below the mount path; undefined when it is not below it. */
function withoutMount(target: string, mountPath: string): string | undefined {
  const mount = mountPath.endsWith('/') ? mountPath.slice(0, -1) : mountPath;
  if (mount === '') return target;
  if (!target.startsWith(mount)) return undefined;
  const rest = target.slice(mount.length);
  return rest.startsWith('/') ? rest : rest === '' || rest.startsWith('?') ? '/' + rest : undefined;
}

const ignore = (): void => undefined;
/** Milliseconds that a peer may take to close its side of a connection that this side has closed. */
const farewellTimeout = 5000;
/** The most connections to wait for. */
const mostAwaited = 64;

/**
 * Connections that this side has closed and the peer has not. Each holds a descriptor, so only a few may wait; beyond that, the oldest
 * is destroyed.
 */
class Farewell {
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
