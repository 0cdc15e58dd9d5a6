import { lastSequenceOf } from '../../../notifications/events/event.js';
import { second } from '../../../shared/duration.js';
import type { Instant } from '../../../shared/instant.js';
import { deliveryTables } from '../../context/accepted-events.js';
import type { Loop } from './loop.js';
import { handOver, scanStore } from './store-scan.js';

/** Scans the store if it has changed. */
export async function scanIfChanged(loop: Loop): Promise<void> {
  const { work, context } = loop;
  const now = loop.now();
  work.nextTimer(now);
  takeAccepted(loop, now);
  work.changed ||= work.reached > work.known;
  if (!work.changed && work.toRefill.size === 0) return;
  work.changed = false;
  // While a turn is being written, its changes could not be distinguished from those of others.
  const settled = loop.turn === null;
  const read = await context.storage.read((view) => scanStore(context, view, work, { now, settled }));
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

/** Applies the events accepted by this process without a scan, if there are no other changes. */
function takeAccepted({ work, context }: Loop, now: Instant): void {
  const ordered = context.settings.notifications.delivery.ordering !== 'none';
  for (const accepted of work.accepted.splice(0)) {
    // A scan has read it already.
    if (accepted.after <= work.known) continue;
    const found = handOver(work, accepted, ordered);
    if (found === null) {
      work.changed = true;
      continue;
    }
    for (const held of found) work.put(held, now);
    work.known = accepted.after;
    work.tail = Math.max(work.tail ?? 0, lastSequenceOf(accepted.after));
  }
}

/** Records every relevant change of the store. Changes of the queues by the loop's own turns are ignored. */
export async function watch({ context, work, wakeUp }: Loop, signal: AbortSignal): Promise<void> {
  let after = 0;
  while (!signal.aborted) {
    try {
      const reached = await context.storage.waitForChange(deliveryTables, after, signal);
      if (signal.aborted || reached <= after) return;
      after = reached;
      work.reached = reached;
      wakeUp.wake();
    } catch (error) {
      // Only the end of the loop waits for this promise.
      const message = error instanceof Error ? error.message : 'unknown';
      context.logger.error({ error: message }, 'Watching the queues of deliveries failed');
      await context.clock.sleep(second, signal);
    }
  }
}
