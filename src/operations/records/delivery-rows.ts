import { type Delivery, deliveries } from '../../notifications/delivery/delivery.js';
import { keyOfDelivery, transitionDelivery } from '../../notifications/delivery/transition-delivery.js';
import type { StoredEvent } from '../../notifications/events/event.js';
import type { ReadView, WriteView } from '../../ports/storage.js';
import type { Instant } from '../../shared/instant.js';

/* The order of a run in the store: of its unfinished deliveries exactly the first is due or under way, the others are behind it. */

/** The delivery at a position of an event's list; undefined when it has no row. */
export function deliveryOf(view: ReadView, event: StoredEvent, position: number): Delivery | undefined {
  return view.get(deliveries, keyOfDelivery(event, position))?.record;
}

/** The deliveries that somebody works on: those of a configuration, or all. */
export function underWayOf(view: ReadView, configurationId?: string): readonly Delivery[] {
  const held = view.list(deliveries, { index: 'held' }).map(({ record }) => record);
  return configurationId === undefined ? held : held.filter((delivery) => delivery.configurationId === configurationId);
}

/** The first unfinished delivery of the run. */
function firstOfRun(view: ReadView, configurationId: string, orderKey: string): Delivery | undefined {
  const prefix = [configurationId, orderKey];
  return view.list(deliveries, { index: 'of_run', prefix, limit: 1 })[0]?.record;
}

/** Whether a delivery of the run is unfinished. */
export function hasUnfinished(view: ReadView, configurationId: string, orderKey: string): boolean {
  return firstOfRun(view, configurationId, orderKey) !== undefined;
}

/** Stores a new delivery, due or behind an earlier one of its run, and returns its row. A later one that was due is put behind it. */
export function addDelivery(view: WriteView, delivery: Delivery): Delivery {
  const { configurationId, orderKey, sequence } = delivery;
  const first = orderKey === null ? undefined : firstOfRun(view, configurationId, orderKey);
  const isBehind = first !== undefined && first.sequence < sequence;
  if (first !== undefined && first.sequence > sequence && first.holder === undefined) {
    const behind = transitionDelivery(first.state, { type: 'put_behind' });
    if (behind.isOk()) view.put(deliveries, { ...first, state: behind.value });
  }
  const row: Delivery = isBehind ? { ...delivery, state: { type: 'behind' } } : delivery;
  view.put(deliveries, row);
  return row;
}

/** Makes the first delivery of the run due, if it still waits behind one that has ended. */
export function releaseNext(view: WriteView, { configurationId, orderKey }: Delivery, at: Instant): void {
  if (orderKey === null || view.list(deliveries, { index: 'behind', limit: 1 }).length === 0) return;
  const first = firstOfRun(view, configurationId, orderKey);
  if (first?.state.type !== 'behind') return;
  const released = transitionDelivery(first.state, { type: 'released', at });
  if (released.isOk()) view.put(deliveries, { ...first, state: released.value });
}
