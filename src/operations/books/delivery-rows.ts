import { type Delivery, deliveries } from '../../notifications/delivery/delivery.js';
import { transitionDelivery } from '../../notifications/delivery/transition-delivery.js';
import type { ReadView, WriteView } from '../../ports/storage.js';
import type { Instant } from '../../shared/instant.js';

/* The order of a run in the store: of its unfinished deliveries exactly the first is due, the others are behind it. */

/** The first two unfinished deliveries of the run. */
export function firstOfRun(view: ReadView, { configurationId, orderKey }: Delivery): readonly Delivery[] {
  if (orderKey === null) return [];
  const prefix = [configurationId, orderKey];
  return view.list(deliveries, { index: 'unfinished_of_run', prefix, limit: 2 }).map(({ record }) => record);
}

/** Stores a new delivery: due, or behind an earlier one of its run. */
export function addDelivery(view: WriteView, delivery: Delivery): void {
  const [first] = firstOfRun(view, delivery);
  const isBehind = first !== undefined && first.sequence < delivery.sequence;
  view.put(deliveries, isBehind ? { ...delivery, state: { type: 'behind' } } : delivery);
}

/** Makes the first delivery of the run due, if it still waits behind one that has ended. */
export function releaseNext(view: WriteView, delivery: Delivery, at: Instant): void {
  const [head] = firstOfRun(view, delivery);
  if (head?.state.type !== 'behind') return;
  const released = transitionDelivery(head.state, { type: 'released', at });
  if (released.isOk()) view.put(deliveries, { ...head, state: released.value });
}
