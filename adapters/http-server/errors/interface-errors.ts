import type { ErrorTag } from '../../../src/api/errors.js';
import type { HttpResponse } from '../http-message.js';
import type { BadInput } from './bad-input.js';

/** How an interface prints what goes wrong, before one of its operations runs and in it. */
export interface InterfaceErrors {
  badInput(error: BadInput): HttpResponse;
  unknownPath(): HttpResponse;
  /** The path cannot be decoded. */
  unreadablePath(error: BadInput): HttpResponse;
  wrongMethod(allowed: readonly string[]): HttpResponse;
  /** No credentials, or unknown ones. */
  unauthenticated(): HttpResponse;
  /** Known credentials that can have no right to this. */
  forbidden(): HttpResponse;
  /** Refused before routing: a foreign host or origin, or a function that this server does not have. */
  refused(status: 400 | 403 | 404 | 421 | 500 | 501, message: string): HttpResponse;
  /** What the call's operation refused; `statuses` are those that the call has for itself. */
  callError(error: TaggedError, statuses: Readonly<Partial<Record<ErrorTag, number>>>): HttpResponse;
  internal(): HttpResponse;
}

/** An error of an operation; only the tag is known. */
interface TaggedError {
  readonly type: ErrorTag;
}

/** The message for a fault of the server itself. */
export const internalErrorText = 'internal error; the server log has the cause';
