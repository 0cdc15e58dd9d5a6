import type {
  DispatchJobError,
  EvaluateJobError,
  NamespaceError,
  RegisterJobError,
  RevertJobError,
  ScaleJobError,
  TagJobVersionError,
  UnknownAllocation,
  UnreadableSource,
} from '../../../src/index.js';
import type { BadInput } from '../bad-input.js';
import type { HalfErrors } from '../half-errors.js';
import type { HttpResponse } from '../http-message.js';
import { emptyResponse, textResponse } from '../responses.js';

/** Every error that an operation of the job interface can give. */
export type JobInterfaceError =
  | RegisterJobError
  | DispatchJobError
  | RevertJobError
  | ScaleJobError
  | TagJobVersionError
  | EvaluateJobError
  | UnknownAllocation
  | UnreadableSource
  | NamespaceError;

/**
 * The status and text of an error (job interface, success and error bodies). That a request which is understood and
 * refused by the state of things is a 500 is that interface's contract, and its clients go by the texts; what cannot be
 * read, or has a value that it can never have, is a 400.
 */
export function jobErrorResponse(error: JobInterfaceError): HttpResponse {
  switch (error.type) {
    case 'permission_denied':
      return permissionDenied();
    case 'invalid_document':
    case 'invalid_request':
    case 'invalid_namespace':
    case 'unknown_region':
    case 'unreadable_source':
    case 'scaling_refused':
      return textResponse(400, error.message);
    case 'admission_refused':
    case 'invalid_job':
    case 'index_conflict':
    case 'transition_refused':
    case 'job_not_found':
    case 'version_not_found':
    case 'revert_refused':
    case 'dispatch_refused':
    case 'evaluation_refused':
    case 'total_count_too_large':
    case 'tag_refused':
    case 'unknown_allocation':
    case 'namespace_not_found':
    case 'namespace_protected':
    case 'namespace_in_use':
      return textResponse(500, error.message);
    case 'storage_failed':
      return textResponse(500, 'the store failed: ' + error.reason);
  }
}

/** A 400 with the message. */
export function badRequest(message: string): HttpResponse {
  return textResponse(400, message);
}

function permissionDenied(): HttpResponse {
  return textResponse(403, 'Permission denied');
}

/** Errors of the job interface: plain text. */
export const jobErrors: HalfErrors = {
  badInput: (error) => {
    const response = textResponse(statusOfBadInput(error), error.message);
    if (error.reason === 'no_room') response.headers.push('Retry-After', '1');
    return response;
  },
  unknownPath: () => emptyResponse(404),
  unreadablePath: (error) => badRequest(error.message),
  wrongMethod: (allowed) => {
    const response = textResponse(405, 'Invalid method');
    response.headers.push('Allow', allowed.join(', '));
    return response;
  },
  unauthenticated: permissionDenied,
  forbidden: permissionDenied,
  refused: textResponse,
  internal: () => textResponse(500, 'internal error; the server log has the cause'),
};

function statusOfBadInput(error: BadInput): number {
  switch (error.reason) {
    case 'too_large':
      return 413;
    case 'unsupported':
      return 415;
    case 'no_room':
      return 503;
    case 'malformed':
    case 'wrong_type':
    case 'absent':
    case 'aborted':
      return 400;
  }
}
