import { anyCaller, everybody, onWorkspace } from '../../../src/api/access.js';
import { callsOf } from '../../../src/api/index.js';
import { readNothing } from '../../../src/index.js';
import { isRecord } from '../../../src/shared/values.js';
import type { RefusingCall } from '../errors/interface-errors.js';
import { errorResponse } from '../errors/notification-errors.js';
import type { HttpResponse } from '../http-message.js';
import type { RequestDocument } from '../notifications/request-document.js';
import { introducing } from '../notifications/resource-responses.js';
import { openApiRoute } from '../open-api/open-api-route.js';
import { admittedWaiting, callRoute, type InputCheck } from './call-route.js';
import type { ReadInputs } from './read-inputs.js';
import { jsonResponse, jsonType, type Route, type RouteCall, textResponse } from './router.js';

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

/**
 * The target of links in messages for a workspace without its own page (`workspaceUrl`): redirects to the workspace's document.
 * The redirect depends only on the path, so it does not reveal whether the workspace exists; reading the document requires a right.
 */
const workspacePageRoute: Route = {
  name: 'workspacePage',
  interface: 'system',
  methods: ['GET'],
  path: '/app/{organization}/workspaces/{name}',
  access: everybody,
  handle: ({ pathValues, notificationsPath }) => {
    const [organization = '', name = ''] = pathValues.map(encodeURIComponent);
    const location = `${notificationsPath}/organizations/${organization}/workspaces/${name}`;
    return Promise.resolve({ status: 302, headers: ['Location', location], body: '' });
  },
};

/**
 * The service discovery document, where existing clients find the path of the notification interface. Paths are relative to the
 * mount point of the handler and end with a slash. With HCP Terraform names only: with other names those clients cannot use the
 * interface.
 */
const discoveryRoute: Route = {
  name: 'serviceDiscovery',
  interface: 'system',
  methods: ['GET'],
  path: '/.well-known/terraform.json',
  access: everybody,
  handle: ({ notificationsPath }) =>
    Promise.resolve(jsonResponse(200, JSON.stringify(servicesAt(`${notificationsPath}/`)))),
};

/** Some clients read the path of the module registry first; the registry named here has no modules. */
function servicesAt(path: string): Readonly<Record<string, string>> {
  return { 'modules.v1': '/api/registry/v1/modules/', 'tfe.v2': path, 'tfe.v2.1': path, 'tfe.v2.2': path };
}

/* A document may only name the resource of the path. A missing resource is reported first. */

/** Clients repeat the workspace of the path in the document. */
async function checkWorkspace(call: RouteCall, { input, document }: ReadInputs): ReturnType<InputCheck> {
  const workspaceId = String(input['workspaceId']);
  if (document === undefined || !namesOtherWorkspace(document, workspaceId)) return undefined;
  const known = await perform(call, 'list', { workspaceId });
  return known.isErr()
    ? call.errors.callError(known.error, checked('notifications.create'))
    : otherResource(call, '/data/relationships/subscribable');
}

/** Clients repeat the id of the path in the document. */
async function checkConfiguration(call: RouteCall, { input, document }: ReadInputs): ReturnType<InputCheck> {
  const configurationId = String(input['configurationId']);
  if (document?.id === undefined || document.id === configurationId) return undefined;
  const known = await perform(call, 'show', { configurationId });
  return known.isErr()
    ? call.errors.callError(known.error, checked('notifications.update'))
    : otherResource(call, '/data/id');
}

const manner = { waiting: {}, faults: [], signal: new AbortController().signal };

function perform({ engine, caller }: RouteCall, method: 'list' | 'show', input: Readonly<Record<string, string>>) {
  return engine.perform({ area: 'notifications', method }, caller, input, manner);
}

function checked(name: string): RefusingCall {
  return { name, access: onWorkspace('admin'), where: '' };
}

function namesOtherWorkspace(document: RequestDocument, workspaceId: string): boolean {
  const subscribable = document.relationships['subscribable'];
  const data = isRecord(subscribable) ? subscribable['data'] : undefined;
  return isRecord(data) && (data['id'] !== workspaceId || data['type'] !== 'workspaces');
}

function otherResource(call: RouteCall, pointer: string): HttpResponse {
  const message = 'The document names another resource than the path';
  if (call.plain)
    return call.errors.callError({ type: 'conflict', message } as { type: 'conflict' }, checked('notifications'));
  return errorResponse([{ status: '409', title: 'conflict', detail: message, source: { pointer } }]);
}
