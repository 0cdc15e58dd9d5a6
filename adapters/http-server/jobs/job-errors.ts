import type { PermissionDenied, StorageError } from '../../../src/index.js';
import type { BadInput } from '../bad-input.js';
import type { HalfErrors } from '../half-errors.js';
import type { HttpResponse } from '../http-message.js';
import { emptyResponse, textResponse } from '../responses.js';

/** Every error that an operation of the job interface can give. */
export type JobInterfaceError = PermissionDenied | StorageError;

/** The status and text of an error (job interface, success and error bodies). */
export function jobErrorResponse(error: JobInterfaceError): HttpResponse {
  switch (error.type) {
    case 'permission_denied':
      return permissionDenied();
    case 'storage_failed':
      return textResponse(500, 'the store failed: ' + error.reason);
  }
}

function permissionDenied(): HttpResponse {
  return textResponse(403, 'Permission denied');
}

/** Errors of the job interface: plain text. */
export const jobErrors: HalfErrors = {
  badInput: (error) => textResponse(statusOfBadInput(error), error.message),
  unknownPath: () => emptyResponse(404),
  wrongMethod: (allowed) => {
    const response = textResponse(405, 'Invalid method');
    response.headers.push('Allow', allowed.join(', '));
    return response;
  },
  unauthenticated: permissionDenied,
  internal: () => textResponse(500, 'internal error; the server log has the cause'),
};

function statusOfBadInput(error: BadInput): number {
  switch (error.reason) {
    case 'too_large':
      return 413;
    case 'unsupported':
      return 415;
    case 'malformed':
    case 'wrong_type':
    case 'absent':
    case 'aborted':
      return 400;
  }
}
