import { ok } from 'neverthrow';
import {
  bodyKeyOf,
  type Delivery,
  deliveries,
  deliveryBodies,
  type SettledState,
} from '../../notifications/delivery.js';
import { events } from '../../notifications/event.js';
import type { WriteView } from '../../ports/storage.js';
import { hour } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import type { Key } from '../../shared/table.js';
import type { BackgroundLoop, EngineContext } from '../shared/context.js';

/** Rows removed in one write, so that other writers get their turn. */
const batch = 500;
const pause = hour;
const settledTypes: readonly SettledState['type'][] = ['delivered', 'dead', 'cancelled'];

/** Removes deliveries and events whose time in the log is over, a piece per write. */
export const retentionLoop: BackgroundLoop = {
  name: 'notification-retention',
  async run(context, signal) {
    while (!signal.aborted) {
      await collectOnce(context, signal);
      await context.clock.sleepUntil(context.clock.now() + pause, signal);
    }
  },
};

async function collectOnce(context: EngineContext, signal: AbortSignal): Promise<void> {
  let after: string | null = null;
  while (!signal.aborted) {
    const step: { next: string | null; more: boolean } | null = await collectFrom(context, after);
    if (step === null) break;
    if (!step.more) after = step.next;
  }
  while (!signal.aborted && (await removeOldEvents(context))) {
    // A full batch was removed; there may be more.
  }
}

/** Looks at the first configuration after the given one that has finished deliveries; null when there is none. */
async function collectFrom(
  context: EngineContext,
  after: string | null,
): Promise<{ next: string | null; more: boolean } | null> {
  const now = context.clock.now();
  const from: Key = after === null ? [] : [after, 'zzzz'];
  const look = await context.storage.read((view) => {
    const first = view.list(deliveries, { index: 'settled', from, limit: 1 })[0]?.record;
    if (first === undefined) return null;
    const due = settledTypes.some((type) => oldOnes(view, first.configurationId, type, context, now, 1).length > 0);
    return { configurationId: first.configurationId, due };
  });
  if (look.isErr()) throw new Error(look.error.message);
  if (look.value === null) return null;
  const { configurationId, due } = look.value;
  if (!due) return { next: configurationId, more: false };
  const written = await context.storage.write<boolean, never>((view) => {
    let removed = 0;
    for (const type of settledTypes) {
      for (const delivery of oldOnes(view, configurationId, type, context, now, batch - removed)) {
        view.remove(deliveries, [delivery.id]);
        view.remove(deliveryBodies, bodyKeyOf(delivery));
        removed += 1;
      }
    }
    return ok(removed === batch);
  });
  if (written.isErr()) throw new Error(written.error.message);
  return { next: configurationId, more: written.value.value };
}

function oldOnes(
  view: Pick<WriteView, 'list'>,
  configurationId: string,
  type: SettledState['type'],
  context: EngineContext,
  now: Instant,
  limit: number,
): Delivery[] {
  if (limit <= 0) return [];
  const { retention } = context.settings.notifications;
  const before = now - (type === 'delivered' ? retention.delivered : retention.dead);
  const range = { from: [configurationId, type], to: [configurationId, type, before] };
  return view.list(deliveries, { index: 'settled', ...range, limit }).map((row) => row.record);
}

/** Events are needed as long as a delivery of theirs may be, and their idempotency keys hold. */
async function removeOldEvents(context: EngineContext): Promise<boolean> {
  const { retention } = context.settings.notifications;
  const before = context.clock.now() - Math.max(retention.delivered, retention.dead, retention.idempotency);
  const oldest = await context.storage.read(
    (view) => view.list(events, { index: 'by_sequence', limit: 1 })[0]?.record.createdAt,
  );
  if (oldest.isErr()) throw new Error(oldest.error.message);
  if (oldest.value === undefined || oldest.value >= before) return false;
  const written = await context.storage.write<boolean, never>((view) => {
    const rows = view.list(events, { index: 'by_sequence', limit: batch });
    const old = rows.filter(({ record }) => record.createdAt < before);
    for (const { record } of old) view.remove(events, [record.id]);
    return ok(old.length === batch);
  });
  if (written.isErr()) throw new Error(written.error.message);
  return written.value.value;
}
