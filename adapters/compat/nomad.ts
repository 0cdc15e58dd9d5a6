import { err, ok } from 'neverthrow';
import { anyCaller } from '../../src/api/access.js';
import { scaledFully } from '../../src/api/calls/job-calls/changes.js';
import type { ErrorTag } from '../../src/api/errors.js';
import { beginningOfId, type TextCodec } from '../../src/api/text-codecs.js';
import { readNothing } from '../../src/index.js';
import { quoted } from '../../src/shared/values.js';
import { missingJob } from '../http-server/calls/read-inputs.js';
import { admittedWaiting } from '../http-server/calls/route-table.js';
import type { Route, RouteCall } from '../http-server/calls/router.js';
import { type IncompletePath, type JobDialect, neutral, unreadableId } from '../http-server/dialect.js';
import {
  type BadInput,
  type InterfaceErrors,
  isBusyStore,
  needsUpgradeText,
} from '../http-server/errors/interface-errors.js';
import { jobErrorText, jobStatusOf } from '../http-server/errors/job-errors.js';
import {
  emptyResponse,
  type HttpResponse,
  headerNames,
  headerSafe,
  jsonType,
  textResponse,
  weightOf,
} from '../http-server/http-message.js';

/** What clients of Nomad expect of the job interface where it differs from the neutral form (job interface, HTTP). */
export const nomad: JobDialect = {
  ...neutral,
  names: 'upstream',
  headers: headerNames('X-Nomad'),
  errors: nomadErrors(),
  statusesOf: (type, call) => [statusOf({ type }, call)],
  absence: (message) => message,
  redirected,
  incompletePath,
  anyMethod: new Set(['jobs.versions', 'jobs.summary', 'allocations.restart']),
  notProvided: { status: 501, methods: true },
  bodyBeforeRight: true,
  ignoresUndecodable: true,
  ignoresFilters: true,
  judgesWaiting: new Set([
    ...[
      'jobs.actions',
      'maintenance.collectGarbage',
      'maintenance.reconcileSummaries',
      'search.prefix',
      'search.fuzzy',
    ],
    ...['members', 'leader', 'peers', 'raftConfiguration', 'regions'].map((name) => `system.${name}`),
  ]),
  judgesPages: true,
  emptyIsAbsent: true,
  nullIsEmpty: true,
  codecOf: (codec) => (codec === beginningOfId ? beginningOfUuid : codec),
  answers: { 'jobs.scale': scaledFully },
  unknownSocketToken,
  compression: { smallest: 1, accepts: namesGzip },
};

function nomadErrors(): InterfaceErrors {
  const refused = (): HttpResponse => textResponse(403, denied);
  return {
    ...neutral.errors,
    badInput: (error, call) => {
      const response = neutral.errors.badInput(error, call);
      return isServerError(error, call) ? { ...response, status: 500 } : response;
    },
    unknownPath: () => emptyResponse(404),
    wrongMethod: (where, allowed) => ({ ...neutral.errors.wrongMethod(where, allowed), body: 'Invalid method' }),
    unauthenticated: (route, token) => refusedToken(route, token) ?? refused(),
    forbidden: refused,
    needsUpgrade: () => textResponse(500, needsUpgradeText),
    callError: (error, call) => {
      const { type } = error;
      if (isBusyStore(error)) return neutral.errors.callError(error, call);
      if (type === 'permission_denied') return streamsOfFiles.has(call.name) ? textResponse(200, denied) : refused();
      return textResponse(statusOf(error, call.name), jobErrorText(error));
    },
  };
}

/** Parameters whose invalid values are answered with 500, by the names of the calls. */
export const serverErrorParameters: Readonly<Record<string, readonly string[]>> = {
  'jobs.list': ['meta'],
  'jobs.versions': ['diffs', 'diff_version'],
  'jobs.stop': ['purge', 'global', 'eval_priority', 'no_shutdown_delay'],
  'allocations.list': ['resources', 'task_states'],
  'allocations.stop': ['no_shutdown_delay', 'reschedule'],
  'files.readAt': ['offset', 'limit'],
  'files.stream': ['offset', 'follow'],
  'nodePools.jobs': ['meta'],
};

function isServerError({ reason, parameter, message }: BadInput, call = ''): boolean {
  if (parameter === undefined) return message === missingJob;
  if (reason === 'malformed') return false;
  return parameter === 'prefix' || serverErrorParameters[call]?.includes(parameter) === true;
}

function statusOf(error: { readonly type: ErrorTag; readonly reason?: string }, call: string): number {
  return statusesByCall[call]?.[error.type] ?? statuses[error.type] ?? jobStatusOf(error);
}

type Statuses = Readonly<Partial<Record<ErrorTag, 400 | 403 | 404 | 500>>>;

/** Nomad answers conflicts with the current state with 500, and clients distinguish such errors by their messages. */
const statuses: Statuses = {
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

/** Calls with other statuses. */
const statusesByCall: Readonly<Record<string, Statuses>> = {
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

/** Path prefixes, with the status and message for unknown paths below them. */
const beginnings: readonly (readonly [string, 400 | 404, string])[] = [
  ['/v1/client/allocation/', 404, 'resource not found'],
  ['/v1/allocation/', 404, 'resource not found'],
  ['/v1/client/fs/', 404, 'Invalid method'],
  ['/v1/service/', 400, 'invalid URI'],
];

function incompletePath(method: string, path: string): IncompletePath | undefined {
  const missing = neutral.incompletePath(method, path);
  // An absent ID of a record is an invalid one.
  if (missing !== undefined) return { ...missing, status: missing.message === unreadableId ? 500 : 400 };
  const found = beginnings.find(([beginning]) => path.startsWith(beginning));
  if (found !== undefined) return { status: found[1], message: found[2] };
  const isTag = path.startsWith('/v1/job/') && path.endsWith('/tag');
  return isTag ? { status: 404, message: 'invalid job tag endpoint' } : undefined;
}

/** Path prefixes that are redirected to the same path with a slash. */
const roots: ReadonlySet<string> = new Set([
  '/v1/job',
  '/v1/allocation',
  '/v1/evaluation',
  '/v1/deployment',
  '/v1/node',
  '/v1/node/pool',
  '/v1/service',
  '/v1/scaling/policy',
  '/v1/var',
  '/v1/acl/policy',
  '/v1/client/allocation',
  '/v1/client/fs',
]);

/** To the path without empty, `.` and `..` segments, from the root of a resource to the same with a slash, from `/` to the web interface. */
function redirected(method: string, path: string, query: string): HttpResponse | undefined {
  const target = placeOfPath(path);
  return target === path ? undefined : redirect(method, query === '' ? target : `${target}?${query}`);
}

function placeOfPath(path: string): string {
  if (path === '/') return '/ui/';
  return roots.has(path) ? `${path}/` : cleaned(path);
}

/** Only a path with such segments is split. */
function cleaned(path: string): string {
  if (!path.includes('//') && !path.includes('/.')) return path;
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  const end = path.endsWith('/') && segments.length > 0 ? '/' : '';
  return `/${segments.join('/')}${end}`;
}

/** 307 keeps method and body. For GET, the answer also contains a page with a link. */
function redirect(method: string, target: string): HttpResponse {
  const location = headerSafe(target);
  const headers = ['Location', location];
  if (method !== 'GET' && method !== 'HEAD') return { status: 307, headers, body: '' };
  const href = location
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&#34;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
  headers.push('Content-Type', 'text/html; charset=utf-8');
  return { status: 307, headers, body: `<a href="${href}">Temporary Redirect</a>.\n\n` };
}

/** The right for streams of files is checked after their start: the refusal is in the body. */
const streamsOfFiles: ReadonlySet<string> = new Set(['files.read', 'files.readAt', 'files.stream']);
/** Calls that the server forwards to a node, with the token. */
const passedOn = /^\/v1\/client\//;
/** Calls that look the token up themselves, before anything else. */
const lookedUpFirst = /^\/v1\/(agent\/self|jobs\/parse|acl\/token\/self)$/;

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const denied = 'Permission denied';

/**
 * The answers to an unknown token, on the paths where that is not a 403. A token other than a UUID is taken for a signed identity
 * whose signature cannot be read.
 */
function refusedToken({ name, path }: Pick<Route, 'name' | 'path'>, secret: string): HttpResponse | undefined {
  const isUuid = uuid.test(secret);
  if (streamsOfFiles.has(name)) return textResponse(200, `rpc error: ${isUuid ? denied : noSignature}`);
  if (name === 'files.logs' && isUuid) return textResponse(500, `rpc error: ${denied}`);
  if (isUuid) return undefined;
  if (passedOn.test(path)) return textResponse(500, `rpc error: ${noSignature}`);
  return lookedUpFirst.test(path) ? textResponse(500, noSignature) : undefined;
}

function unknownSocketToken(secret: string): string {
  return `rpc error: ${uuid.test(secret) ? denied : noSignature}`;
}

/** The message of Nomad's signature library: on some paths it is the body of the answer. */
const noSignature = 'failed to parse signed token: go-jose/go-jose: compact JWS format must have three parts';

/**
 * Lists that are empty on a server without storage plugins. Clients read them together with nodes and jobs and treat any other
 * answer as a failure. Writes are refused as not provided.
 */
export const nomadRoutes: readonly Route[] = [
  emptyList('volumes.list', '/v1/volumes'),
  emptyList('plugins.list', '/v1/plugins'),
];

function emptyList(name: string, path: string): Route {
  return { name, interface: 'jobs', methods: ['GET'], path, access: anyCaller, handle: answerEmptyList };
}

function answerEmptyList(call: RouteCall): HttpResponse | Promise<HttpResponse> {
  const { engine, query } = call;
  const names = call.dialect.headers;
  const waiting = admittedWaiting(call);
  if (waiting.isErr()) return call.errors.badInput(waiting.error);
  const region = query.get('region').unwrapOr(undefined) ?? '';
  if (region !== '' && region !== engine.settings.jobs.region) return textResponse(500, 'No path to region');
  // The index is never 0: with 0 a blocking query would return at once.
  return readNothing(engine, waiting.value).match(
    ({ index }) => {
      const headers = [names.index, String(index), names.lastContact, '0', names.knownLeader, 'true'];
      return { status: 200, headers: ['Content-Type', jsonType, ...headers], body: '[]' };
    },
    (error) => call.errors.callError(error, { name: '', access: anyCaller, where: '' }),
  );
}

const digitsOfParts = [8, 4, 4, 4, 12];

/** The beginning of a UUID: whole bytes in hexadecimal digits, whose hyphens may be left out. */
const beginningOfUuid: TextCodec<string> = {
  schema: { type: 'string' },
  parse: (written, name) => {
    const digits = written.replaceAll('-', '');
    const isUuid = written.length <= 36 && written.length - digits.length <= 4 && /^(?:[0-9a-f]{2})*$/i.test(digits);
    if (!isUuid)
      return err(`"${name}" must be the beginning of a UUID with an even number of digits, not ${quoted(written)}`);
    let rest = digits.toLowerCase();
    const parts = digitsOfParts.map((count) => {
      const part = rest.slice(0, count);
      rest = rest.slice(count);
      return part;
    });
    return ok(parts.filter((part) => part !== '').join('-'));
  },
  print: (value) => value,
};

/** Whether the list of codings contains exactly `gzip` with a weight above zero. */
function namesGzip(accepted: string): boolean {
  return accepted.split(',').some((item) => {
    const [coding, ...options] = item.split(';');
    return coding?.trim() === 'gzip' && weightOf(options) > 0;
  });
}
