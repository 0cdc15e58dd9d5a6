import type { BadInput } from './bad-input.js';
import type { HttpResponse } from './http-message.js';

/** How an interface prints what goes wrong before one of its operations runs. */
export interface HalfErrors {
  badInput(error: BadInput): HttpResponse;
  unknownPath(): HttpResponse;
  /** The path cannot be decoded. */
  unreadablePath(error: BadInput): HttpResponse;
  wrongMethod(allowed: readonly string[]): HttpResponse;
  /** No credentials, or unknown ones. */
  unauthenticated(): HttpResponse;
  /** Known credentials that can have no right to this. */
  forbidden(): HttpResponse;
  /** Refused before the route was asked: a foreign host or page, or something that this server does not do. */
  refused(status: 403 | 421 | 501, message: string): HttpResponse;
  internal(): HttpResponse;
}
