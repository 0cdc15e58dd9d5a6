import { type Delivery, deliveries, isInOrder } from '../../notifications/delivery/delivery.js';
import { transitionDelivery } from '../../notifications/delivery/transition-delivery.js';
import type { ReadView, WriteView } from '../../ports/storage.js';
import type { Instant } from '../../shared/instant.js';

/* The order of a run in the store: of its unfinished deliveries exactly the first is due or under way, the others are behind it. */

/** The deliveries of a configuration that somebody works on: all, or those of a run. */
export function underWayOf(view: ReadView, configurationId: string, orderKey?: string): readonly Delivery[] {
  const prefix = orderKey === undefined ? [true, configurationId] : [true, configurationId, orderKey];
  return view.list(deliveries, { index: 'due', prefix }).map(({ record }) => record);
}

/** The first unfinished delivery of the run that nobody works on. */
function firstWaiting(view: ReadView, configurationId: string, orderKey: string): Delivery | undefined {
  const prefix = [configurationId, orderKey];
  return view.list(deliveries, { index: 'unfinished_of_run', prefix, limit: 1 })[0]?.record;
}

/** Stores a new delivery: due, or behind an earlier one of its run. A later one that was due is put behind it. */
export function addDelivery(view: WriteView, delivery: Delivery): void {
  const { configurationId, orderKey, sequence } = delivery;
  if (orderKey === null) {
    view.put(deliveries, delivery);
    return;
  }
  const first = firstWaiting(view, configurationId, orderKey);
  const isBehind =
    (first !== undefined && first.sequence < sequence) || hasHead(view, { configurationId, orderKey, sequence });
  if (first !== undefined && first.sequence > sequence) {
    const behind = transitionDelivery(first.state, { type: 'put_behind' });
    if (behind.isOk()) view.put(deliveries, { ...first, state: behind.value });
  }
  view.put(deliveries, isBehind ? { ...delivery, state: { type: 'behind' } } : delivery);
}

/** Makes the first delivery of the run due, if it still waits behind one that has ended. */
export function releaseNext(view: WriteView, { configurationId, orderKey }: Delivery, at: Instant): void {
  if (orderKey === null) return;
  const first = firstWaiting(view, configurationId, orderKey);
  if (first?.state.type !== 'behind' || hasHead(view, { configurationId, orderKey, sequence: first.sequence })) return;
  const released = transitionDelivery(first.state, { type: 'released', at });
  if (released.isOk()) view.put(deliveries, { ...first, state: released.value });
}

/** Whether an earlier delivery of the run is under way. */
function hasHead(
  view: ReadView,
  of: { readonly configurationId: string; readonly orderKey: string; readonly sequence: number },
): boolean {
  return underWayOf(view, of.configurationId, of.orderKey).some(
    ({ state, sequence }) => isInOrder(state) && sequence < of.sequence,
  );
}
