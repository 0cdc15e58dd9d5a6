import type { Result } from 'neverthrow';
import type { Engine } from '../../src/index.js';
import {
  type AccessOptions,
  type Authentication,
  type Authenticator,
  authenticatorFrom,
  mayHaveRight,
  nobody,
} from './access.js';
import type { BadInput } from './bad-input.js';
import { BodyBudget, HeldBody } from './body-budget.js';
import { clientRoutes } from './client-routes.js';
import { compressFor, smallestCompressed } from './compression.js';
import { edgeGuard } from './edge-guard.js';
import type { HalfErrors } from './half-errors.js';
import { headerNamesFor, type Vocabulary } from './header-names.js';
import {
  type HttpHandler,
  type HttpRequest,
  type HttpResponse,
  headerValue,
  isWhole,
  type RequestBody,
  type StreamedBody,
} from './http-message.js';
import { jobErrors } from './jobs/job-errors.js';
import { notificationErrors } from './notifications/notification-errors.js';
import { Query } from './query.js';
import { emptyResponse, textResponse } from './responses.js';
import type { Route, RouteHalf } from './route.js';
import { routeTable } from './route-table.js';
import { createRouter, type Match } from './router.js';
import { serveSocket } from './sockets/serve-socket.js';
import type { UpgradeAnswer, UpgradeHandler } from './sockets/upgrade-listener.js';
import { maximumTargetLength, splitTarget } from './target.js';

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
  const authenticate = authenticatorFrom(engine, options);
  const guard = edgeGuard({ publicOrigin: engine.settings.notifications.publicOrigin, hosts: options.hosts ?? [] });
  const names = headerNamesFor(options.names ?? engine.settings.notifications.names);
  const budget = new BodyBudget(options.maximumHeldBytes ?? 64 * 1024 * 1024);
  const maximumBodyBytes = options.maximumBodyBytes ?? 4 * 1024 * 1024;
  const notificationsPath = withoutEndSlash(options.notificationsPath ?? engine.settings.notifications.basePath);
  const locate = locator(routes, withoutEndSlash(options.basePath ?? ''), notificationsPath);

  const respond = async (request: HttpRequest): Promise<HttpResponse> => {
    if (request.target.length > maximumTargetLength) return textResponse(414, 'the request target is too long');
    const target = splitTarget(request.target);
    const place = locate(request.method, target.path);
    const refused = guard(request);
    if (refused !== undefined)
      return (place === undefined ? jobErrors : errorsOf[place.half]).refused(refused.status, refused.message);
    if (place === undefined) return emptyResponse(404);
    const { half, match } = place;
    const body = new HeldBody(request, budget, maximumBodyBytes);
    try {
      if (match.isErr()) return errorsOf[half].unreadablePath(match.error);
      const found = match.value;
      if (found.type === 'unknown_path') return errorsOf[half].unknownPath();
      if (found.type === 'not_provided') return errorsOf[half].refused(501, notProvided(request.method, found.path));
      if (found.type === 'wrong_method') return errorsOf[half].wrongMethod(found.allowed);
      const admitted = admit(found.route, request, authenticate);
      // Open servers and public routes decide at once; a promise less for each of their requests.
      const admission = admitted instanceof Promise ? await admitted : admitted;
      if (admission.type !== 'known') return refusal(engine, half, admission);
      const { caller } = admission;
      const query = new Query(target.query);
      if (mayHaveBody(request) && !mayHaveRight(found.route, caller, found.pathValues, query)) {
        return errorsOf[half].forbidden();
      }
      return await found.route.handle({
        engine,
        caller,
        request,
        pathValues: found.pathValues,
        query,
        names,
        readBody: () => body.read(),
        notificationsPath,
      });
    } catch (error) {
      engine.logger.error({ error: error instanceof Error ? error.stack : 'unknown' }, 'A request failed');
      return errorsOf[half].internal();
    } finally {
      body.release();
    }
  };

  const handle: HttpHandler = async (request) => {
    const response = await respond(request);
    // What is stored was written by others: no browser may take an answer for anything but what it is called.
    response.headers.push('X-Content-Type-Options', 'nosniff');
    if (!isWhole(response.body)) return { ...response, body: watched(response.body, engine) };
    return response.body.length < smallestCompressed ? response : compressFor(request, response, response.body);
  };

  const upgrade = (request: HttpRequest): UpgradeAnswer => {
    if (request.target.length > maximumTargetLength) return { type: 'ordinary' };
    const target = splitTarget(request.target);
    const match = locate(request.method, target.path)?.match;
    if (match === undefined || (match.isOk() && match.value.type === 'unknown_path')) return { type: 'unknown_path' };
    if (match.isErr() || match.value.type !== 'found' || !asksForWebSocket(request) || guard(request) !== undefined) {
      return { type: 'ordinary' };
    }
    const { route, pathValues } = match.value;
    const { socket: converse } = route;
    if (converse === undefined) return { type: 'ordinary' };
    const query = new Query(target.query);
    const readBody = (): Promise<RequestBody> => Promise.resolve({ type: 'absent' });
    const call = { engine, request, pathValues, query, names, readBody, notificationsPath };
    return { type: 'accepted', serve: (socket) => serveSocket({ call, route, converse, authenticate }, socket) };
  };

  return Object.assign(handle, { upgrade });
}

/** The same body; what it fails with is logged, because the client only sees that the answer breaks off. */
function watched(body: StreamedBody, engine: Engine): StreamedBody {
  return {
    [Symbol.asyncIterator]: () => {
      const pieces = body[Symbol.asyncIterator]();
      return {
        next: () =>
          pieces.next().catch((error: unknown) => {
            engine.logger.error(
              { error: error instanceof Error ? error.stack : 'unknown' },
              'A streamed answer failed',
            );
            throw error;
          }),
        return: async () => (await pieces.return?.()) ?? { done: true, value: undefined },
      };
    },
  };
}

function asksForWebSocket(request: HttpRequest): boolean {
  return headerValue(request, 'upgrade')?.toLowerCase() === 'websocket';
}

const errorsOf: Readonly<Record<RouteHalf, HalfErrors>> = {
  jobs: jobErrors,
  system: jobErrors,
  notifications: notificationErrors,
};

function notProvided(method: string, path: string): string {
  return `this server does not provide ${method.slice(0, 20)} ${path}`;
}

function mayHaveBody({ method }: HttpRequest): boolean {
  return method !== 'GET' && method !== 'HEAD';
}

function admit(
  route: Route,
  request: HttpRequest,
  authenticate: Authenticator,
): Authentication | Promise<Authentication> {
  return route.access.type === 'public' ? unasked : authenticate(request);
}

const unasked: Authentication = { type: 'known', caller: nobody };

function refusal(
  engine: Engine,
  half: RouteHalf,
  admission: Exclude<Authentication, { readonly type: 'known' }>,
): HttpResponse {
  if (admission.type !== 'failed') return errorsOf[half].unauthenticated();
  engine.logger.error({ error: admission.message }, 'The token store could not be read');
  return errorsOf[half].internal();
}

interface Place {
  readonly half: RouteHalf;
  readonly match: Result<Match, BadInput>;
}

/** Finds the interface that a path belongs to, and the route in it; undefined for a path of neither. */
function locator(
  routes: readonly Route[],
  basePath: string,
  notificationsPath: string,
): (method: string, path: string) => Place | undefined {
  const jobs = createRouter({
    routes: routes.filter((route) => route.half !== 'notifications'),
    known: clientRoutes,
    openPrefixes: ['/v1/job/', '/v1/var/'],
  });
  const ofNotifications = routes.filter((route) => route.half === 'notifications');
  const notifications = createRouter({ routes: ofNotifications, known: [], openPrefixes: [] });
  const firstSegments = new Set(ofNotifications.map((route) => route.path.split('/', 2)[1]));

  return (method, fullPath) => {
    if (basePath !== '' && !isBelow(fullPath, basePath)) return undefined;
    const path = fullPath.slice(basePath.length);
    const match = jobs(method, path);
    if (match.isErr() || match.value.type !== 'unknown_path') return { half: 'jobs', match };
    if (notificationsPath !== '' && !isBelow(path, notificationsPath)) return undefined;
    const rest = path.slice(notificationsPath.length);
    if (notificationsPath === '' && !firstSegments.has(rest.split('/', 2)[1])) return undefined;
    return { half: 'notifications', match: notifications(method, rest) };
  };
}

function isBelow(path: string, base: string): boolean {
  return path.startsWith(base) && (path.length === base.length || path.charCodeAt(base.length) === 0x2f);
}

function withoutEndSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}
