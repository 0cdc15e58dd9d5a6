import { err, ok } from 'neverthrow';
import type { MessageSocket } from '../../src/api/message-socket.js';
import { plainType } from '../../src/api/plain-type.js';
import type { Engine, Principal } from '../../src/index.js';
import { compressFor } from './bridges/compression.js';
import { watchedBody } from './bridges/watched-body.js';
import { type Locate, type Located, locator } from './calls/locate.js';
import { Query } from './calls/query.js';
import { emptyResponse, textResponse } from './calls/responses.js';
import type { Route, RouteCall } from './calls/route.js';
import { routeTable } from './calls/route-table.js';
import type { Match } from './calls/router.js';
import {
  type AccessOptions,
  type Authentication,
  type Authenticator,
  authenticatorFrom,
  mayHaveRight,
  nobody,
  tokenFrom,
} from './edge/access.js';
import { BodyBudget, HeldBody } from './edge/body-budget.js';
import { redirected } from './edge/clean-path.js';
import { type EdgeGuard, edgeGuard } from './edge/edge-guard.js';
import { type HeaderNames, headerNamesFor, type Vocabulary } from './edge/header-names.js';
import { openServerAnswer } from './edge/open-server.js';
import { maximumTargetLength, splitTarget } from './edge/target.js';
import { bodyOfStrangers, refusedRight, refusedToken } from './edge/upstream-refusals.js';
import { withinTrace } from './edge/within-trace.js';
import { errorsFor } from './errors/errors-for.js';
import type { InterfaceErrors } from './errors/interface-errors.js';
import { type HttpHandler, type HttpRequest, type HttpResponse, headerValue, isWhole } from './http-message.js';
import { discoveryRoute } from './notifications/service-discovery.js';
import { workspacePageRoute } from './notifications/workspace-page.js';
import { serveSocket } from './sockets/serve-socket.js';
import type { UpgradeAnswer, UpgradeHandler } from './sockets/upgrade-listener.js';

export type HttpHandlerOptions = AccessOptions & {
  /** Path under which the host has mounted the handler and which it does not strip itself, such as `/api`. */
  readonly basePath?: string;
  /** Path of the notification interface below `basePath`; the engine's setting when absent. */
  readonly notificationsPath?: string;
  /** Spelling of the answers' headers; the engine's setting when absent. */
  readonly names?: Vocabulary;
  /** Bytes of a request body; 4 MiB when absent. */
  readonly maximumBodyBytes?: number;
  /** Bytes of all request bodies that are held at once; 64 MiB when absent. Beyond it requests with bodies get a 503. */
  readonly maximumHeldBytes?: number;
  /**
   * Names and addresses, without ports, that requests may be sent to besides loopback, the address that the client
   * connected to and the public origin of the engine's settings; `*` accepts every name. Others get a 421.
   */
  readonly hosts?: readonly string[];
};

/**
 * Both interfaces over the engine, as one function from request to response. `nodeListener` and `fetchHandler` carry it
 * to servers, `upgradeListener` carries its WebSockets. Throws a TypeError when the options decide nothing about access.
 */
export function createHttpHandler(engine: Engine, options: HttpHandlerOptions): UpgradeHandler {
  return handlerOver(routeTable, engine, options);
}

/** The same over another table of routes. */
export function handlerOver(routes: readonly Route[], engine: Engine, options: HttpHandlerOptions): UpgradeHandler {
  const notificationsPath = withoutEndSlash(options.notificationsPath ?? engine.settings.notifications.basePath);
  const upstream = (options.names ?? engine.settings.notifications.names) === 'upstream';
  const basePath = withoutEndSlash(options.basePath ?? '');
  const parts: HandlerParts = {
    engine,
    authenticate: authenticatorFrom(engine, options),
    knowsTokens: options.access !== 'open',
    guard: edgeGuard({ publicOrigin: engine.settings.notifications.publicOrigin, hosts: options.hosts ?? [] }),
    names: headerNamesFor(options.names ?? engine.settings.notifications.names),
    budget: new BodyBudget(options.maximumHeldBytes ?? 64 * 1024 * 1024),
    maximumBodyBytes: options.maximumBodyBytes ?? 4 * 1024 * 1024,
    notificationsPath,
    redirected: upstream ? redirected : () => undefined,
    locate: locator([...routes, ...furtherRoutes(upstream)], basePath, notificationsPath),
    socketsBelow: `${basePath}/v1/client/allocation/`,
  };
  const handle: HttpHandler = async (request) => {
    const response = await respond(parts, request);
    // Stored content is untrusted: browsers must not sniff another content type.
    response.headers.push('X-Content-Type-Options', 'nosniff');
    if (!isWhole(response.body)) return { ...response, body: watchedBody(response.body, engine.logger) };
    return compressFor(request, response, response.body, upstream);
  };
  return Object.assign(handle, { upgrade: (request: HttpRequest) => openSocket(parts, request) });
}

/** Routes that are no calls of an interface. */
function furtherRoutes(upstream: boolean): readonly Route[] {
  return upstream ? [workspacePageRoute, discoveryRoute] : [workspacePageRoute];
}

interface HandlerParts {
  readonly engine: Engine;
  readonly authenticate: Authenticator;
  /** Whether callers are known by tokens of the engine's store, or by the host. An open server has none. */
  readonly knowsTokens: boolean;
  readonly guard: EdgeGuard;
  readonly names: HeaderNames;
  readonly budget: BodyBudget;
  readonly maximumBodyBytes: number;
  readonly notificationsPath: string;
  /** Sends clients of the upstream to the path that they mean. */
  readonly redirected: (...request: Parameters<typeof redirected>) => ReturnType<typeof redirected>;
  readonly locate: Locate;
  /** Socket routes: an unknown path is reported by the close code. */
  readonly socketsBelow: string;
}

async function respond(parts: HandlerParts, request: HttpRequest): Promise<HttpResponse> {
  if (request.target.length > maximumTargetLength) return textResponse(414, 'the request target is too long');
  const target = splitTarget(request.target);
  const redirect = parts.redirected(request.method, target.path, target.query);
  if (redirect !== undefined) return redirect;
  const located = parts.locate(request.method, target.path);
  const plain = asksForPlain(request);
  const errors = errorsFor(located?.interface ?? 'jobs', plain);
  const refused = parts.guard(request);
  if (refused !== undefined) return errors.refused(refused.status, refused.message);
  if (located === undefined) return plain ? errors.unknownPath() : emptyResponse(404);
  const body = new HeldBody(request, parts.budget, parts.maximumBodyBytes);
  const began = parts.engine.clock.monotonic();
  try {
    const asked = { request, errors, plain, query: new Query(target.query), body };
    const response = await answer(parts, located, asked);
    observe(parts.engine, located, { request, response, began });
    return response;
  } catch (error) {
    parts.engine.logger.error({ error: error instanceof Error ? error.stack : 'unknown' }, 'A request failed');
    return errors.internal();
  } finally {
    body.release();
  }
}

/** Measures a request to a known path; the time of one that fails inside is not known to mean anything. */
function observe({ observer, clock }: Engine, { match }: Located, { request, response, began }: Exchange): void {
  if (match.isErr() || match.value.type !== 'found') return;
  observer.record('http.server.request.duration', (clock.monotonic() - began) / 1000, {
    'http.request.method': request.method,
    'http.route': match.value.route.path,
    'http.response.status_code': String(response.status),
  });
}

interface Exchange {
  readonly request: HttpRequest;
  readonly response: HttpResponse;
  /** By the monotonic clock. */
  readonly began: number;
}

/** A request whose path has been found. */
interface Asked {
  readonly request: HttpRequest;
  readonly errors: InterfaceErrors;
  readonly plain: boolean;
  readonly query: Query;
  readonly body: HeldBody;
}

async function answer(parts: HandlerParts, located: Located, asked: Asked): Promise<HttpResponse> {
  const { request, errors } = asked;
  const found = foundBy(located, asked);
  if (found.isErr()) return found.error;
  const { route } = found.value;
  if (!parts.knowsTokens && route.path.startsWith('/v1/acl/')) {
    return asked.plain
      ? errors.refused(400, 'ACL support disabled')
      : openServerAnswer(request.method, route.path, parts.names);
  }
  const admitted = route.access.type === 'public' ? unasked : parts.authenticate(request);
  // Open servers and public routes decide at once; a promise less for each of their requests.
  const admission = admitted instanceof Promise ? await admitted : admitted;
  const caller = callerOf(admission, route);
  if (caller !== undefined) {
    const traced = { engine: parts.engine, request, route: route.path, caller };
    return withinTrace(traced, (within) => answerTo(within, found.value, parts, asked));
  }
  const told = isForUpstream(route, parts, asked) ? refusedToken(route.path, tokenFrom(request) ?? '') : undefined;
  return told ?? refusal(parts.engine, errors, admission);
}

/** Clients of the upstream expect its order of checks: errors of a small body precede a missing right. */
async function answerTo(
  caller: Principal,
  { route, pathValues }: Extract<Match, { readonly type: 'found' }>,
  parts: HandlerParts,
  asked: Asked,
): Promise<HttpResponse> {
  const { request, errors, query } = asked;
  const forUpstream = isForUpstream(route, parts, asked);
  const isLookedAt = mayHaveBody(request) || caller.node !== undefined;
  const isStranger = isLookedAt && !mayHaveRight(route, caller, pathValues, query);
  if (isStranger && (!forUpstream || caller.node !== undefined)) return errors.forbidden();
  if (isStranger) asked.body.narrow(bodyOfStrangers);
  const response = await route.handle(callFrom(parts, asked, caller, pathValues));
  if (isStranger && unread.has(response.status)) return errors.forbidden();
  return forUpstream && response.status === 403 ? (refusedRight(route.path) ?? response) : response;
}

function isForUpstream(route: Route, { names }: HandlerParts, { plain }: Asked): boolean {
  return names.vocabulary === 'upstream' && route.interface !== 'notifications' && !plain;
}

/** A body that is too large for the one who sent it, or that there is no room for. */
const unread: ReadonlySet<number> = new Set([413, 503]);

/** The route of a request, or the answer to one that has none. */
function foundBy({ match }: Located, { request, errors }: Asked) {
  if (match.isErr()) return err(errors.unreadablePath(match.error));
  const found = match.value;
  if (found.type === 'unknown_path') return err(errors.unknownPath());
  if (found.type === 'incomplete_path') return err(errors.refused(found.status, found.message));
  if (found.type === 'not_provided') return err(errors.refused(501, notProvided(request.method, found.path)));
  return found.type === 'wrong_method' ? err(errors.wrongMethod(found.allowed)) : ok(found);
}

function callFrom(
  { engine, names, notificationsPath }: HandlerParts,
  { request, errors, plain, query, body }: Asked,
  caller: Principal,
  pathValues: readonly string[],
): RouteCall {
  const readBody: RouteCall['readBody'] = () => body.read();
  return { engine, caller, request, pathValues, query, names, errors, plain, readBody, notificationsPath };
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
    errors: errorsFor(located.interface, false),
    plain: false,
    query: new Query(target.query),
    body: new HeldBody(request, parts.budget, 0),
  };
  const call = callFrom(parts, asked, nobody, pathValues);
  return {
    type: 'accepted',
    serve: (socket) => serveSocket({ call, route, authenticate: parts.authenticate }, socket),
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
  if (!isTold || parts.redirected(request.method, path, query) !== undefined) return { type: 'unknown_path' };
  return { type: 'accepted', serve: closeUnknown };
}

async function closeUnknown(socket: MessageSocket): Promise<void> {
  socket.close(1008, 'resource not found');
}

function asksForWebSocket(request: HttpRequest): boolean {
  return headerValue(request, 'upgrade')?.toLowerCase() === 'websocket';
}

function asksForPlain(request: HttpRequest): boolean {
  return headerValue(request, 'accept')?.includes(plainType) === true;
}

function notProvided(method: string, path: string): string {
  return `this server does not provide ${method.slice(0, 20)} ${path}`;
}

function mayHaveBody({ method }: HttpRequest): boolean {
  return method !== 'GET' && method !== 'HEAD';
}

const unasked: Authentication = { type: 'known', caller: nobody };

/** Whom the operation is called for; undefined for those who get no further. The notification interface has no callers without a token. */
function callerOf(admission: Authentication, route: Route): Principal | undefined {
  if (admission.type === 'known') return admission.caller;
  return admission.type === 'missing' && route.interface !== 'notifications' ? admission.caller : undefined;
}

function refusal(engine: Engine, errors: InterfaceErrors, admission: Authentication): HttpResponse {
  if (admission.type !== 'failed') return errors.unauthenticated();
  engine.logger.error({ error: admission.message }, 'The token store could not be read');
  return errors.internal();
}

function withoutEndSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}
