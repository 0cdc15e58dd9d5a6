import type { JobCallError } from '../../../src/api/errors.js';
import { emptyResponse, textResponse } from '../calls/responses.js';
import type { HttpResponse } from '../http-message.js';
import type { BadInput } from './bad-input.js';
import {
  busyStoreText,
  type InterfaceErrors,
  internalErrorText,
  isBusyStore,
  retryBusyStore,
} from './interface-errors.js';

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

/** Errors that clients know by words of their own; all others carry their text. */
type Worded = Extract<JobCallError, { readonly type: (typeof worded)[number] }>;

/**
 * The status of an error (job interface, success and error bodies). A request that can be read and is refused because of the present
 * state is a 500, as existing clients expect, which distinguish such errors by their texts. A request that cannot be read, or has a value
 * that is never possible, is a 400.
 */
export const jobStatuses: Readonly<Record<JobCallError['type'], 400 | 403 | 404 | 429 | 500>> = {
  permission_denied: 403,
  filter_syntax: 400,
  filter_evaluation: 400,
  undecipherable: 500,
  role_not_found: 500,
  token_not_found: 400,
  storage_failed: 500,
  invalid_document: 400,
  invalid_request: 400,
  invalid_namespace: 500,
  unreadable_source: 400,
  scaling_refused: 400,
  invalid_access: 400,
  bootstrap_done: 400,
  items_missing: 400,
  invalid_topic: 400,
  command_invalid: 400,
  registrations_disabled: 403,
  policy_refused: 403,
  quota_exceeded: 403,
  dispatch_rate_exceeded: 429,
  claim_refused: 403,
  node_taken: 403,
  command_not_found: 404,
  command_failed: 500,
  unknown_region: 500,
  admission_refused: 500,
  invalid_job: 500,
  index_conflict: 500,
  transition_refused: 500,
  job_not_found: 500,
  version_not_found: 500,
  revert_refused: 500,
  version_base_not_found: 500,
  dispatch_refused: 500,
  evaluation_refused: 500,
  total_count_too_large: 500,
  tag_refused: 500,
  evaluation_deletion_refused: 500,
  search_refused: 500,
  unknown_allocation: 500,
  namespace_not_found: 500,
  namespace_protected: 500,
  namespace_in_use: 500,
  force_refused: 500,
  deployment_not_found: 500,
  deployment_over: 500,
  unknown_deployment_group: 500,
  canaries_not_healthy: 500,
  not_of_deployment: 500,
  no_allocations: 500,
  node_not_found: 500,
  node_refused: 500,
  invalid_node_pool: 400,
  node_pool_not_found: 500,
  node_pool_in_use: 500,
  malformed_accessor: 500,
  invalid_variable: 500,
};

function jobErrorResponse(error: JobCallError): HttpResponse {
  if (isBusyStore(error)) return retryBusyStore(textResponse(503, busyStoreText));
  return textResponse(jobStatuses[error.type], isWorded(error) ? wordsOf(error) : error.message);
}

function isWorded(error: JobCallError): error is Worded {
  return wordedTags.has(error.type);
}

function wordsOf(error: Worded): string {
  switch (error.type) {
    case 'permission_denied':
      return 'Permission denied';
    // Clients recognise the beginnings of these two.
    case 'filter_syntax':
      return `failed to create result paginator: failed to read filter expression: ${error.message}`;
    case 'filter_evaluation':
      return `failed to read result page: ${error.message}`;
    case 'undecipherable':
      return 'the variable cannot be decrypted: its key is not among those of this server';
    case 'role_not_found':
      return 'ACL role not found';
    case 'token_not_found':
      return `Cannot delete nonexistent tokens: ${error.accessor.slice(0, 64)}`;
    case 'storage_failed':
      return 'the store failed: ' + error.reason;
  }
}

function permissionDenied(): HttpResponse {
  return jobErrorResponse({ type: 'permission_denied' });
}

/** Errors of the job interface: plain text. */
export const jobErrors: InterfaceErrors = {
  badInput: (error) => {
    const response = textResponse(statusOfBadInput(error), error.message);
    if (error.reason === 'no_room') response.headers.push('Retry-After', '1');
    return response;
  },
  unknownPath: () => emptyResponse(404),
  unreadablePath: (error) => textResponse(400, error.message),
  wrongMethod: (allowed) => {
    const response = textResponse(405, 'Invalid method');
    response.headers.push('Allow', allowed.join(', '));
    return response;
  },
  unauthenticated: permissionDenied,
  forbidden: permissionDenied,
  refused: textResponse,
  callError: (error, statuses) => {
    const response = jobErrorResponse(error as JobCallError);
    const status = statuses[error.type];
    return status === undefined || isBusyStore(error) ? response : { ...response, status };
  },
  internal: () => textResponse(500, internalErrorText),
};

function statusOfBadInput(error: BadInput): number {
  if (error.status !== undefined) return error.status;
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
