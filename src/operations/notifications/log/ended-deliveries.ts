import { type Delivery, deliveries } from '../../../notifications/delivery/delivery.js';
import type { Recovery, RecoveryFilter } from '../../../notifications/delivery/recovery.js';
import type { ReadView } from '../../../ports/storage.js';

/** Deliveries per read. */
export const readAtOnce = 500;

/** Whether a bulk redelivery sends the delivery again; not if its event was erased. */
export function isMeant(delivery: Delivery, { trigger }: Pick<RecoveryFilter, 'trigger'>): boolean {
  return delivery.erased !== true && (trigger === null || trigger === delivery.trigger);
}

/** Deliveries of a configuration that ended in the span, oldest end first, after `after`; at most `readAtOnce`. */
export function endedOnes(
  view: ReadView,
  configurationId: string,
  { outcome, since, until }: RecoveryFilter,
  after: Recovery['reached'],
): Delivery[] {
  const from = after === null ? [configurationId, outcome, since] : [configurationId, outcome, after[0], after[1] + 1];
  const range = { from, to: [configurationId, outcome, until], limit: readAtOnce };
  return view.list(deliveries, { index: 'failed', ...range }).map(({ record }) => record);
}
