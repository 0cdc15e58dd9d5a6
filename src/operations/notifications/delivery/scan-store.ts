import { lastSequenceOf } from '../../../notifications/events/event.js';
import { second } from '../../../shared/duration.js';
import type { Instant } from '../../../shared/instant.js';
import { deliveryTables } from '../../context/accepted-events.js';
import type { Loop } from './loop.js';
import { passOn, scan } from './scan.js';

/** Reads changes of the store, if there are any. */
export async function scanStore(loop: Loop): Promise<void> {
  const { work, context } = loop;
  const now = loop.now();
  work.nextTimer(now);
  applyAccepted(loop, now);
  work.changed ||= work.reached > work.known;
  if (!work.changed && work.toRefill.size === 0) return;
  work.changed = false;
  // While a turn is being written, its own changes cannot be distinguished from those of others.
  const settled = loop.turn === null;
  const read = await context.storage.read((view) => scan(context, view, work, { now, settled }));
  if (read.isErr()) throw new Error(read.error.message);
  const found = read.value;
  for (const held of found.held) work.put(held, now);
  work.tail = found.tail;
  work.changed ||= found.more;
  if (settled) {
    work.queuesIndex = found.queuesIndex;
    work.known = found.reached;
  }
  work.hooks.learn(found.holds, found.holdsIndex, now);
  work.configurationsIndex = found.configurationsIndex;
  work.nextWake = found.nextWake;
}

/** Applies the events accepted by this process without reading the store, if nothing else has changed. */
function applyAccepted({ work, context }: Loop, now: Instant): void {
  const ordered = context.settings.notifications.delivery.ordering !== 'none';
  for (const accepted of work.accepted.splice(0)) {
    // A scan has already read it.
    if (accepted.after <= work.known) continue;
    const found = passOn(work, accepted, ordered);
    if (found === null) {
      work.changed = true;
      continue;
    }
    for (const held of found) work.put(held, now);
    work.known = accepted.after;
    work.tail = Math.max(work.tail ?? 0, lastSequenceOf(accepted.after));
  }
}

/** Records changes of the store that concern the loop. Changes of queues by its own turns are already known. */
export async function watch({ context, work, waker }: Loop, signal: AbortSignal): Promise<void> {
  let after = 0;
  while (!signal.aborted) {
    try {
      const reached = await context.storage.waitForChange(deliveryTables, after, signal);
      if (signal.aborted || reached <= after) return;
      after = reached;
      work.reached = reached;
      waker.wake();
    } catch (error) {
      // Only the end of the loop awaits this promise.
      const message = error instanceof Error ? error.message : 'unknown';
      context.logger.error({ error: message }, 'The queues of deliveries cannot be watched');
      await context.clock.sleep(second, signal);
    }
  }
}
