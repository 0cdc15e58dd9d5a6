import { everybody } from '../../src/api/access.js';
import type { Route } from '../http-server/calls/router.js';
import type { DeliveryResponses } from '../http-server/dialect.js';
import { headerValue, jsonResponse } from '../http-server/http-message.js';
import { responseMember } from '../http-server/notifications/resource-documents.js';

/*
 * What clients of HCP Terraform expect of the notification interface where it differs from the neutral form: service discovery, the
 * application name, and members of the types that the clients declare.
 */

/** The routes, with the application name and the rate limit in the answer to a ping. */
export function introduced(routes: readonly Route[]): readonly Route[] {
  return routes.map((route) => (route.name === 'notifications.ping' ? introducing(route) : route));
}

function introducing(route: Route): Route {
  return {
    ...route,
    handle: async (call) => {
      const response = await route.handle(call);
      response.headers.push(...introduction);
      return response;
    },
  };
}

/**
 * Clients distinguish two kinds of servers by the application name, and limit themselves to two thirds of this number of requests per
 * second; below 4 they send none.
 */
const introduction = ['TFP-API-Version', '2.6', 'TFP-AppName', 'HCP Terraform', 'X-RateLimit-Limit', '30'];

/** The first generation of the Go client silently drops elements with headers; with null headers it keeps them. */
export const deliveryResponses: DeliveryResponses = (request, response) => ({
  ...responseMember(response),
  successful: String(response.successful),
  ...(headerValue(request, 'user-agent') === 'go-tfe' ? { headers: null } : {}),
});

/**
 * The service discovery document, where clients find the path of the notification interface. Paths are relative to the mount point of
 * the handler and end with a slash.
 */
export const discoveryRoute: Route = {
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
