import { promisify } from 'node:util';
import { gzipSync, gzip as gzipWithCallback } from 'node:zlib';
import { err, ok } from 'neverthrow';
import type { Interface } from '../../src/api/call.js';
import { api } from '../../src/api/index.js';
import type { MessageSocket } from '../../src/api/message-socket.js';
import { callerWithin, type Engine, type Principal } from '../../src/index.js';
import type { OptionTable } from '../../src/options/check-options.js';
import { amount, anything, flag, listOf, optional, text, textLike } from '../../src/options/option-kinds.js';
import type { Logger, StorageError } from '../../src/ports/index.js';
import { withoutEndSlash } from '../../src/shared/values.js';
import { asksForPlain, type Query, queryFrom } from './calls/query-and-body.js';
import { type Locate, type Located, locator } from './calls/read-inputs.js';
import { workspacePageRoute } from './calls/route-table.js';
import type { Match, Route, RouteCall } from './calls/router.js';
import { type DeliveryResponses, type Dialects, type JobDialect, neutral, neutralDialects } from './dialect.js';
import {
  type AccessOptions,
  type Authentication,
  type Authenticator,
  authenticatorFrom,
  bodyOfStrangers,
  bootstrapsOverHttp,
  type EdgeGuard,
  edgeGuard,
  mayHaveRight,
  nobody,
  tokenFrom,
} from './edge/access.js';
import { type PageOptions, pageKind, type WebPage, webPage } from './edge/page.js';
import { clockRoutes } from './edge/page-clock.js';
import { sessionRefusal, sessionRoutes } from './edge/session.js';
import { claimantOf, HeldBody, HeldPlace, Shares } from './edge/shares.js';
import { type InterfaceErrors, isBusyStore, plainErrorsOf } from './errors/interface-errors.js';
import { notificationErrors } from './errors/notification-errors.js';
import {
  type HeaderNames,
  type HttpHandler,
  type HttpRequest,
  type HttpResponse,
  headerValue,
  isWhole,
  jsonResponse,
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
  /** Serves the web page at `/ui/`, below `basePath`; default: false. Throws if its files cannot be found, as in a bundle. */
  readonly page?: boolean | PageOptions;
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
  page: optional(pageKind),
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
  const clock = typeof options.page === 'object' ? options.page.clock : undefined;
  const maximumBodyBytes = options.maximumBodyBytes ?? 4 * 1024 * 1024;
  const maximumHeldBytes = options.maximumHeldBytes ?? 64 * 1024 * 1024;
  const guard = edgeGuard({ publicOrigin: engine.settings.notifications.publicOrigin, hosts: options.hosts ?? [] });
  const parts: HandlerParts = {
    engine,
    authenticate: authenticatorFrom(engine, options),
    knowsTokens: options.access !== 'open',
    bootstraps: bootstrapsOverHttp(options),
    guard,
    page: webPage(options.page, { ...{ guard, basePath, notificationsPath, dialect }, access: options.access }),
    dialect,
    plainDialect: { ...neutral, headers, codecOf, emptyIsAbsent, nullIsEmpty },
    deliveryResponses,
    bodies: new Shares(maximumHeldBytes, maximumBodyBytes),
    waiting: new Shares(options.maximumWaitingReads ?? 16_384, 1),
    maximumBodyBytes,
    notificationsPath,
    locate: locator([...routes, workspacePageRoute, ...sessionRoutes(options.access), ...clockRoutes(clock)], {
      ...{ basePath, notificationsPath, dialect },
    }),
    handshakes: new Handshakes(),
    socketsBelow: `${basePath}/v1/client/allocation/`,
  };
  const handle: HttpHandler = (request) => respond(parts, request);
  return Object.assign(handle, { upgrade: (request: HttpRequest) => openSocket(parts, request) });
}

/** The only step that awaits a request's answer; the others pass promises on. */
async function respond(parts: HandlerParts, request: HttpRequest): Promise<HttpResponse> {
  const page = parts.page?.(request);
  if (page !== undefined) return page;
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
  response.headers.push('Content-Encoding', 'gzip');
  return body.length < smallestCompressed ? { ...response, body: gzipSync(body, stored) } : compressed(response, body);
}

async function compressed(response: HttpResponse, whole: string | Buffer): Promise<HttpResponse> {
  return { ...response, body: await (typeof whole === 'string' ? gzip(whole, { level }) : compressOnce(whole)) };
}

function compressOnce(body: Buffer): Promise<Buffer> {
  let pending = shared.get(body);
  if (pending === undefined) {
    pending = gzip(body, { level });
    shared.set(body, pending);
  }
  return pending;
}

/** The parts of a handler. */
interface HandlerParts {
  readonly engine: Engine;
  readonly authenticate: Authenticator;
  /** Authenticates callers by tokens of the engine's store or through the host; absent on an open server. */
  readonly knowsTokens: boolean;
  /** Whether the first caller gets the first token. */
  readonly bootstraps: boolean;
  readonly guard: EdgeGuard;
  readonly page: WebPage | undefined;
  readonly dialect: JobDialect;
  /** For clients that request the engine's own form: neutral, but for headers and the reading of parameters and bodies. */
  readonly plainDialect: JobDialect;
  readonly deliveryResponses: DeliveryResponses;
  /** The shares of memory for request bodies. */
  readonly bodies: Shares;
  /** The shares of reads that wait at once. */
  readonly waiting: Shares;
  readonly maximumBodyBytes: number;
  readonly notificationsPath: string;
  readonly locate: Locate;
  readonly handshakes: Handshakes;
  /** Socket routes: an unknown path is reported by the close code. */
  readonly socketsBelow: string;
}

/** A request with its route. */
interface Asked {
  readonly request: HttpRequest;
  readonly errors: InterfaceErrors;
  readonly plain: boolean;
  readonly dialect: JobDialect;
  readonly query: Query;
  readonly body: HeldBody;
  readonly place: HeldPlace;
}

/** Answers a request with its route: checks access, then calls the route. */
function answer(parts: HandlerParts, located: Located, asked: Asked): HttpResponse | Promise<HttpResponse> {
  const { request, errors } = asked;
  const found = foundBy(located, asked, parts.dialect);
  if (found.isErr()) return found.error;
  const { route } = found.value;
  if (!parts.knowsTokens && route.path.startsWith('/v1/acl/') && route.path !== api.tokens.rights.path) {
    return asked.plain
      ? errors.refused(400, 'ACL support disabled')
      : openServerAnswer(request.method, route.path, parts.dialect.headers);
  }
  if (!parts.bootstraps && route.path === '/v1/acl/bootstrap') return errors.refused(403, bootstrapOff);
  const admitted = route.access.type === 'public' ? unasked : parts.authenticate(request);
  return admitted instanceof Promise
    ? admitted.then((admission) => answerAdmitted(parts, found.value, asked, admission))
    : answerAdmitted(parts, found.value, asked, admitted);
}

type Found = Extract<Match, { readonly type: 'found' }>;

function answerAdmitted(
  parts: HandlerParts,
  found: Found,
  asked: Asked,
  admission: Authentication,
): HttpResponse | Promise<HttpResponse> {
  const { request } = asked;
  const { route } = found;
  const caller = callerOf(admission, route);
  const isBySession = admission.type === 'known' && admission.bySession === true;
  const refusal = isBySession ? sessionRefusal(request, route.methods) : undefined;
  if (refusal !== undefined) return asked.errors.refused(403, refusal);
  if (caller !== undefined) {
    const traced = { engine: parts.engine, request, route: route.path, caller };
    return withinTrace(traced, (within) => answerTo(within, found, parts, asked));
  }
  if (admission.type === 'failed') return unreadableTokens(parts.engine, asked, admission.error, route);
  return asked.errors.unauthenticated(route, tokenFrom(request) ?? '');
}

/** Depending on the dialect, errors in a small body precede a missing right. */
function answerTo(
  caller: Principal,
  { route, pathValues }: Found,
  parts: HandlerParts,
  asked: Asked,
): HttpResponse | Promise<HttpResponse> {
  const { request, errors, query, dialect } = asked;
  const isLookedAt = mayHaveBody(request) || caller.node !== undefined;
  const isStranger = isLookedAt && !mayHaveRight(route, caller, pathValues, query);
  const bodyFirst = dialect.bodyBeforeRight && route.interface !== 'notifications' && caller.node === undefined;
  if (isStranger && !bodyFirst) return errors.forbidden(route.access);
  if (isStranger) asked.body.narrow(bodyOfStrangers);
  asked.body.countAgainst(() => claimantOf(caller, request, isStranger));
  asked.place.countAgainst(() => claimantOf(caller, request, !mayHaveRight(route, caller, pathValues, query)));
  const answered = route.handle(callFrom(parts, asked, caller, pathValues));
  if (!isStranger) return answered;
  const judged = (response: HttpResponse): HttpResponse =>
    unread.has(response.status) ? errors.forbidden(route.access) : response;
  return 'status' in answered ? judged(answered) : answered.then(judged);
}

/** The statuses of a body that is too large for its sender, or for which there is no room. */
const unread: ReadonlySet<number> = new Set([413, 503]);

/** The route of a request, or the answer if there is none. */
function foundBy({ match }: Located, { request, errors }: Asked, { absence, notProvided }: JobDialect) {
  if (match.isErr()) return err(errors.unreadablePath(match.error));
  const found = match.value;
  if (found.type === 'found') return ok(found);
  const where = placeOf(request);
  switch (found.type) {
    case 'unknown_path':
      return err(errors.unknownPath(where));
    case 'incomplete_path':
      return err(errors.refused(found.status, absence(found.message, where)));
    case 'not_provided':
      return err(errors.refused(notProvided.status, `this server does not provide ${where}`));
    case 'wrong_method':
      return err(errors.wrongMethod(where, found.allowed));
  }
}

function callFrom(
  { engine, deliveryResponses, notificationsPath }: HandlerParts,
  { request, errors, plain, dialect, query, body, place }: Asked,
  caller: Principal,
  pathValues: readonly string[],
): RouteCall {
  const readBody: RouteCall['readBody'] = () => body.read();
  const mayWait = (): boolean => place.take();
  return {
    engine,
    caller,
    request,
    pathValues,
    query,
    dialect,
    deliveryResponses,
    errors,
    plain,
    readBody,
    mayWait,
    notificationsPath,
  };
}

const bootstrapOff =
  'this server does not create its first token over HTTP: its operator creates one in the process (createHttpHandler, option bootstrap)';

function mayHaveBody({ method }: HttpRequest): boolean {
  return method !== 'GET' && method !== 'HEAD';
}

const unasked: Authentication = { type: 'known', caller: nobody };

/** The operation's caller; undefined for a refused request. The notification interface always requires a token. */
function callerOf(admission: Authentication, route: Route): Principal | undefined {
  if (admission.type === 'known') return admission.caller;
  return admission.type === 'missing' && route.interface !== 'notifications' ? admission.caller : undefined;
}

/** The caller is not known because the store failed. One that is busy logs that itself. */
function unreadableTokens(
  engine: Engine,
  { errors, request }: Asked,
  error: StorageError,
  { name, access }: Route,
): HttpResponse {
  if (isBusyStore(error)) return errors.callError(error, { name, access, where: placeOf(request) });
  engine.logger.error({ error: error.message }, 'The token store could not be read');
  return errors.internal();
}

/** The token that `token/self` returns on a server without access control. */
const token = JSON.stringify({
  AccessorID: 'acls-disabled',
  SecretID: '',
  Name: 'ACLs disabled token',
  Type: 'client',
  Policies: null,
  Roles: null,
  Global: false,
  Hash: null,
  CreateTime: '0001-01-01T00:00:00Z',
  ExpirationTime: null,
  ExpirationTTL: '',
  CreateIndex: 0,
  ModifyIndex: 0,
});

/** The answers of a server without access control on the ACL routes. */
function openServerAnswer(method: string, path: string, names: HeaderNames): HttpResponse {
  if (method !== 'GET' || path !== '/v1/acl/token/self') return textResponse(400, 'ACL support disabled');
  const response = jsonResponse(200, token);
  response.headers.push(names.index, '0', names.lastContact, '0', names.knownLeader, 'true');
  return response;
}

interface TracedRequest {
  readonly engine: Engine;
  readonly request: HttpRequest;
  /** Pattern of the path. */
  readonly route: string;
  readonly caller: Principal;
}

/**
 * Answers within the trace of the request's `traceparent` header and, if a tracer is set, in a new span, so that everything the
 * call causes has it as parent. An invalid `traceparent` is ignored by the engine and by the tracer.
 */
function withinTrace(
  traced: TracedRequest,
  answer: (caller: Principal) => HttpResponse | Promise<HttpResponse>,
): HttpResponse | Promise<HttpResponse> {
  const parent = headerValue(traced.request, 'traceparent');
  const { tracer } = traced.engine;
  return tracer === undefined ? answer(within(traced.caller, parent)) : recorded(traced, tracer, parent, answer);
}

async function recorded(
  { request, route, caller }: TracedRequest,
  tracer: NonNullable<Engine['tracer']>,
  parent: string | undefined,
  answer: (caller: Principal) => HttpResponse | Promise<HttpResponse>,
): Promise<HttpResponse> {
  const { method } = request;
  const attributes = { 'http.request.method': method, 'http.route': route };
  const span = tracer.begin({ name: `${method} ${route}`, kind: 'server', parent, attributes });
  try {
    const response = await answer(within(caller, span.traceparent ?? parent));
    const { status } = response;
    const answered = { attributes: { 'http.response.status_code': status } };
    span.end(status >= 500 ? { ...answered, failure: `status ${status}` } : answered);
    return response;
  } catch (thrown) {
    span.end({ failure: 'the request failed' });
    throw thrown;
  }
}

function within(caller: Principal, traceparent: string | undefined): Principal {
  return traceparent === undefined ? caller : callerWithin(caller, traceparent);
}
