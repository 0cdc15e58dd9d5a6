import type { BadInput } from '../bad-input.js';
import type { HalfErrors } from '../half-errors.js';
import { emptyResponse, textResponse } from '../responses.js';

/** Errors of the job interface: plain text (job interface, success and error bodies). */
export const jobErrors: HalfErrors = {
  badInput: (error) => textResponse(statusOfBadInput(error), error.message),
  unknownPath: () => emptyResponse(404),
  wrongMethod: (allowed) => {
    const response = textResponse(405, 'Invalid method');
    response.headers.push('Allow', allowed.join(', '));
    return response;
  },
  unauthenticated: () => textResponse(403, 'Permission denied'),
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
