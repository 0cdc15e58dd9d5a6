import { callsOf } from '../../../src/api/index.js';
import { checkConfiguration, checkWorkspace } from '../notifications/document-checks.js';
import { introducing } from '../notifications/known-clients.js';
import { discoveryRoute } from '../notifications/service-discovery.js';
import { workspacePageRoute } from '../notifications/workspace-page.js';
import { openApiRoute } from '../open-api/open-api-route.js';
import { callRoute, type InputCheck } from './call-route.js';
import { emptyListRoutes } from './empty-lists.js';
import type { Route } from './route.js';

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
