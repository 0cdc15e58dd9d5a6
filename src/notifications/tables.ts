import type { TableName } from '../shared/table.js';
import { configurations } from './configuration.js';
import { deliveries, deliveryBodies, deliveryHolds, deliveryLanes } from './delivery.js';
import { events } from './event.js';
import { users } from './user.js';
import { workspaces } from './workspace.js';

/** Every table of this area. */
export const notificationTables: readonly TableName[] = [
  workspaces,
  users,
  configurations,
  events,
  deliveries,
  deliveryBodies,
  deliveryLanes,
  deliveryHolds,
];
