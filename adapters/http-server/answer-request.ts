import { err, ok } from 'neverthrow';
import { callerWithin, type Engine, type Principal } from '../../src/index.js';
import type { StorageError } from '../../src/ports/index.js';
import type { Query } from './calls/query-and-body.js';
import type { Locate, Located } from './calls/read-inputs.js';
import type { Match, Route, RouteCall } from './calls/router.js';
import type { DeliveryResponses, JobDialect } from './dialect.js';
import {
  type Authentication,
  type Authenticator,
  bodyOfStrangers,
  type EdgeGuard,
  mayHaveRight,
  nobody,
  tokenFrom,
} from './edge/access.js';
import { claimantOf, type HeldBody, type HeldPlace, type Shares } from './edge/shares.js';
import { type InterfaceErrors, isBusyStore } from './errors/interface-errors.js';
import {
  type HeaderNames,
  type HttpRequest,
  type HttpResponse,
  headerValue,
  jsonResponse,
  placeOf,
  textResponse,
} from './http-message.js';
import type { Handshakes } from './sockets/admit-socket.js';

/** The parts of a handler. */
export interface HandlerParts {
  readonly engine: Engine;
  readonly authenticate: Authenticator;
  /** Authenticates callers by tokens of the engine's store or through the host; absent on an open server. */
  readonly knowsTokens: boolean;
  /** Whether the first caller gets the first token. */
  readonly bootstraps: boolean;
  readonly guard: EdgeGuard;
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
export interface Asked {
  readonly request: HttpRequest;
  readonly errors: InterfaceErrors;
  readonly plain: boolean;
  readonly dialect: JobDialect;
  readonly query: Query;
  readonly body: HeldBody;
  readonly place: HeldPlace;
}

/** Answers a request with its route: checks access, then calls the route. */
export function answer(parts: HandlerParts, located: Located, asked: Asked): HttpResponse | Promise<HttpResponse> {
  const { request, errors } = asked;
  const found = foundBy(located, asked, parts.dialect);
  if (found.isErr()) return found.error;
  const { route } = found.value;
  if (!parts.knowsTokens && route.path.startsWith('/v1/acl/')) {
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
  if (caller !== undefined) {
    const traced = { engine: parts.engine, request, route: route.path, caller };
    return withinTrace(traced, (within) => answerTo(within, found, parts, asked));
  }
  if (admission.type === 'failed') return unreadableTokens(parts.engine, asked, admission.error, route);
  return asked.errors.unauthenticated(route, tokenFrom(request) ?? '');
}

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
  const where = placeOf(request);
  switch (found.type) {
    case 'found':
      return ok(found);
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

export function callFrom(
  { engine, deliveryResponses, notificationsPath }: HandlerParts,
  { request, errors, plain, dialect, query, body, place }: Asked,
  caller: Principal,
  pathValues: readonly string[],
): RouteCall {
  const readBody: RouteCall['readBody'] = () => body.read();
  const mayWait = (): boolean => place.take();
  return {
    ...{ engine, caller, request, pathValues, query, dialect, errors, plain, readBody, mayWait },
    ...{ deliveryResponses, notificationsPath },
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
