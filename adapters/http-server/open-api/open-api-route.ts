import { everybody } from '../../../src/api/access.js';
import { jsonType, type Route } from '../calls/router.js';

const printed = new Map<string, string>();

/**
 * The OpenAPI document, loaded with the first request, and serialized once per path of the notification interface and
 * vocabulary of the headers.
 */
export const openApiRoute: Route = {
  name: 'openApi',
  interface: 'system',
  methods: ['GET'],
  path: '/v1/openapi.json',
  access: everybody,
  handle: async ({ notificationsPath, names }) => {
    const { openApiDocument } = await import('./open-api.js');
    const key = `${names.vocabulary} ${notificationsPath}`;
    const body = printed.get(key) ?? JSON.stringify(openApiDocument(notificationsPath, names));
    printed.set(key, body);
    return { status: 200, headers: ['Content-Type', jsonType], body };
  },
};
