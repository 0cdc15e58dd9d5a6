import { everybody } from '../../../src/api/access.js';
import { jsonResponse, type Route } from '../calls/route.js';

/**
 * The service discovery document, where existing clients find the path of the notification interface. Paths are relative to the
 * mount point of the handler and end with a slash. With HCP Terraform names only: with other names those clients cannot use the
 * interface.
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
