import { deliveries } from '../../../notifications/delivery/delivery.js';
import type { QueueRecord } from '../../../notifications/queue/queue-record.js';
import type { ReadView } from '../../../ports/storage.js';

/** The maximum number of deliveries examined, so that a reader of health does not wait for a long queue. */
const mostCounted = 1_000;

/**
 * Deliveries that wait for their first attempt behind a pause or an open breaker. They are counted on demand: nobody maintains the
 * number in the meantime, and publishers must not pay for it.
 */
export function countWaiting(view: ReadView, { configurationId, cancellation }: QueueRecord): number {
  const first = (cancellation?.through ?? 0) + 1;
  const from = [configurationId, first];
  const range = { from, to: [configurationId, ''], limit: mostCounted };
  const rows = view.list(deliveries, { index: 'unfinished', ...range });
  return rows.filter(({ record }) => record.attempts.length === 0).length;
}
