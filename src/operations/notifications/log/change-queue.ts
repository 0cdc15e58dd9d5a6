import type { CancelReason } from '../../../notifications/delivery/delivery.js';
import { firstSequenceOf } from '../../../notifications/events/event.js';
import {
  newQueue,
  queues,
  touched,
  withBreakerClosed,
  withCancellation,
  withPause,
} from '../../../notifications/queue/queue-record.js';
import type { WriteView } from '../../../ports/storage.js';
import type { Transaction } from '../../commit.js';

/*
 * Changes of a queue by operations, while an engine may hold its lease. The engine detects the changed row and continues
 * from its new state.
 */

/** Creates the queue of a new configuration; it gets no earlier events. */
export function addQueue(view: WriteView, configurationId: string, workspaceId: string): void {
  view.put(queues, newQueue(configurationId, workspaceId, firstSequenceOf(view.index) - 1));
}

/** Makes the delivery loop cancel all currently unfinished deliveries before it sends anything else. */
export function cancelUnfinished(tx: Transaction, configurationId: string, reason: CancelReason): void {
  const queue = tx.get(queues, [configurationId])?.record;
  if (queue === undefined) return;
  tx.put(queues, withCancellation(queue, { through: firstSequenceOf(tx.index) - 1, at: tx.now, reason }));
}

/** Closes the breaker after a request other than a delivery has shown that the destination works. */
export function closeBreaker(tx: Transaction, configurationId: string): void {
  const queue = tx.get(queues, [configurationId])?.record;
  if (queue === undefined) return;
  const { breaker, failingSince, hindered, workspaceId } = queue;
  const isFailing = breaker.type === 'open' || breaker.failures > 0 || failingSince !== null;
  if (!isFailing && hindered === undefined) return;
  tx.put(queues, withBreakerClosed(queue));
  const emit = (change: 'recovered' | 'breaker_closed'): void =>
    tx.emit('notification.destination', { configurationId, workspaceId, change });
  if (failingSince !== null) emit('recovered');
  if (breaker.type === 'open') emit('breaker_closed');
}

/** Pauses or resumes the queue. Returns whether this is a change. */
export function setPaused(tx: Transaction, configurationId: string, paused: boolean): boolean {
  const queue = tx.get(queues, [configurationId])?.record;
  if (queue === undefined || (queue.pausedAt !== undefined) === paused) return false;
  tx.put(queues, withPause(queue, paused ? tx.now : null));
  return true;
}

/** Marks the queue's rows as changed, so that the lease holder reads them again. */
export function touchQueue(view: WriteView, configurationId: string): void {
  const queue = view.get(queues, [configurationId])?.record;
  if (queue !== undefined) view.put(queues, touched(queue));
}
