import { ok, type Result } from 'neverthrow';
import type { Interface } from '../../../src/api/call.js';
import type { Vocabulary } from '../edge/header-names.js';
import type { BadInput } from '../errors/interface-errors.js';
import { clientRoutes } from './client-routes.js';
import type { Route } from './route.js';
import { createRouter, type Match } from './router.js';

/** The interface that a path belongs to, and its match there. */
export interface Located {
  readonly interface: Interface;
  readonly match: Result<Match, BadInput>;
}

export type Locate = (method: string, path: string) => Located | undefined;

/** Where the interfaces are mounted, and the names of their headers. */
interface Mounts {
  readonly basePath: string;
  readonly notificationsPath: string;
  readonly vocabulary: Vocabulary;
}

/**
 * Finds the interface and route of a path; undefined for other paths. Only clients of Nomad may use any method where
 * Nomad ignores it, and get an explicit refusal of methods that Nomad has and this server does not.
 */
export function locator(routes: readonly Route[], { basePath, notificationsPath, vocabulary }: Mounts): Locate {
  const isForNomad = vocabulary === 'upstream';
  const ofJobs = routes.filter((route) => route.interface !== 'notifications');
  const jobs = createRouter({
    routes: isForNomad ? ofJobs : ofJobs.map(({ anyMethod: _, ...route }) => route),
    known: isForNomad ? clientRoutes : clientRoutes.map(({ path }) => ({ path, methods: [] })),
    openPrefixes: ['/v1/job/', '/job/', '/v1/var/', '/v1/evaluation/'],
    widePrefixes: [
      ...['/v1/node/', '/v1/node/pool/', '/v1/deployment/', '/v1/namespace/', '/v1/scaling/policy/'],
      ...['/v1/acl/policy/', '/v1/acl/token/'],
    ],
    // A function whose own name begins with `run/` and ends like a run is named by an escaped slash.
    namePrefixes: [{ prefix: '/v1/function/run/', fits: (id) => /.\/\d{1,16}$/.test(id) }, { prefix: '/v1/function/' }],
  });
  const ofNotifications = routes.filter((route) => route.interface === 'notifications');
  const notifications = createRouter({ routes: ofNotifications, known: [], openPrefixes: [], widePrefixes: [] });
  const firstSegments = new Set(ofNotifications.map((route) => route.path.split('/', 2)[1]));

  return (method, fullPath) => {
    if (basePath !== '' && !isBelow(fullPath, basePath)) return undefined;
    const path = fullPath.slice(basePath.length);
    const match = jobs(method, path);
    if (match.isErr() || match.value.type !== 'unknown_path') return { interface: 'jobs', match };
    const incomplete = incompletePath(method, path);
    if (incomplete !== undefined) return { interface: 'jobs', match: ok(incomplete) };
    if (notificationsPath !== '' && !isBelow(path, notificationsPath)) return undefined;
    const rest = path.slice(notificationsPath.length);
    if (notificationsPath === '' && !firstSegments.has(rest.split('/', 2)[1])) return undefined;
    return { interface: 'notifications', match: notifications(method, rest) };
  };
}

function isBelow(path: string, base: string): boolean {
  return path.startsWith(base) && (path.length === base.length || path.charCodeAt(base.length) === 0x2f);
}
type Incomplete = Extract<Match, { readonly type: 'incomplete_path' }>;
/** Nomad's messages for paths with a missing last part. */
const missing: ReadonlyMap<string, string> = new Map([
  ['/v1/acl/policy/', 'Missing Policy Name'],
  ['/v1/acl/token/', 'Missing Token Accessor'],
  ['/v1/acl/role/', 'missing ACL role ID'],
  ['/v1/acl/role/name/', 'missing ACL role name'],
  ['/v1/namespace/', 'Missing Namespace Name'],
  ['/v1/service/', 'missing service name'],
  ...['ls', 'stat', 'cat', 'readat', 'stream', 'logs'].map((call): [string, string] => [
    `/v1/client/fs/${call}/`,
    'must provide a valid alloc id',
  ]),
]);
/** Path prefixes, with the status and message for unknown paths below them. */
const beginnings: readonly (readonly [string, 400 | 404, string])[] = [
  ['/v1/client/allocation/', 404, 'resource not found'],
  ['/v1/allocation/', 404, 'resource not found'],
  ['/v1/client/fs/', 404, 'Invalid method'],
  ['/v1/service/', 400, 'invalid URI'],
];
/** Prefixes of records that are read by a complete UUID: an empty one is invalid. */
const records: ReadonlySet<string> = new Set(['/v1/allocation/', '/v1/deployment/', '/v1/node/']);

/** The answer to a path with a missing or an excess part; undefined for other paths. */
function incompletePath(method: string, path: string): Incomplete | undefined {
  const message = missing.get(path);
  if (message !== undefined) return { type: 'incomplete_path', isMissing: true, status: 400, message };
  if (method === 'GET' && records.has(path)) {
    const text = 'the ID must be a UUID of 36 characters';
    return { type: 'incomplete_path', isMissing: true, status: 500, message: text };
  }
  const found = beginnings.find(([beginning]) => path.startsWith(beginning));
  if (found !== undefined) {
    return { type: 'incomplete_path', isMissing: false, status: found[1], message: found[2] };
  }
  const isTag = path.startsWith('/v1/job/') && path.endsWith('/tag');
  return isTag
    ? { type: 'incomplete_path', isMissing: false, status: 404, message: 'invalid job tag endpoint' }
    : undefined;
}
