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
 * Changes of queues by operations while an engine may be working on them. The engine detects the changed row and continues from its
 * new state.
 */

/** Creates the queue of a new configuration; earlier events do not notify it. */
export function addQueue(view: WriteView, configurationId: string, workspaceId: string): void {
  view.put(queues, newQueue(configurationId, workspaceId, firstSequenceOf(view.index) - 1));
}

/** Marks all unfinished deliveries for cancellation; the delivery loop carries it out before it sends anything else. */
export function cancelUnfinished(tx: Transaction, configurationId: string, reason: CancelReason): void {
  const queue = tx.get(queues, [configurationId])?.record;
  if (queue === undefined) return;
  tx.put(queues, withCancellation(queue, { through: firstSequenceOf(tx.index) - 1, at: tx.now, reason }));
}

/** A successful verification shows that the destination works: closes its breaker. */
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

/** Pauses or resumes the queue. Returns whether this was a change. */
export function setPaused(tx: Transaction, configurationId: string, paused: boolean): boolean {
  const queue = tx.get(queues, [configurationId])?.record;
  if (queue === undefined || (queue.pausedAt !== undefined) === paused) return false;
  tx.put(queues, withPause(queue, paused ? tx.now : null));
  return true;
}

/** The rows of the queue were changed: its owner must read them again. */
export function touchQueue(view: WriteView, configurationId: string): void {
  const queue = view.get(queues, [configurationId])?.record;
  if (queue !== undefined) view.put(queues, touched(queue));
}
