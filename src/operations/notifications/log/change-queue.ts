import type { CancelReason } from '../../../notifications/delivery/delivery.js';
import { firstSequenceOf } from '../../../notifications/events/event.js';
import {
  newQueue,
  type QueueRecord,
  queues,
  touched,
  withBreakerClosed,
  withCancellation,
  withPause,
} from '../../../notifications/queue/queue-record.js';
import type { WriteView } from '../../../ports/storage.js';
import { OtherChanges } from '../../context/accepted-events.js';
import type { Transaction } from '../../write-transaction.js';

/* Changes of a queue by operations. The delivery loop looks at the changed row. */

/** Creates the queue of a new configuration. */
export function addQueue(view: WriteView, configurationId: string, workspaceId: string): void {
  view.put(queues, newQueue(configurationId, workspaceId));
}

/** Makes the delivery loop cancel all currently unfinished deliveries before it sends anything else. */
export function cancelUnfinished(tx: Transaction, configurationId: string, reason: CancelReason): void {
  const queue = tx.get(queues, [configurationId])?.record;
  if (queue === undefined) return;
  putQueue(tx, withCancellation(queue, { through: firstSequenceOf(tx.index) - 1, at: tx.now, reason }));
}

/** Closes the breaker after a request other than a delivery has shown that the destination works. */
export function closeBreaker(tx: Transaction, configurationId: string): void {
  const queue = tx.get(queues, [configurationId])?.record;
  if (queue === undefined) return;
  const { breaker, failingSince, hindered, workspaceId } = queue;
  const isFailing = breaker.type === 'open' || breaker.failures > 0 || failingSince !== null;
  if (!isFailing && hindered === undefined) return;
  putQueue(tx, withBreakerClosed(queue));
  const emit = (change: 'recovered' | 'breaker_closed'): void =>
    tx.emit('notification.destination', { configurationId, workspaceId, change });
  if (failingSince !== null) emit('recovered');
  if (breaker.type === 'open') emit('breaker_closed');
}

/** Pauses or resumes the queue. Returns whether this is a change. */
export function setPaused(tx: Transaction, configurationId: string, paused: boolean): boolean {
  const queue = tx.get(queues, [configurationId])?.record;
  if (queue === undefined || (queue.pausedAt !== undefined) === paused) return false;
  putQueue(tx, withPause(queue, paused ? tx.now : null));
  return true;
}

/** Has the delivery loop look at the queue's rows. */
export function touchQueue(tx: Transaction, configurationId: string): void {
  const queue = tx.get(queues, [configurationId])?.record;
  if (queue !== undefined) putQueue(tx, touched(queue));
}

function putQueue(tx: Transaction, queue: QueueRecord): void {
  tx.part(OtherChanges).isAny = true;
  tx.put(queues, queue);
}
