import { emptyResponse } from '../responses.js';
import type { Route } from '../route.js';
import { configurationRoutes } from './configuration-routes.js';
import { deliveryRoutes } from './delivery-routes.js';

/** Clients ask for this before anything else and only want some answer. */
const ping: Route = {
  half: 'notifications',
  methods: ['GET', 'HEAD'],
  path: '/ping',
  access: { type: 'public' },
  operation: 'ping',
  summary: 'Whether the notification interface answers',
  parameters: {},
  answers: { 204: { description: 'It does' } },
  handle: () => Promise.resolve(emptyResponse(204)),
};

/** Every route of the notification interface. */
export const notificationRoutes: readonly Route[] = [ping, ...configurationRoutes, ...deliveryRoutes];
