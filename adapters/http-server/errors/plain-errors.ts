import { plainType } from '../../../src/api/plain-type.js';
import { type HttpResponse, isWhole } from '../http-message.js';
import type { BadInput } from './bad-input.js';
import { type InterfaceErrors, internalErrorText, needsUpgradeText } from './interface-errors.js';

/**
 * The errors of an interface for clients that request the engine's own form: with the statuses and headers of the interface and
 * the body `{"error": {"type": …, "message": …}}`.
 */
export function plainErrorsOf(errors: InterfaceErrors): InterfaceErrors {
  return {
    badInput: (error) => plain(errors.badInput(error), badRequest(error)),
    unknownPath: (where) => plain(errors.unknownPath(where), refusedAs('there is no such path')),
    unreadablePath: (error) => plain(errors.unreadablePath(error), badRequest(error)),
    wrongMethod: (where, allowed) =>
      plain(errors.wrongMethod(where, allowed), refusedAs('method not allowed on this path')),
    unauthenticated: (access) => plain(errors.unauthenticated(access), { type: 'permission_denied' }),
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
