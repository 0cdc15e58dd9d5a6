import { jobRoutes } from './jobs/job-routes.js';
import { anyObject } from './json-schema.js';
import { notificationRoutes } from './notifications/notification-routes.js';
import { openApiDocument } from './open-api.js';
import { jsonResponse } from './responses.js';
import type { Route } from './route.js';
import { systemRoutes } from './system/system-routes.js';

const printed = new Map<string, string>();

const openApiRoute: Route = {
  half: 'system',
  methods: ['GET'],
  path: '/v1/openapi.json',
  access: { type: 'public' },
  operation: 'openApi',
  summary: 'This interface as an OpenAPI 3.1 document',
  parameters: {},
  answers: { 200: { description: 'The document', contentType: 'application/json', schema: () => anyObject } },
  handle: ({ notificationsPath }) => {
    const text = printed.get(notificationsPath) ?? JSON.stringify(openApiDocument(routeTable, notificationsPath));
    printed.set(notificationsPath, text);
    return Promise.resolve(jsonResponse(200, text));
  },
};

/** Every route of both interfaces. */
export const routeTable: readonly Route[] = [...systemRoutes, openApiRoute, ...jobRoutes, ...notificationRoutes];
