import type { CallAccess } from '../../../src/api/access.js';
import type { ErrorTag } from '../../../src/api/errors.js';
import type { HttpResponse } from '../http-message.js';
import type { BadInput } from './bad-input.js';

/** How an interface prints errors, of requests and of operations. */
export interface InterfaceErrors {
  badInput(error: BadInput): HttpResponse;
  /** `where`: method and path of the request. */
  unknownPath(where: string): HttpResponse;
  /** The path cannot be decoded. */
  unreadablePath(error: BadInput): HttpResponse;
  wrongMethod(where: string, allowed: readonly string[]): HttpResponse;
  /** No credentials, or unknown ones, for a call that needs this access. */
  unauthenticated(access: CallAccess): HttpResponse;
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
interface TaggedError {
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
