import { configurations } from '../../../notifications/configurations/configuration.js';
import { deliveries } from '../../../notifications/delivery/delivery.js';
import { positionOf } from '../../../notifications/delivery/fresh-delivery.js';
import { events, writesBetween } from '../../../notifications/events/event.js';
import type { HeldQueue } from '../../../notifications/queue/held-queue.js';
import { wakeAtOf } from '../../../notifications/queue/next-record.js';
import { type QueueRecord, queues } from '../../../notifications/queue/queue-record.js';
import type { ReadView, Row, WriteView } from '../../../ports/storage.js';
import type { Instant } from '../../../shared/instant.js';
import type { EngineContext } from '../../context/engine-context.js';

/** The state of a queue at the start of the turn. */
export interface TurnQueue {
  readonly queue: HeldQueue;
  /** Write index of its row after this engine's last write; if it differs, another writer has changed the row. */
  readonly rowIndex: number;
  /** Whether to release it if nothing in the store is due soon. */
  readonly release: 'no' | 'idle' | 'stopping';
}

export interface HeldRow {
  readonly record: QueueRecord;
  readonly rowIndex: number;
}

/** The row of a queue that stays leased by this engine. */
export interface KeptRow extends HeldRow {
  /** The lease was renewed. */
  readonly renewed: boolean;
}

/** The write of a turn, and its time. */
export interface TurnContext {
  readonly context: EngineContext;
  readonly view: WriteView;
  readonly now: Instant;
}

/** Writes the row if it has changed: the lease is renewed after a quarter of its time, or released. */
export function renewOrRelease(
  { context, view, now }: TurnContext,
  turn: TurnQueue,
  row: Row<QueueRecord>,
  next: QueueRecord,
): KeptRow | null {
  const { delivery } = context.settings.notifications;
  const given = turn.release === 'no' ? null : releasedRow({ context, view, now }, turn, next);
  if (given !== null) {
    if (given === 'over') view.remove(queues, [next.configurationId]);
    else view.put(queues, given);
    return null;
  }
  const until = row.record.lease?.until ?? now;
  const renewed = until - now <= delivery.lease * 0.75;
  const record = renewed ? { ...next, lease: { owner: context.owner, until: now + delivery.lease } } : next;
  if (!renewed && !turnsRow(row.record, record)) return { record: row.record, rowIndex: row.modifyIndex, renewed };
  view.put(queues, record);
  return { record, rowIndex: view.index, renewed };
}

/** The most events by which the stored position may lag: the next owner looks up this number of rows without result. */
const positionLag = 64;

/** Whether the row must be written: not for a small change of the position alone. */
function turnsRow(before: QueueRecord, after: QueueRecord): boolean {
  if (writesBetween(before.position, after.position) >= positionLag) return true;
  return JSON.stringify({ ...before, position: 0 }) !== JSON.stringify({ ...after, position: 0 });
}

/** The row without a lease; `over` if the queue has ended with its configuration; null if the lease must be kept. */
function releasedRow(
  { context, view, now }: TurnContext,
  { queue, release }: TurnQueue,
  next: QueueRecord,
): QueueRecord | 'over' | null {
  const { delivery } = context.settings.notifications;
  const { configurationId } = next;
  const wakeAt = wakeAtOf(next, remainderOf(view, next), { now, wall: context.clock.now() }, delivery);
  if (release === 'idle' && wakeAt !== null && wakeAt <= now + delivery.linger) return null;
  const gone = wakeAt === null && view.get(configurations, [configurationId]) === undefined;
  const { backlog: _served, ...rest } = next;
  return gone && queue.type !== 'lost' ? 'over' : { ...rest, wakeAt, lease: null };
}

/** The most events searched for one that notifies the configuration; if none does, the queue is checked again later. */
const mostUnread = 64;

/** Acceptance time of the first event after the position that notifies the configuration, or null. */
function firstUnread(view: ReadView, { configurationId, workspaceId, position }: QueueRecord): Instant | null {
  const range = { from: [workspaceId, position + 1], to: [workspaceId, ''], limit: mostUnread };
  const found = view.list(events, { index: 'by_workspace', ...range }).map((row) => row.record);
  const first = found.find((event) => positionOf(event, configurationId) >= 0);
  return first?.createdAt ?? (found.length === mostUnread ? (found[0]?.createdAt ?? null) : null);
}

/** The remaining deliveries of a queue in the store. */
function remainderOf(view: ReadView, record: QueueRecord): Parameters<typeof wakeAtOf>[1] {
  const prefix = [record.configurationId];
  const due = view.list(deliveries, { index: 'due', prefix, limit: 1 })[0]?.record;
  const oldest = view.list(deliveries, { index: 'unfinished', prefix, limit: 1 })[0]?.record;
  return {
    firstFresh: firstUnread(view, record),
    firstDue: due !== undefined && 'dueAt' in due.state ? due.state.dueAt : null,
    firstStored: oldest?.createdAt ?? null,
  };
}
