import { configurations } from '../../../notifications/configurations/configuration.js';
import { freshDelivery } from '../../../notifications/delivery/fresh-delivery.js';
import { events, lastSequenceOf, type StoredEvent } from '../../../notifications/events/event.js';
import { type HeldQueue, type QueuedDelivery, wantsMore } from '../../../notifications/queue/held-queue.js';
import { type HookHold, hookHolds } from '../../../notifications/queue/hook-hold.js';
import { queues } from '../../../notifications/queue/queue-record.js';
import { transitionQueue } from '../../../notifications/queue/transition-queue.js';
import { users } from '../../../notifications/user.js';
import { workspaces } from '../../../notifications/workspace.js';
import type { ReadView } from '../../../ports/storage.js';
import type { Instant } from '../../../shared/instant.js';
import type { AcceptedEvents } from '../../context/accepted-events.js';
import type { EngineContext } from '../../context/engine-context.js';
import type { DeliveryWork, Held } from './delivery-work.js';
import { loadDestination } from './load-destination.js';
import { readPortion } from './read-queues.js';

/** The result of a scan of the store, to be applied by the loop. */
interface ScanResult {
  /** Queues changed by it. */
  readonly held: readonly Held[];
  /** The sequence up to which events were passed to the queues. */
  readonly tail: number;
  /** Whether there are events beyond the tail. */
  readonly more: boolean;
  /** Index of the last change of the tables that deliveries depend on. */
  readonly reached: number;
  /** Index of the last change of the queues, and of what destinations are made of. */
  readonly queuesIndex: number;
  readonly configurationsIndex: number;
  /** When the next stored queue is due. */
  readonly nextWake: Instant | null;
  /** Paused hooks, if they have changed, with the index of the change. */
  readonly holds: readonly HookHold[];
  readonly holdsIndex: number;
}

/** The most events passed on in one scan. */
const mostEvents = 512;

/**
 * Reads in one snapshot the changes for the queues in memory: new events, queues and configurations changed by other
 * writers (only when `settled`: no turn of this engine is being written), and the next part of queues that have
 * run low. Changes nothing.
 */
export function scan(
  context: EngineContext,
  view: ReadView,
  work: DeliveryWork,
  { now, settled }: { readonly now: Instant; readonly settled: boolean },
): ScanResult {
  const { rows, tail, more } = readTail(view, work.tail);
  const arrivals = arrivalsFor(rows, work, context.settings.notifications.delivery.ordering !== 'none');
  const queuesIndex = view.tableIndex(queues);
  const changedAt = Math.max(view.tableIndex(configurations), view.tableIndex(workspaces), view.tableIndex(users));
  const foreign = settled && queuesIndex !== work.queuesIndex;
  const concerned =
    foreign || changedAt !== work.configurationsIndex
      ? work.held.keys()
      : new Set([...work.toRefill, ...arrivals.keys()]);
  const scanContext: ScanContext = { context, view, work, now };
  const held: Held[] = [];
  for (const configurationId of concerned) {
    const before = work.held.get(configurationId);
    if (before === undefined) continue;
    let next: Held = foreign ? withoutForeignChanges(context, view, before, work) : before;
    if (next.destination === null || next.loadedAt < changedAt) next = withDestination(scanContext, next);
    const fresh = arrivals.get(configurationId);
    if (fresh !== undefined) next = moved(next, { type: 'arrived', fresh, through: tail }, work);
    next = withPortion(scanContext, next);
    if (next !== before) held.push(next);
  }
  const holdsIndex = view.tableIndex(hookHolds);
  const holds = holdsIndex === work.hooks.index ? [] : view.list(hookHolds).map((row) => row.record);
  const reached = Math.max(view.tableIndex(events), queuesIndex, changedAt, holdsIndex);
  const indexes = { reached, queuesIndex, configurationsIndex: changedAt, holdsIndex };
  return { held, tail, more, holds, ...indexes, nextWake: nextWakeOf(view) };
}

/**
 * Applies events accepted by this process without a scan of the store: returns the queues with the new deliveries, or null when
 * there were other changes since the last scan; then the store must be read.
 */
export function passOn(work: DeliveryWork, accepted: AcceptedEvents, ordered: boolean): readonly Held[] | null {
  if (work.changed || work.tail === null || accepted.before > work.known) return null;
  const through = lastSequenceOf(accepted.after);
  const rows = accepted.rows.map((row) => row.record);
  return Array.from(arrivalsFor(rows, work, ordered), ([configurationId, fresh]) =>
    moved(work.held.get(configurationId) as Held, { type: 'arrived', fresh, through }, work),
  );
}

/** The context of a scan of the store. */
interface ScanContext {
  readonly context: EngineContext;
  readonly view: ReadView;
  readonly work: DeliveryWork;
  readonly now: Instant;
}

/** When the first waiting queue is due. */
function nextWakeOf(view: ReadView): ScanResult['nextWake'] {
  const first = view.list(queues, { index: 'by_wake', limit: 1 })[0]?.record;
  return first === undefined ? null : (first.lease?.until ?? first.wakeAt);
}

/** The events since the last scan, and the sequence up to which they were read; `more`: whether there are others. */
function readTail(view: ReadView, from: number | null): { rows: readonly StoredEvent[]; tail: number; more: boolean } {
  const rows = from === null ? [] : view.list(events, { from: [from + 1], limit: mostEvents }).map((row) => row.record);
  const last = rows.at(-1);
  const more = rows.length === mostEvents;
  return { rows, more, tail: more && last !== undefined ? last.sequence : lastSequenceOf(view.index) };
}

function arrivalsFor(
  found: readonly StoredEvent[],
  work: DeliveryWork,
  ordered: boolean,
): Map<string, QueuedDelivery[]> {
  const arrivals = new Map<string, QueuedDelivery[]>();
  for (const event of found) {
    for (const [position, { id }] of event.notified.entries()) {
      const queue = work.held.get(id)?.queue;
      if (queue?.type !== 'delivering' || !queue.complete) continue;
      const item = { delivery: freshDelivery(event, position, ordered), stored: false, event };
      const list = arrivals.get(id);
      if (list === undefined) arrivals.set(id, [item]);
      else list.push(item);
    }
  }
  return arrivals;
}

function moved(held: Held, event: Parameters<typeof transitionQueue>[1], work: DeliveryWork): Held {
  return { ...held, queue: transitionQueue(held.queue, event, work.rules) };
}

/** The queue after a change by another writer. */
function withoutForeignChanges(context: EngineContext, view: ReadView, held: Held, work: DeliveryWork): Held {
  const row = view.get(queues, [held.queue.configurationId]);
  if (row?.modifyIndex === held.rowIndex) return held;
  if (row === undefined || row.record.lease?.owner !== context.owner) return moved(held, { type: 'lost' }, work);
  const next = moved(held, { type: 'touched', record: row.record }, work);
  return { ...next, rowIndex: row.modifyIndex };
}

function withDestination({ context, view, work }: ScanContext, held: Held): Held {
  const destination = loadDestination(context, view, held.queue.configurationId);
  const next: Held = { ...held, destination, loadedAt: view.index };
  if (destination.type !== 'closed') return next;
  const cancellation = { through: lastSequenceOf(view.index), at: context.clock.now(), reason: destination.reason };
  return moved(next, { type: 'closed', cancellation }, work);
}

function withPortion({ context, view, work, now }: ScanContext, held: Held): Held {
  const { queue }: { queue: HeldQueue } = held;
  if (queue.type === 'lost' || !wantsMore(queue, now, work.rules)) return held;
  const ordered = context.settings.notifications.delivery.ordering !== 'none';
  const portion = readPortion(view, queue, { now, window: work.rules.window, ordered });
  return moved(held, { type: 'filled', portion }, work);
}
