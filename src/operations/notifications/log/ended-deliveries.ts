import { type Delivery, deliveries } from '../../../notifications/delivery/delivery.js';
import type { Recovery, RecoveryFilter } from '../../../notifications/delivery/recovery.js';
import type { ReadView } from '../../../ports/storage.js';

/** The maximum number of deliveries read at once. */
export const readAtOnce = 500;

/** Whether a bulk redelivery re-sends the delivery. Erased events have nothing to send. */
export function isSelected(delivery: Delivery, { trigger }: Pick<RecoveryFilter, 'trigger'>): boolean {
  return delivery.erased !== true && (trigger === null || trigger === delivery.trigger);
}

/** Deliveries of a configuration that ended in the time range, oldest end first, beginning after `after`; at most `readAtOnce`. */
export function endedDeliveries(
  view: ReadView,
  configurationId: string,
  { outcome, since, until }: RecoveryFilter,
  after: Recovery['reached'],
): Delivery[] {
  const from = after === null ? [configurationId, outcome, since] : [configurationId, outcome, after[0], after[1] + 1];
  const range = { from, to: [configurationId, outcome, until], limit: readAtOnce };
  return view.list(deliveries, { index: 'failed', ...range }).map(({ record }) => record);
}
