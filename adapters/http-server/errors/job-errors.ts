import { accessText, type CallAccess } from '../../../src/api/access.js';
import type { ErrorTag, JobCallError } from '../../../src/api/errors.js';
import { emptyResponse, textResponse } from '../calls/router.js';
import type { HttpResponse, Vocabulary } from '../http-message.js';
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

type Statuses = Readonly<Partial<Record<ErrorTag, Status>>>;

/**
 * The statuses that clients of Nomad expect instead: Nomad answers conflicts with the current state with 500, and clients distinguish
 * such errors by their messages.
 */
const inNomad: Statuses = {
  role_not_found: 500,
  token_not_found: 400,
  invalid_namespace: 500,
  node_taken: 403,
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
  node_pool_not_found: 500,
  node_pool_in_use: 500,
  malformed_accessor: 500,
  invalid_variable: 500,
};

const malformedId: Statuses = { invalid_request: 500 };
const unreadableFilter: Statuses = { filter_syntax: 500, filter_evaluation: 500 };
const nodeNotFound: Statuses = { node_not_found: 404 };

/** Calls with other statuses for clients of Nomad. */
const inNomadByCall: Readonly<Record<string, Statuses>> = {
  'jobs.scale': { job_not_found: 404 },
  'jobs.statuses': unreadableFilter,
  'jobs.statusesOf': unreadableFilter,
  'evaluations.count': unreadableFilter,
  'evaluations.read': malformedId,
  'evaluations.allocations': malformedId,
  'allocations.read': malformedId,
  'allocations.services': malformedId,
  'deployments.read': malformedId,
  'deployments.allocations': malformedId,
  'services.remove': malformedId,
  'nodes.read': malformedId,
  'nodes.readMeta': { node_not_found: 404, node_refused: 400 },
  'nodes.applyMeta': { node_not_found: 404, node_refused: 400 },
  'nodePools.jobs': { node_pool_not_found: 404 },
  'nodePools.nodes': { node_pool_not_found: 404 },
  // The built-in pools are refused like pools in use.
  'nodePools.remove': { invalid_node_pool: 500 },
  'agents.heartbeat': nodeNotFound,
  'agents.work': nodeNotFound,
  'agents.variables': nodeNotFound,
  'agents.report': nodeNotFound,
  'agents.leave': nodeNotFound,
};

/** An error of an operation, as far as its status depends on it. */
interface StatusSubject {
  readonly type: ErrorTag;
  readonly reason?: string;
}

/** The status of an error of a call of the job interface; `call` is the name of the call. */
export function jobStatusOf(error: StatusSubject, call: string, names: Vocabulary): number {
  const tag = error.type as JobCallError['type'];
  const own: Status | Readonly<Record<string, Status | undefined>> = jobStatuses[tag];
  const status = typeof own === 'number' ? own : (own[error.reason ?? ''] ?? own['otherwise'] ?? 500);
  if (names === 'neutral') return status;
  return inNomadByCall[call]?.[tag] ?? inNomad[tag] ?? status;
}

/** Every status that errors with this tag can have, the usual one first. */
export function jobStatusesOf(tag: ErrorTag, call: string, names: Vocabulary): readonly number[] {
  const usual = jobStatusOf({ type: tag }, call, names);
  const own = jobStatuses[tag as JobCallError['type']];
  if (names === 'upstream' || typeof own === 'number') return [usual];
  return [...new Set([usual, ...Object.values<number>(own)])];
}
