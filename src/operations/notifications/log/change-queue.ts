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

/* Changes of a queue by operations. The delivery loop looks at the changed row. */

/** Creates the queue of a new configuration. */
export function addQueue(view: WriteView, configurationId: string, workspaceId: string): void {
  view.put(queues, newQueue(configurationId, workspaceId));
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

/** Has the delivery loop look at the queue's rows. */
export function touchQueue(view: WriteView, configurationId: string): void {
  const queue = view.get(queues, [configurationId])?.record;
  if (queue !== undefined) view.put(queues, touched(queue));
}
