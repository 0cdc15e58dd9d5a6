import type { ErrorTag, JobCallError } from '../../../src/api/errors.js';
import type { Vocabulary } from '../edge/header-names.js';

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
