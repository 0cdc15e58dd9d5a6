import type { CallAccess } from '../../../src/api/access.js';
import { plainType } from '../../../src/api/answers.js';
import type { ErrorTag } from '../../../src/api/errors.js';
import { type HttpResponse, isWhole } from '../http-message.js';

/** How an interface prints errors, of requests and of operations. */
export interface InterfaceErrors {
  /** `call`: its name, if the error is in an input. */
  badInput(error: BadInput, call?: string): HttpResponse;
  /** `where`: method and path of the request. */
  unknownPath(where: string): HttpResponse;
  /** The path cannot be decoded. */
  unreadablePath(error: BadInput): HttpResponse;
  wrongMethod(where: string, allowed: readonly string[]): HttpResponse;
  /** No credentials, or an unknown token, for a route; `path` is its pattern. */
  unauthenticated(route: Omit<RefusingCall, 'where'> & { readonly path: string }, token: string): HttpResponse;
  /** Known credentials without this access. */
  forbidden(access: CallAccess): HttpResponse;
  /** Refused before routing: a foreign host or origin, or a route that this server does not provide. */
  refused(status: 400 | 403 | 404 | 421 | 500 | 501, message: string): HttpResponse;
  /** The call needs a socket, and the request is not an upgrade. */
  needsUpgrade(): HttpResponse;
  /** An error of the call's operation. */
  callError(error: TaggedError, call: RefusingCall): HttpResponse;
  internal(): HttpResponse;
}

/** The call whose operation refused. */
export interface RefusingCall {
  readonly name: string;
  readonly access: CallAccess;
  /** Method and path of the request. */
  readonly where: string;
}

/** An error of an operation, of which only the tag is used. */
export interface TaggedError {
  readonly type: ErrorTag;
}

/** Whether the store was not available, because another process holds its write lock or its server is away: the same request can succeed later. */
export function isBusyStore(error: { readonly type: ErrorTag; readonly reason?: unknown }): boolean {
  return error.type === 'storage_failed' && error.reason === 'busy';
}

/** The message for it. */
export const busyStoreText =
  'the store is busy: another process has held its write lock, or its database server has been away, for too long; nothing was changed. ' +
  'Try again later; if it persists, look for a suspended or frozen server on the same store, or at the database server';

/** In seconds: each try has already waited for the store. */
export function retryBusyStore(response: HttpResponse): HttpResponse {
  response.headers.push('Retry-After', '5');
  return response;
}

export const needsUpgradeText = 'this path opens a WebSocket: send an upgrade request';

/** The message for a fault of the server itself. */
export const internalErrorText = 'internal error; the server log has the cause';

/**
 * The errors of an interface for clients that request the engine's own form: with the statuses and headers of the interface and
 * the body `{"error": {"type": …, "message": …}}`.
 */
export function plainErrorsOf(errors: InterfaceErrors): InterfaceErrors {
  return {
    badInput: (error, call) => plain(errors.badInput(error, call), badRequest(error)),
    unknownPath: (where) => plain(errors.unknownPath(where), refusedAs('there is no such path')),
    unreadablePath: (error) => plain(errors.unreadablePath(error), badRequest(error)),
    wrongMethod: (where, allowed) =>
      plain(errors.wrongMethod(where, allowed), refusedAs('method not allowed on this path')),
    unauthenticated: (route, token) => plain(errors.unauthenticated(route, token), { type: 'permission_denied' }),
    forbidden: (access) => plain(errors.forbidden(access), { type: 'permission_denied' }),
    refused: (status, message) => plain(errors.refused(status, message), refusedAs(message)),
    needsUpgrade: () => plain(errors.needsUpgrade(), refusedAs(needsUpgradeText)),
    callError: (error, call) => plain(errors.callError(error, call), error),
    internal: () => plain(errors.internal(), refusedAs(internalErrorText)),
  };
}

function plain({ status, headers, body }: HttpResponse, error: object): HttpResponse {
  const kept = headers.flatMap((name, at) =>
    at % 2 === 0 && name !== 'Content-Type' ? [name, headers[at + 1] as string] : [],
  );
  // Refusals are never streamed.
  if (!isWhole(body)) return { status, headers, body };
  return { status, headers: ['Content-Type', plainType, ...kept], body: JSON.stringify({ error }) };
}

/** Without the members that repeat the status: a client adds that to the error. */
function refusedAs(message: string): object {
  return { type: 'refused', message };
}

function badRequest({ message, pointer, parameter, reason }: BadInput): object {
  if (reason === 'no_room' || reason === 'too_many_waiting') return refusedAs(message);
  return {
    type: 'bad_request',
    message,
    ...(pointer === undefined ? {} : { pointer }),
    ...(parameter === undefined ? {} : { parameter }),
  };
}

/** A fault of a request found before its operation runs. The two interfaces print it in their own forms. */
export interface BadInput {
  readonly type: 'bad_input';
  /**
   * `malformed`: cannot be parsed. `wrong_type`: parsed, but of an unexpected type. `absent`: missing. `too_large`: exceeds a limit.
   * `unsupported`: another media type. `aborted`: ended early. `no_room`: the memory for request bodies is full.
   * `too_many_waiting`: its caller has too many waiting reads.
   */
  readonly reason:
    | 'malformed'
    | 'wrong_type'
    | 'absent'
    | 'too_large'
    | 'unsupported'
    | 'aborted'
    | 'no_room'
    | 'too_many_waiting';
  readonly message: string;
  /** JSON pointer into the body. */
  readonly pointer?: string;
  /** Name of the query parameter. */
  readonly parameter?: string;
}

/** In seconds: how soon a request may be tried again for which there was no room. */
export function retryAfter({ reason }: BadInput): readonly string[] {
  return reason === 'no_room' || reason === 'too_many_waiting' ? ['Retry-After', '1'] : [];
}

export function badInput(reason: BadInput['reason'], message: string): BadInput {
  return { type: 'bad_input', reason, message };
}
