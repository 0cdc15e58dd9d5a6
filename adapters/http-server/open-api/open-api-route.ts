import { everybody } from '../../../src/api/access.js';
import { jsonType } from '../calls/responses.js';
import type { Route } from '../calls/route.js';
import { openApiDocument } from './open-api.js';

const printed = new Map<string, string>();

/** The interface as a document, printed once for each path at which the notification interface is mounted. */
export const openApiRoute: Route = {
  name: 'openApi',
  interface: 'system',
  methods: ['GET'],
  path: '/v1/openapi.json',
  access: everybody,
  handle: ({ notificationsPath }) => {
    const body = printed.get(notificationsPath) ?? JSON.stringify(openApiDocument(notificationsPath));
    printed.set(notificationsPath, body);
    return Promise.resolve({ status: 200, headers: ['Content-Type', jsonType], body });
  },
};
