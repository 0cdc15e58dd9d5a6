import { everybody } from '../../../src/api/access.js';
import { jsonResponse } from '../calls/responses.js';
import type { Route } from '../calls/route.js';

/**
 * The service discovery document, from which existing clients take the path of the notification interface. Paths are
 * relative to where the handler is mounted and end with a slash. For HCP Terraform names only: without them those clients
 * cannot work with the interface.
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

/** Clients exist that read the path of the module registry before anything else; the one named here has no modules. */
function servicesAt(path: string): Readonly<Record<string, string>> {
  return { 'modules.v1': '/api/registry/v1/modules/', 'tfe.v2': path, 'tfe.v2.1': path, 'tfe.v2.2': path };
}
