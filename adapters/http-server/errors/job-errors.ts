import { accessText, type CallAccess } from '../../../src/api/access.js';
import type { ErrorTag, JobCallError } from '../../../src/api/errors.js';
import { type HttpResponse, textResponse } from '../http-message.js';
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
  type TaggedError,
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

/** Errors that clients recognise by fixed messages; all others use their own message. */
type Worded = Exclude<
  Extract<JobCallError, { readonly type: (typeof worded)[number] }>,
  { readonly type: 'permission_denied' }
>;

function jobErrorResponse(error: TaggedError, { access, where }: RefusingCall): HttpResponse {
  if (isBusyStore(error)) return retryBusyStore(textResponse(503, busyStoreText));
  if (error.type === 'permission_denied') return permissionDenied('the token lacks the right', access);
  const status = jobStatusOf(error);
  const message = jobErrorText(error);
  return textResponse(status, status === 404 ? `${message}: ${where}` : message);
}

/** The message of an error other than a missing right. */
export function jobErrorText(tagged: TaggedError): string {
  const error = tagged as Exclude<JobCallError, { readonly type: 'permission_denied' }>;
  return isWorded(error) ? wordsOf(error) : error.message;
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

function permissionDenied(reason: string, access: CallAccess): HttpResponse {
  return textResponse(403, `Permission denied: ${reason}. ${accessText(access)}`);
}

const noToken = 'no valid token was sent, in the header X-SVC-Token or as "Authorization: Bearer …"';

/** Errors of the job interface: plain text. */
export const jobErrors: InterfaceErrors = {
  badInput: (error) => {
    const response = textResponse(statusOfBadInput(error), error.message);
    response.headers.push(...retryAfter(error));
    return response;
  },
  unknownPath: (where) =>
    textResponse(404, `there is no such path: ${where}; GET /v1/openapi.json describes all paths`),
  unreadablePath: (error) => textResponse(400, error.message),
  wrongMethod: (where, allowed) => {
    const methods = allowed.join(', ');
    const response = textResponse(405, `${where}: the allowed methods are ${methods}`);
    response.headers.push('Allow', methods);
    return response;
  },
  unauthenticated: ({ access }) => permissionDenied(noToken, access),
  forbidden: (access) => permissionDenied('the token lacks the right', access),
  refused: textResponse,
  needsUpgrade: () => {
    const response = textResponse(426, needsUpgradeText);
    response.headers.push('Upgrade', 'websocket');
    return response;
  },
  callError: jobErrorResponse,
  internal: () => textResponse(500, internalErrorText),
};

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

/*
 * The status of every error of the job interface: 400 for invalid requests, 403 for missing rights, 404 for nonexistent records,
 * 409 for conflicts with the current state, 500 for failures of the server or of a node.
 */

type Status = 400 | 403 | 404 | 409 | 429 | 500;

/** The reasons that errors with this tag distinguish. */
type ReasonsOf<T extends ErrorTag, E = JobCallError> = E extends { readonly type: infer U; readonly reason?: infer R }
  ? T extends U
    ? Extract<R, string>
    : never
  : never;

/** One status, or one for some of the reasons of the error and one for all others. */
type StatusOf<T extends ErrorTag> =
  | Status
  | ({ readonly otherwise: Status } & { readonly [R in ReasonsOf<T>]?: Status });

export const jobStatuses: { readonly [T in JobCallError['type']]: StatusOf<T> } = {
  permission_denied: 403,
  filter_syntax: 400,
  filter_evaluation: 400,
  undecipherable: 500,
  role_not_found: 404,
  token_not_found: 404,
  storage_failed: 500,
  invalid_document: 400,
  invalid_request: 400,
  invalid_namespace: 400,
  unreadable_source: 400,
  // The contract prescribes 400 for all of them, including an active deployment.
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
  node_taken: 409,
  command_not_found: 404,
  command_failed: { otherwise: 500, invalid: 400, not_found: 404, state: 409 },
  unknown_region: 400,
  admission_refused: 400,
  invalid_job: 400,
  index_conflict: 409,
  plan_outdated: 409,
  restart_under_way: 409,
  transition_refused: 409,
  job_not_found: 404,
  version_not_found: 404,
  revert_refused: 409,
  version_base_not_found: 404,
  dispatch_refused: { otherwise: 400, not_parameterized: 409, stopped: 409 },
  evaluation_refused: 409,
  total_count_too_large: 400,
  tag_refused: { otherwise: 409, not_found: 404, version_and_latest: 400 },
  evaluation_deletion_refused: { otherwise: 409, not_found: 404 },
  search_refused: { otherwise: 400, not_allowed: 403 },
  unknown_allocation: 404,
  namespace_not_found: 404,
  namespace_protected: 409,
  namespace_in_use: 409,
  force_refused: 409,
  deployment_not_found: 404,
  deployment_over: 409,
  unknown_deployment_group: 400,
  canaries_not_healthy: 409,
  not_of_deployment: 400,
  no_allocations: 400,
  node_not_found: 404,
  node_refused: { otherwise: 400, draining: 409 },
  invalid_node_pool: 400,
  node_pool_not_found: 404,
  node_pool_in_use: 409,
  malformed_accessor: 400,
  invalid_variable: 400,
  function_not_found: 404,
  function_run_not_found: 404,
  job_of_function: 409,
  enqueue_refused: { otherwise: 400, not_defined: 409, mismatch: 409, full: 429 },
};

/** The status of an error of the job interface, as far as it depends on the error alone. */
export function jobStatusOf(error: { readonly type: ErrorTag; readonly reason?: string }): number {
  const own: Status | Readonly<Record<string, Status | undefined>> = jobStatuses[error.type as JobCallError['type']];
  return typeof own === 'number' ? own : (own[error.reason ?? ''] ?? own['otherwise'] ?? 500);
}

/** Every status that errors with this tag can have, the usual one first. */
export function jobStatusesOf(type: ErrorTag): readonly number[] {
  const own = jobStatuses[type as JobCallError['type']];
  return typeof own === 'number' ? [own] : [...new Set([jobStatusOf({ type }), ...Object.values<number>(own)])];
}
