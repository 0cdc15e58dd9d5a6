import { anyCaller } from '../../../src/api/access.js';
import { callsOf } from '../../../src/api/index.js';
import { readNothing } from '../../../src/index.js';
import type { HttpResponse } from '../http-message.js';
import { checkConfiguration, checkWorkspace } from '../notifications/document-checks.js';
import { introducing } from '../notifications/known-clients.js';
import { discoveryRoute } from '../notifications/service-discovery.js';
import { workspacePageRoute } from '../notifications/workspace-page.js';
import { openApiRoute } from '../open-api/open-api.js';
import { admittedWaiting, callRoute, type InputCheck } from './call-route.js';
import { jsonType, type Route, type RouteCall, textResponse } from './route.js';

/** Additional checks before the operation is called. */
const checks: Readonly<Record<string, InputCheck>> = {
  'notifications.create': checkWorkspace,
  'notifications.update': checkConfiguration,
};

/** Every route of both interfaces. */
export const routeTable: readonly Route[] = [
  ...callsOf().map((named) => {
    const route = callRoute(named, checks[named.name]);
    return named.name === 'notifications.ping' ? introducing(route) : route;
  }),
  openApiRoute,
];

/** Routes outside of the two interfaces' calls. */
export function furtherRoutes(upstream: boolean): readonly Route[] {
  return upstream ? [workspacePageRoute, discoveryRoute, ...emptyListRoutes] : [workspacePageRoute];
}

/**
 * Lists that are empty on a server without storage plugins. Existing clients read them together with nodes and jobs and treat any other
 * answer as a failure. With Nomad names only; writes are refused as not provided.
 */
const emptyListRoutes: readonly Route[] = [
  emptyList('volumes.list', '/v1/volumes'),
  emptyList('plugins.list', '/v1/plugins'),
];

function emptyList(name: string, path: string): Route {
  return { name, interface: 'jobs', methods: ['GET'], path, access: anyCaller, handle: answerEmptyList };
}

function answerEmptyList(call: RouteCall): HttpResponse | Promise<HttpResponse> {
  const { names, engine, query } = call;
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
