import { accessText, type CallAccess } from '../../../src/api/access.js';
import type { JobCallError } from '../../../src/api/errors.js';
import { emptyResponse, textResponse } from '../calls/route.js';
import type { Vocabulary } from '../edge/header-names.js';
import type { HttpResponse } from '../http-message.js';
import {
  type BadInput,
  busyStoreText,
  type InterfaceErrors,
  internalErrorText,
  isBusyStore,
  needsUpgradeText,
  type RefusingCall,
  retryAfter,
  retryBusyStore,
} from './interface-errors.js';
import { jobStatusOf } from './job-statuses.js';

const worded = [
  'permission_denied',
  'filter_syntax',
  'filter_evaluation',
  'undecipherable',
  'role_not_found',
  'token_not_found',
  'storage_failed',
] as const;
const wordedTags: ReadonlySet<string> = new Set(worded);

/** Errors that clients recognise by fixed messages; all others use their own message. */
type Worded = Exclude<
  Extract<JobCallError, { readonly type: (typeof worded)[number] }>,
  { readonly type: 'permission_denied' }
>;

function jobErrorResponse(error: JobCallError, { name, access, where }: RefusingCall, names: Vocabulary): HttpResponse {
  if (isBusyStore(error)) return retryBusyStore(textResponse(503, busyStoreText));
  if (error.type === 'permission_denied') return permissionDenied(names, 'the token lacks the right', access);
  const status = jobStatusOf(error, name, names);
  const message = isWorded(error) ? wordsOf(error) : error.message;
  return textResponse(status, names === 'neutral' && status === 404 ? `${message}: ${where}` : message);
}

function isWorded(error: JobCallError): error is Worded {
  return wordedTags.has(error.type);
}

function wordsOf(error: Worded): string {
  switch (error.type) {
    // Clients recognise the prefixes of these two messages.
    case 'filter_syntax':
      return `failed to create result paginator: failed to read filter expression: ${error.message}`;
    case 'filter_evaluation':
      return `failed to read result page: ${error.message}`;
    case 'undecipherable':
      return 'the variable cannot be decrypted: this server does not have its key';
    case 'role_not_found':
      return 'ACL role not found';
    case 'token_not_found':
      return `Cannot delete nonexistent tokens: ${error.accessor.slice(0, 64)}`;
    case 'storage_failed':
      return 'the store failed: ' + error.reason;
  }
}

/** Clients of Nomad compare with exactly the first two words. */
function permissionDenied(names: Vocabulary, reason: string, access: CallAccess): HttpResponse {
  const denied = 'Permission denied';
  return textResponse(403, names === 'upstream' ? denied : `${denied}: ${reason}. ${accessText(access)}`);
}

const noToken = 'no valid token was sent, in the header X-SVC-Token or as "Authorization: Bearer …"';

/** Errors of the job interface: plain text. */
export function jobErrors(names: Vocabulary): InterfaceErrors {
  const isForNomad = names === 'upstream';
  return {
    badInput: (error) => {
      const response = textResponse((isForNomad ? error.status : undefined) ?? statusOfBadInput(error), error.message);
      response.headers.push(...retryAfter(error));
      return response;
    },
    unknownPath: (where) =>
      isForNomad
        ? emptyResponse(404)
        : textResponse(404, `there is no such path: ${where}; GET /v1/openapi.json describes all paths`),
    unreadablePath: (error) => textResponse(400, error.message),
    wrongMethod: (where, allowed) => {
      const methods = allowed.join(', ');
      const message = isForNomad ? 'Invalid method' : `${where}: the allowed methods are ${methods}`;
      const response = textResponse(405, message);
      response.headers.push('Allow', methods);
      return response;
    },
    unauthenticated: (access) => permissionDenied(names, noToken, access),
    forbidden: (access) => permissionDenied(names, 'the token lacks the right', access),
    refused: textResponse,
    needsUpgrade: () => {
      if (isForNomad) return textResponse(500, needsUpgradeText);
      const response = textResponse(426, needsUpgradeText);
      response.headers.push('Upgrade', 'websocket');
      return response;
    },
    callError: (error, call) => jobErrorResponse(error as JobCallError, call, names),
    internal: () => textResponse(500, internalErrorText),
  };
}

function statusOfBadInput(error: BadInput): number {
  switch (error.reason) {
    case 'too_large':
      return 413;
    case 'unsupported':
      return 415;
    case 'no_room':
      return 503;
    case 'too_many_waiting':
      return 429;
    case 'malformed':
    case 'wrong_type':
    case 'absent':
    case 'aborted':
      return 400;
  }
}
