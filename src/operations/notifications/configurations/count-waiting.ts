import { deliveries } from '../../../notifications/delivery/delivery.js';
import { positionOf } from '../../../notifications/delivery/fresh-delivery.js';
import { events } from '../../../notifications/events/event.js';
import type { QueueRecord } from '../../../notifications/queue/queue-record.js';
import type { ReadView } from '../../../ports/storage.js';

/** The most events, and the most deliveries, that are counted: reading the health of a long queue must be fast. */
const mostCounted = 1_000;

/**
 * The number of new deliveries that wait for their first attempt behind a pause or a breaker. It is counted on request: maintaining it
 * would slow down publishers.
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
