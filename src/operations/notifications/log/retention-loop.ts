import { ok } from 'neverthrow';
import { type Delivery, deliveries, deliveryKey, isUnfinished } from '../../../notifications/delivery/delivery.js';
import { type Recovery, recoveries } from '../../../notifications/delivery/recovery.js';
import { events, type StoredEvent } from '../../../notifications/events/event.js';
import { queues } from '../../../notifications/queue/queue-record.js';
import type { ReadView } from '../../../ports/storage.js';
import type { Settings } from '../../../settings.js';
import { hour, type Milliseconds, second } from '../../../shared/duration.js';
import type { Instant } from '../../../shared/instant.js';
import type { Key, Table } from '../../../shared/table.js';
import type { BackgroundLoop, EngineContext } from '../../context/engine-context.js';
import { deliveryOf } from '../../records/delivery-rows.js';
import { changeOrDueTime } from '../../waiting/until-change.js';

/** The maximum number of rows examined and removed in one write, so that other writers are not delayed. */
const batch = 500;

/** Milliseconds between two rounds: an hour, or a quarter of the shortest retention if that is less. */
function pauseOf({ delivered, dead, idempotency }: Settings['notifications']['retention']): Milliseconds {
  return Math.min(hour, Math.max(10 * second, Math.min(delivered, dead, idempotency) / 4));
}

/** Removes deliveries, events and bulk redeliveries whose retention has ended, a batch per write. */
export const retentionLoop: BackgroundLoop = {
  name: 'notification-retention',
  async run(context, signal) {
    while (!signal.aborted) {
      await collectDeliveries(context, signal);
      await collectEvents(context, signal);
      await collectRecoveries(context);
      await untilNotEmpty(context, signal);
      await context.clock.sleep(pauseOf(context.settings.notifications.retention), signal);
    }
  },
};

const logTables = [events, deliveries, recoveries] as readonly Table<unknown>[];

/** Resolves when the log is not empty, or when the signal aborts, so that an empty log is not read every hour. */
async function untilNotEmpty(context: EngineContext, signal: AbortSignal): Promise<void> {
  const seen = await read(context, (view) => ({
    index: view.index,
    empty: logTables.every((table) => view.list<unknown>(table, { limit: 1 }).length === 0),
  }));
  if (!seen.empty) return;
  await changeOrDueTime(context, { tables: logTables, index: seen.index, dueAt: undefined }, signal);
}

/**
 * Reads the log of one configuration after the other, oldest first, up to the first delivery that cannot be old enough: a delivery
 * never ends before it was accepted.
 */
async function collectDeliveries(context: EngineContext, signal: AbortSignal): Promise<void> {
  const { notifications } = context.settings;
  const now = context.clock.now();
  const shortest = Math.min(notifications.retention.delivered, notifications.retention.dead);
  let from: Key = [];
  while (!signal.aborted) {
    const step = await read(context, (view) => {
      const rows = view.list(deliveries, { index: 'log', from, limit: batch }).map((row) => row.record);
      const [first] = rows;
      if (first === undefined) return null;
      const own = rows.filter(({ configurationId }) => configurationId === first.configurationId);
      const young = own.findIndex(({ createdAt }) => createdAt >= now - shortest);
      const looked = young < 0 ? own : own.slice(0, young);
      const last = looked.at(-1);
      // Continues in this configuration, or with the next one.
      const next: Key =
        young >= 0 || last === undefined || own.length < rows.length
          ? [first.configurationId, '']
          : [last.configurationId, last.sequence, ''];
      return { old: looked.filter((delivery) => isOver(delivery, notifications, now)), next };
    });
    if (step === null) return;
    if (step.old.length > 0) await remove(context, step.old);
    from = step.next;
  }
}

function isOver({ state }: Delivery, { retention }: Settings['notifications'], now: Instant): boolean {
  if (isUnfinished(state)) return false;
  const kept = state.type === 'delivered' ? retention.delivered : retention.dead;
  return 'at' in state && state.at < now - kept;
}

async function remove(context: EngineContext, old: readonly Delivery[]): Promise<void> {
  const { notifications } = context.settings;
  const now = context.clock.now();
  const written = await context.storage.write<void, never>((view) => {
    for (const key of old.map(deliveryKey)) {
      const present = view.get(deliveries, key)?.record;
      if (present !== undefined && isOver(present, notifications, now)) view.remove(deliveries, key);
    }
    return ok(undefined);
  });
  if (written.isErr()) throw new Error(written.error.message);
}

/** Events are kept as long as their deliveries and idempotency keys. */
async function collectEvents(context: EngineContext, signal: AbortSignal): Promise<void> {
  const { retention, delivery } = context.settings.notifications;
  const kept = Math.max(Math.max(retention.delivered, retention.dead) + delivery.maximumAge, retention.idempotency);
  const before = context.clock.now() - kept;
  let from = 0;
  while (!signal.aborted) {
    const step = await read(context, (view) => {
      const rows = view.list(events, { from: [from], limit: batch }).map((row) => row.record);
      const old = rows.filter(({ createdAt }) => createdAt < before);
      const more = old.length === batch;
      return { gone: old.filter((event) => !isWaitedFor(view, event)), next: (old.at(-1)?.sequence ?? 0) + 1, more };
    });
    if (step.gone.length > 0) {
      const written = await context.storage.write<void, never>((view) => {
        for (const { sequence } of step.gone) view.remove(events, [sequence]);
        return ok(undefined);
      });
      if (written.isErr()) throw new Error(written.error.message);
    }
    if (!step.more) return;
    from = step.next;
  }
}

/** Ended bulk redeliveries are kept as long as the deliveries that they re-sent. */
async function collectRecoveries(context: EngineContext): Promise<void> {
  const before = context.clock.now() - context.settings.notifications.retention.dead;
  const isOld = ({ finishedAt }: Recovery): boolean => finishedAt !== null && finishedAt < before;
  const found = await read(context, (view) => view.list(recoveries).map(({ record }) => record));
  const old = found.filter(isOld).slice(0, batch);
  if (old.length === 0) return;
  const written = await context.storage.write<void, never>((view) => {
    for (const { id } of old) view.remove(recoveries, [id]);
    return ok(undefined);
  });
  if (written.isErr()) throw new Error(written.error.message);
}

/** Whether a delivery of the event is unfinished. */
function isWaitedFor(view: ReadView, event: StoredEvent): boolean {
  const { notified, sequence } = event;
  return notified.some(({ id }, at) => {
    const delivery = deliveryOf(view, event, at);
    const { position = sequence } = view.get(queues, [id])?.record ?? {};
    return position < sequence || (delivery !== undefined && isUnfinished(delivery.state));
  });
}

async function read<T>(context: EngineContext, work: (view: ReadView) => T): Promise<T> {
  const found = await context.storage.read(work);
  if (found.isErr()) throw new Error(found.error.message);
  return found.value;
}
