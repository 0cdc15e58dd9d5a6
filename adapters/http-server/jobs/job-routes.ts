import type { Route } from '../route.js';
import { deploymentRoutes } from './deployment-routes.js';
import { namespaceRoutes } from './namespace-routes.js';
import { nodeRoutes } from './node-routes.js';
import { readRoutes } from './read-routes.js';
import { scaleRoutes } from './scale-routes.js';
import { writeRoutes } from './write-routes.js';

/** Every route of the job interface. */
export const jobRoutes: readonly Route[] = [
  ...readRoutes,
  ...writeRoutes,
  ...scaleRoutes,
  ...deploymentRoutes,
  ...namespaceRoutes,
  ...nodeRoutes,
];
