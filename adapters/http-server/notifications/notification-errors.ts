import type { BadInput } from '../bad-input.js';
import type { HalfErrors } from '../half-errors.js';
import type { HttpResponse } from '../http-message.js';
import { jsonApiType } from '../responses.js';

/** One JSON:API error object. */
export interface JsonApiError {
  /** Text, because clients lose title and detail of an error whose status is a number. */
  readonly status: string;
  readonly title: string;
  readonly detail?: string;
  readonly code?: string;
  readonly source?: { readonly pointer?: string; readonly parameter?: string };
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** Errors of the notification interface: JSON:API documents (notification interface, Errors). */
export const notificationErrors: HalfErrors = {
  badInput: (error) => errorResponse([badInputError(error)]),
  unknownPath: () => errorResponse([{ status: '404', title: 'not found', detail: 'there is no such path' }]),
  wrongMethod: (allowed) => {
    const detail = 'this path answers to ' + allowed.join(', ');
    const response = errorResponse([{ status: '405', title: 'method not allowed', detail }]);
    response.headers.push('Allow', allowed.join(', '));
    return response;
  },
  unauthenticated: () => {
    const detail = 'send a valid token in the header "Authorization: Bearer …"';
    const response = errorResponse([{ status: '401', title: 'unauthorized', detail }]);
    response.headers.push('WWW-Authenticate', 'Bearer');
    return response;
  },
  internal: () =>
    errorResponse([
      { status: '500', title: 'internal server error', detail: 'the request failed; the server log has the cause' },
    ]),
};

/** A document with the errors, under the status of the first. */
export function errorResponse(errors: readonly [JsonApiError, ...JsonApiError[]]): HttpResponse {
  return {
    status: Number(errors[0].status),
    headers: ['Content-Type', jsonApiType],
    body: JSON.stringify({ errors }),
  };
}

function badInputError(error: BadInput): JsonApiError {
  const { status, title } = headOf(error);
  const source = error.parameter !== undefined ? { parameter: error.parameter } : { pointer: error.pointer ?? '' };
  return { status, title, detail: error.message, source };
}

function headOf(error: BadInput): { readonly status: string; readonly title: string } {
  switch (error.reason) {
    case 'too_large':
      return { status: '413', title: 'payload too large' };
    case 'unsupported':
      return { status: '415', title: 'unsupported media type' };
    case 'malformed':
    case 'wrong_type':
    case 'absent':
      return error.parameter === undefined
        ? { status: '422', title: 'invalid attribute' }
        : { status: '400', title: 'bad request' };
    case 'aborted':
      return { status: '400', title: 'bad request' };
  }
}
