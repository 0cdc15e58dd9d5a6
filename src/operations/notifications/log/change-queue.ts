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
 * Changes that operations make to a queue that an engine may be working on. The engine notices that the row has changed, and continues
 * from its new state.
 */

/** The queue of a configuration that is being created; what was accepted before is not for it. */
export function addQueue(view: WriteView, configurationId: string, workspaceId: string): void {
  view.put(queues, newQueue(configurationId, workspaceId, firstSequenceOf(view.index) - 1));
}

/** Everything unfinished now is cancelled by the delivery loop before it sends anything else. */
export function cancelUnfinished(tx: Transaction, configurationId: string, reason: CancelReason): void {
  const queue = tx.get(queues, [configurationId])?.record;
  if (queue === undefined) return;
  tx.put(queues, withCancellation(queue, { through: firstSequenceOf(tx.index) - 1, at: tx.now, reason }));
}

/** The destination was found working by other means than a delivery: its breaker no longer holds anything up. */
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

/** Sends nothing from now on, or continues. Gives whether that is a change. */
export function setPaused(tx: Transaction, configurationId: string, paused: boolean): boolean {
  const queue = tx.get(queues, [configurationId])?.record;
  if (queue === undefined || (queue.pausedAt !== undefined) === paused) return false;
  tx.put(queues, withPause(queue, paused ? tx.now : null));
  return true;
}

/** The rows of the queue were changed: whoever works on it has to read them again. */
export function touchQueue(view: WriteView, configurationId: string): void {
  const queue = view.get(queues, [configurationId])?.record;
  if (queue !== undefined) view.put(queues, touched(queue));
}
