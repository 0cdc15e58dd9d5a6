import type { Result } from 'neverthrow';
import type { Engine } from '../../src/index.js';
import { type AccessOptions, type Authentication, type Authenticator, authenticatorFrom, nobody } from './access.js';
import type { BadInput } from './bad-input.js';
import { compressFor, smallestCompressed } from './compression.js';
import type { HalfErrors } from './half-errors.js';
import { headerNamesFor, type Vocabulary } from './header-names.js';
import type { HttpHandler, HttpRequest, HttpResponse } from './http-message.js';
import { jobErrors } from './jobs/job-errors.js';
import { notificationErrors } from './notifications/notification-errors.js';
import { Query } from './query.js';
import { emptyResponse, textResponse } from './responses.js';
import type { Route, RouteHalf } from './route.js';
import { routeTable } from './route-table.js';
import { createRouter, type Match } from './router.js';
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
};

/**
 * Both interfaces over the engine, as one function from request to response. `nodeListener` and `fetchHandler` carry it
 * to servers. Throws a TypeError when the options decide nothing about access.
 */
export function createHttpHandler(engine: Engine, options: HttpHandlerOptions): HttpHandler {
  const authenticate = authenticatorFrom(engine, options);
  const names = headerNamesFor(options.names ?? engine.settings.notifications.names);
  const maximumBodyBytes = options.maximumBodyBytes ?? 4 * 1024 * 1024;
  const notificationsPath = withoutEndSlash(options.notificationsPath ?? engine.settings.notifications.basePath);
  const locate = locator(withoutEndSlash(options.basePath ?? ''), notificationsPath);

  const respond = async (request: HttpRequest): Promise<HttpResponse> => {
    if (request.target.length > maximumTargetLength) return textResponse(414, 'the request target is too long');
    const target = splitTarget(request.target);
    const place = locate(request.method, target.path);
    if (place === undefined) return emptyResponse(404);
    const { half, match } = place;
    try {
      if (match.isErr()) return errorsOf[half].unreadablePath(match.error);
      const found = match.value;
      if (found.type === 'unknown_path') return errorsOf[half].unknownPath();
      if (found.type === 'wrong_method') return errorsOf[half].wrongMethod(found.allowed);
      const admitted = admit(found.route, request, authenticate);
      // Open servers and public routes decide at once; a promise less for each of their requests.
      const admission = admitted instanceof Promise ? await admitted : admitted;
      if (admission.type !== 'known') return refusal(engine, half, admission);
      return await found.route.handle({
        engine,
        caller: admission.caller,
        request,
        pathValues: found.pathValues,
        query: new Query(target.query),
        names,
        maximumBodyBytes,
        notificationsPath,
      });
    } catch (error) {
      engine.logger.error({ error: error instanceof Error ? error.stack : 'unknown' }, 'A request failed');
      return errorsOf[half].internal();
    }
  };

  return async (request) => {
    const response = await respond(request);
    return response.body.length < smallestCompressed ? response : compressFor(request, response);
  };
}

const errorsOf: Readonly<Record<RouteHalf, HalfErrors>> = {
  jobs: jobErrors,
  system: jobErrors,
  notifications: notificationErrors,
};

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
function locator(basePath: string, notificationsPath: string): (method: string, path: string) => Place | undefined {
  const jobs = createRouter(
    routeTable.filter((route) => route.half !== 'notifications'),
    '/v1/job/',
  );
  const ofNotifications = routeTable.filter((route) => route.half === 'notifications');
  const notifications = createRouter(ofNotifications, undefined);
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
