import { lastSequenceOf } from '../../../notifications/events/event.js';
import { second } from '../../../shared/duration.js';
import type { Instant } from '../../../shared/instant.js';
import { deliveryTables } from '../../context/accepted-events.js';
import { handOver, look } from './look.js';
import type { Loop } from './loop.js';

/** Reads what has changed, when anything has. */
export async function lookAround(loop: Loop): Promise<void> {
  const { work, context } = loop;
  const now = loop.now();
  work.nextTimer(now);
  takeAccepted(loop, now);
  work.changed ||= work.reached > work.known;
  if (!work.changed && work.hungry.size === 0) return;
  work.changed = false;
  // While a turn is being written, its own changes could not be reported from those of others.
  const settled = loop.turn === null;
  const read = await context.storage.read((view) => look(context, view, work, { now, settled }));
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

/** Takes over what this process has accepted itself, as long as that is all that has happened. */
function takeAccepted({ work, context }: Loop, now: Instant): void {
  const ordered = context.settings.notifications.delivery.ordering !== 'none';
  for (const accepted of work.accepted.splice(0)) {
    // A look has seen it already.
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

/** Notes every change of the store that concerns the loop. Its own turns change the queues, too: those it knows. */
export async function watch({ context, work, bell }: Loop, signal: AbortSignal): Promise<void> {
  let after = 0;
  while (!signal.aborted) {
    try {
      const reached = await context.storage.waitForChange(deliveryTables, after, signal);
      if (signal.aborted || reached <= after) return;
      after = reached;
      work.reached = reached;
      bell.wake();
    } catch (error) {
      // Nobody waits for this promise but the loop's end.
      const message = error instanceof Error ? error.message : 'unknown';
      context.logger.error({ error: message }, 'The queues of deliveries cannot be watched');
      await context.clock.sleep(second, signal);
    }
  }
}
