import { promisify } from 'node:util';
import { gzipSync, gzip as gzipWithCallback } from 'node:zlib';
import type { Interface } from '../../src/api/call.js';
import type { MessageSocket } from '../../src/api/message-socket.js';
import type { Engine } from '../../src/index.js';
import type { OptionTable } from '../../src/options/check-options.js';
import { amount, anything, flag, listOf, optional, text, textLike } from '../../src/options/option-kinds.js';
import type { Logger } from '../../src/ports/index.js';
import { type Asked, answer, callFrom, type HandlerParts } from './answer-request.js';
import { asksForPlain, queryFrom } from './calls/query-and-body.js';
import { type Located, locator } from './calls/read-inputs.js';
import { workspacePageRoute } from './calls/route-table.js';
import type { Route } from './calls/router.js';
import { type Dialects, type JobDialect, neutral, neutralDialects } from './dialect.js';
import { type AccessOptions, authenticatorFrom, bootstrapsOverHttp, edgeGuard, nobody } from './edge/access.js';
import { HeldBody, HeldPlace, Shares } from './edge/shares.js';
import { type InterfaceErrors, plainErrorsOf } from './errors/interface-errors.js';
import { notificationErrors } from './errors/notification-errors.js';
import {
  type HttpHandler,
  type HttpRequest,
  type HttpResponse,
  headerValue,
  isWhole,
  maximumTargetLength,
  placeOf,
  type StreamedBody,
  splitTarget,
  textResponse,
} from './http-message.js';
import { Handshakes, serveSocket } from './sockets/admit-socket.js';
import type { UpgradeAnswer, UpgradeHandler } from './sockets/upgrade-listener.js';

/** Who may call the handler, where it is mounted, and its limits. */
export type HandlerOptions = AccessOptions & {
  /** Path prefix under which the host mounts the handler, such as `/api`, if the framework does not strip it. */
  readonly basePath?: string;
  /** Path of the notification interface below `basePath`; default: the engine's setting. */
  readonly notificationsPath?: string;
  /** The most bytes of a request body; default: 4 MiB. */
  readonly maximumBodyBytes?: number;
  /**
   * The most bytes of all request bodies in memory; default: 64 MiB. Beyond it, requests with bodies get a 503. An eighth is reserved
   * for management and agents. Callers without a token or without any right can use an eighth together and a sixteenth each (by token or
   * address), every other caller a quarter; each can send one body of `maximumBodyBytes`.
   */
  readonly maximumHeldBytes?: number;
  /**
   * The most reads that wait for a change (`index`) at once; 16,384 when absent. Beyond it such reads get a 429. The shares are those of
   * `maximumHeldBytes`: behind a reverse proxy all callers without a token have one address.
   */
  readonly maximumWaitingReads?: number;
  /**
   * Host names and addresses, without ports, accepted in requests in addition to loopback, the address that the client connected to and
   * the public origin of the engine's settings; `*` accepts every name. Requests for other hosts get a 421.
   */
  readonly hosts?: readonly string[];
};

const path = textLike(/^(?:\/.*)?$/, "'' or a path that begins with a slash");

export const optionTable: OptionTable<Record<keyof HandlerOptions, unknown>> = {
  // The access options are checked together, where the authenticator is made.
  authenticate: optional(anything),
  access: optional(anything),
  bootstrap: optional(flag),
  basePath: optional(path),
  notificationsPath: optional(path),
  maximumBodyBytes: optional(amount),
  maximumHeldBytes: optional(amount),
  maximumWaitingReads: optional(amount),
  hosts: optional(listOf(text)),
};

/**
 * Both interfaces of the engine as one function from request to response: these routes, for clients that expect these dialects.
 * `nodeListener` and `fetchHandler` connect it to servers, `upgradeListener` connects its WebSockets.
 */
export function handlerOver(
  routes: readonly Route[],
  engine: Engine,
  options: HandlerOptions,
  { jobs: dialect, deliveryResponses }: Dialects = neutralDialects,
): UpgradeHandler {
  const notificationsPath = withoutEndSlash(options.notificationsPath ?? engine.settings.notifications.basePath);
  const { headers, codecOf, emptyIsAbsent, nullIsEmpty } = dialect;
  const basePath = withoutEndSlash(options.basePath ?? '');
  const maximumBodyBytes = options.maximumBodyBytes ?? 4 * 1024 * 1024;
  const maximumHeldBytes = options.maximumHeldBytes ?? 64 * 1024 * 1024;
  const parts: HandlerParts = {
    engine,
    authenticate: authenticatorFrom(engine, options),
    knowsTokens: options.access !== 'open',
    bootstraps: bootstrapsOverHttp(options),
    guard: edgeGuard({ publicOrigin: engine.settings.notifications.publicOrigin, hosts: options.hosts ?? [] }),
    dialect,
    plainDialect: { ...neutral, headers, codecOf, emptyIsAbsent, nullIsEmpty },
    deliveryResponses,
    bodies: new Shares(maximumHeldBytes, maximumBodyBytes),
    waiting: new Shares(options.maximumWaitingReads ?? 16_384, 1),
    maximumBodyBytes,
    notificationsPath,
    locate: locator([...routes, workspacePageRoute], { basePath, notificationsPath, dialect }),
    handshakes: new Handshakes(),
    socketsBelow: `${basePath}/v1/client/allocation/`,
  };
  const handle: HttpHandler = (request) => respond(parts, request);
  return Object.assign(handle, { upgrade: (request: HttpRequest) => openSocket(parts, request) });
}

/** The only step that awaits a request's answer; the others pass promises on. */
async function respond(parts: HandlerParts, request: HttpRequest): Promise<HttpResponse> {
  const begun = begin(parts, request);
  if (!('located' in begun)) return finished(parts, request, begun);
  const { located, asked } = begun;
  const began = parts.engine.clock.monotonic();
  let response: HttpResponse;
  try {
    response = await answer(parts, located, asked);
    observe(parts.engine, located, { request, response, began });
  } catch (error) {
    parts.engine.logger.error({ error: error instanceof Error ? error.stack : 'unknown' }, 'A request failed');
    response = asked.errors.internal();
  }
  asked.body.release();
  asked.place.release();
  return finished(parts, request, response);
}

/** The located request, or the answer to a request that is refused before. */
function begin(
  parts: HandlerParts,
  request: HttpRequest,
): HttpResponse | { readonly located: Located; readonly asked: Asked } {
  if (request.target.length > maximumTargetLength) return textResponse(414, 'the request target is too long');
  const target = splitTarget(request.target);
  const redirect = parts.dialect.redirected(request.method, target.path, target.query);
  if (redirect !== undefined) return redirect;
  const located = parts.locate(request.method, target.path);
  const plain = asksForPlain(request);
  const dialect = plain ? parts.plainDialect : parts.dialect;
  const errors = errorsFor(located?.interface ?? 'jobs', plain, dialect);
  const changes = located !== undefined && changesByAnyMethod(located);
  const refused = parts.guard(request, changes);
  if (refused !== undefined) return errors.refused(refused.status, refused.message);
  if (located === undefined) return errors.unknownPath(placeOf(request));
  const query = queryFrom(request, dialect, target.query, { changes });
  const body = new HeldBody(request, parts.bodies, parts.maximumBodyBytes);
  return { located, asked: { request, errors, plain, dialect, query, body, place: new HeldPlace(parts.waiting) } };
}

/** Some writes also accept GET, for existing clients: an image in a web page could trigger them, too. */
function changesByAnyMethod({ match }: Located): boolean {
  if (match.isErr() || match.value.type !== 'found') return false;
  return match.value.route.methods.some((method) => method !== 'GET' && method !== 'HEAD');
}

function finished(
  { engine, dialect }: HandlerParts,
  request: HttpRequest,
  response: HttpResponse,
): HttpResponse | Promise<HttpResponse> {
  // Stored content is untrusted: browsers must not sniff another content type.
  response.headers.push('X-Content-Type-Options', 'nosniff');
  if (!isWhole(response.body)) return { ...response, body: watchedBody(response.body, engine.logger) };
  return compressFor(request, response, response.body, dialect);
}

/** Measures an answered request to a known path, and logs it for readers of the monitor. */
function observe({ observer, clock, feed }: Engine, { match }: Located, { request, response, began }: Exchange): void {
  if (match.isErr() || match.value.type !== 'found') return;
  const duration = clock.monotonic() - began;
  // Without the query, which may be long.
  feed.note(
    'debug',
    () => ({
      method: request.method,
      path: splitTarget(request.target).path,
      status: response.status,
      duration: `${duration}ms`,
    }),
    'http: request complete',
  );
  observer.record('http.server.request.duration', duration / 1000, {
    'http.request.method': request.method,
    'http.route': match.value.route.path,
    'http.response.status_code': String(response.status),
  });
}

interface Exchange {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  /** In milliseconds of the monotonic clock. */
  readonly began: number;
}

function openSocket(parts: HandlerParts, request: HttpRequest): UpgradeAnswer {
  if (request.target.length > maximumTargetLength) return { type: 'ordinary' };
  const target = splitTarget(request.target);
  const located = parts.locate(request.method, target.path);
  const isOpenable = asksForWebSocket(request) && parts.guard(request) === undefined;
  if (located === undefined || leadsNowhere(located, parts.socketsBelow, target.path))
    return unknownTarget(parts, request, isOpenable);
  const { match } = located;
  if (!isOpenable || match.isErr() || match.value.type !== 'found' || match.value.route.socket === undefined)
    return { type: 'ordinary' };
  const { route, pathValues } = match.value;
  const asked: Asked = {
    request,
    errors: errorsFor(located.interface, false, parts.dialect),
    plain: false,
    dialect: parts.dialect,
    query: queryFrom(request, parts.dialect, target.query, { changes: false }),
    body: new HeldBody(request, parts.bodies, 0),
    place: new HeldPlace(parts.waiting),
  };
  const call = callFrom(parts, asked, nobody, pathValues);
  return {
    type: 'accepted',
    serve: (socket, admit) => serveSocket({ call, route, gate: parts }, socket, admit),
  };
}

/** Paths below an allocation have sockets: upgrade requests get their error through the socket. */
function leadsNowhere({ match }: Located, socketsBelow: string, path: string): boolean {
  if (match.isErr()) return false;
  const { type } = match.value;
  return type === 'unknown_path' || (type === 'incomplete_path' && path.startsWith(socketsBelow));
}

/** An upgrade request for an unknown path below an allocation is answered by a close code. */
function unknownTarget(parts: HandlerParts, request: HttpRequest, isOpenable: boolean): UpgradeAnswer {
  const { path, query } = splitTarget(request.target);
  const isTold = isOpenable && path.startsWith(parts.socketsBelow);
  const isRedirected = parts.dialect.redirected(request.method, path, query) !== undefined;
  if (!isTold || isRedirected) return { type: 'unknown_path' };
  return { type: 'accepted', serve: closeUnknown };
}

async function closeUnknown(socket: MessageSocket): Promise<void> {
  socket.close(1008, 'resource not found');
}

function asksForWebSocket(request: HttpRequest): boolean {
  return headerValue(request, 'upgrade')?.toLowerCase() === 'websocket';
}

function withoutEndSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

/** Wraps a body to log its failures, because the client only sees a truncated answer. */
function watchedBody(body: StreamedBody, logger: Logger): StreamedBody {
  return {
    [Symbol.asyncIterator]: () => {
      const pieces = body[Symbol.asyncIterator]();
      return {
        next: () =>
          pieces.next().catch((error: unknown) => {
            logger.error({ error: error instanceof Error ? error.stack : 'unknown' }, 'A streamed answer failed');
            throw error;
          }),
        return: async () => (await pieces.return?.()) ?? { done: true, value: undefined },
      };
    },
  };
}
const plainOfJobs = plainErrorsOf(neutral.errors);
const plainOfNotifications = plainErrorsOf(notificationErrors);

/** The form of an interface's errors: its own or, if requested, the engine's, which does not depend on the dialect. */
function errorsFor(of: Interface, plain: boolean, dialect: JobDialect): InterfaceErrors {
  if (of === 'notifications') return plain ? plainOfNotifications : notificationErrors;
  return plain ? plainOfJobs : dialect.errors;
}

const gzip = promisify(gzipWithCallback);

/** Below this many bytes an uncompressed gzip copy is made synchronously, which is cheaper than another thread. */
const smallestCompressed = 2048;
const stored = { level: 0, memLevel: 1, windowBits: 9 } as const;
/** A low level: most of the gain on JSON for a fraction of the time. */
const level = 3;

/** Answers shared by many readers are compressed once. */
const shared = new WeakMap<Buffer, Promise<Buffer>>();

/** The response with a gzip body if the client accepts that; compressed off the main thread. */
function compressFor(
  request: HttpRequest,
  response: HttpResponse,
  body: string | Buffer,
  { compression }: JobDialect,
): HttpResponse | Promise<HttpResponse> {
  if (body.length === 0 || body.length < compression.smallest) return response;
  const accepted = headerValue(request, 'accept-encoding');
  response.headers.push('Vary', 'Accept-Encoding');
  if (accepted === undefined || !compression.accepts(accepted)) return response;
  return body.length < smallestCompressed ? wrapped(response, body) : compressed(response, body);
}

function wrapped({ status, headers }: HttpResponse, body: string | Buffer): HttpResponse {
  headers.push('Content-Encoding', 'gzip');
  return { status, headers, body: gzipSync(body, stored) };
}

async function compressed({ status, headers }: HttpResponse, whole: string | Buffer): Promise<HttpResponse> {
  const body = await (typeof whole === 'string' ? gzip(whole, { level }) : compressOnce(whole));
  headers.push('Content-Encoding', 'gzip');
  return { status, headers, body };
}

function compressOnce(body: Buffer): Promise<Buffer> {
  let pending = shared.get(body);
  if (pending === undefined) {
    pending = gzip(body, { level });
    shared.set(body, pending);
  }
  return pending;
}
