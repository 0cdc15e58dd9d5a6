import { deliveries } from '../../../notifications/delivery/delivery.js';
import { positionOf } from '../../../notifications/delivery/fresh-delivery.js';
import { events } from '../../../notifications/events/event.js';
import type { QueueRecord } from '../../../notifications/queue/queue-record.js';
import type { ReadView } from '../../../ports/storage.js';

/** The maximum number of events and of deliveries examined, so that a reader of health does not wait for a long queue. */
const mostCounted = 1_000;

/**
 * Deliveries that wait for their first attempt behind a pause or an open breaker. They are counted on demand: no engine maintains the
 * number in the meantime, and publishers must not pay for it.
 */
export function countWaiting(view: ReadView, queue: QueueRecord): number {
  const { configurationId, workspaceId } = queue;
  const begin = Math.max(queue.position, queue.cancellation?.through ?? 0) + 1;
  const range = { from: [workspaceId, begin], to: [workspaceId, ''], limit: mostCounted };
  const unread = view
    .list(events, { index: 'by_workspace', ...range })
    .filter(({ record }) => positionOf(record, configurationId) >= 0)
    .filter(({ record }) => view.get(deliveries, [configurationId, record.sequence]) === undefined);
  const stored = view
    .list(deliveries, { index: 'unfinished', prefix: [configurationId], limit: mostCounted })
    .filter(({ record }) => record.attempts.length === 0 && record.sequence > (queue.cancellation?.through ?? 0));
  return unread.length + stored.length;
}
