import { ok, type Result } from 'neverthrow';
import type { Interface } from '../../../src/api/call.js';
import type { Vocabulary } from '../edge/header-names.js';
import type { BadInput } from '../errors/bad-input.js';
import { clientRoutes } from './client-routes.js';
import { incompletePath } from './incomplete-path.js';
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
