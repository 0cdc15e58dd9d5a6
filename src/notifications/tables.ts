import { processes } from '../queue/process.js';
import { timelines } from '../queue/timeline.js';
import { storedRates } from '../queue/token-bucket.js';
import type { TableName } from '../shared/table.js';
import { configurations } from './configurations/configuration.js';
import { deliveries } from './delivery/delivery.js';
import { recoveries } from './delivery/recovery.js';
import { events } from './events/event.js';
import { eventTypes } from './events/event-type.js';
import { hookHolds } from './queue/hook-hold.js';
import { queues } from './queue/queue-record.js';
import { users } from './user.js';
import { workspaces } from './workspace.js';

/** Every table of this area. */
export const notificationTables: readonly TableName[] = [
  workspaces,
  users,
  configurations,
  events,
  deliveries,
  queues,
  hookHolds,
  timelines,
  processes,
  storedRates,
  eventTypes,
  recoveries,
];
