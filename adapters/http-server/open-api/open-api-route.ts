import { everybody } from '../../../src/api/access.js';
import { jsonType } from '../calls/responses.js';
import type { Route } from '../calls/route.js';
import { openApiDocument } from './open-api.js';

const printed = new Map<string, string>();

/** The OpenAPI document, serialized once per path of the notification interface and vocabulary of the headers. */
export const openApiRoute: Route = {
  name: 'openApi',
  interface: 'system',
  methods: ['GET'],
  path: '/v1/openapi.json',
  access: everybody,
  handle: ({ notificationsPath, names }) => {
    const key = `${names.vocabulary} ${notificationsPath}`;
    const body = printed.get(key) ?? JSON.stringify(openApiDocument(notificationsPath, names));
    printed.set(key, body);
    return Promise.resolve({ status: 200, headers: ['Content-Type', jsonType], body });
  },
};
