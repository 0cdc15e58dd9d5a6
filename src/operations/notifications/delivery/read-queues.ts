import { type Delivery, deliveries, isInOrder } from '../../../notifications/delivery/delivery.js';
import { freshDelivery, positionOf } from '../../../notifications/delivery/fresh-delivery.js';
import { events, lastSequenceOf, type StoredEvent } from '../../../notifications/events/event.js';
import {
  type CancellingQueue,
  type DeliveringQueue,
  knownSequences,
  type QueuedDelivery,
} from '../../../notifications/queue/held-queue.js';
import type { Portion } from '../../../notifications/queue/transition-queue.js';
import type { ReadView } from '../../../ports/storage.js';
import type { Instant } from '../../../shared/instant.js';

/*
 * Reads the stored part of a queue for `transitionQueue`: due rows, and accepted deliveries without a row, which are derived from
 * the events.
 */

interface ReadRules {
  readonly now: Instant;
  /** The number of requested deliveries, separately for first attempts and retries. */
  readonly window: number;
  /** Whether notifications of a run keep their order. */
  readonly ordered: boolean;
}

/** The most runs with a waiting head that are kept in memory; beyond it, they are looked up one by one. */
const mostStalledRuns = 4096;
/** The most events read for one portion, including those for other configurations. */
const mostScanned = 2048;

export function readPortion(view: ReadView, queue: DeliveringQueue | CancellingQueue, rules: ReadRules): Portion {
  return queue.type === 'cancelling' ? readToCancel(view, queue, rules) : readToDeliver(view, queue, rules);
}

function readToDeliver(view: ReadView, queue: DeliveringQueue, rules: ReadRules): Portion {
  const known = knownSequences(queue);
  const { rows, nextDue } = readDue(view, queue, known.size, rules);
  const fresh = queue.complete
    ? nothingFresh(queue)
    : readFresh(view, queue, known, { ...rules, through: Number.POSITIVE_INFINITY });
  const stalled =
    queue.runsRead === 'unread'
      ? readStalledRuns(view, queue)
      : { heads: queue.runsRead === 'whole' ? [] : stalledRunsOf(view, queue, fresh.fresh), read: queue.runsRead };
  return { ...fresh, rows, nextDue, ...runsFrom(stalled.heads), runsRead: stalled.read };
}

function readDue(
  view: ReadView,
  { configurationId, retries }: DeliveringQueue,
  known: number,
  { now, window }: ReadRules,
): { rows: Delivery[]; nextDue: Instant | null } {
  const limit = Math.max(0, window - retries.length) + known;
  // Numbers sort before strings: everything that is due by now.
  const end = [configurationId, now, ''];
  const rows = view.list(deliveries, { index: 'due', from: [configurationId], to: end, limit });
  const found = rows.map((row) => row.record);
  const last = found.at(-1);
  const next =
    found.length < limit
      ? view.list(deliveries, { index: 'due', from: end, to: [configurationId, ''], limit: 1 })[0]?.record
      : last;
  return { rows: found, nextDue: next !== undefined && 'dueAt' in next.state ? next.state.dueAt : null };
}

function nothingFresh({ readThrough, complete }: DeliveringQueue): Pick<Portion, 'fresh' | 'readThrough' | 'complete'> {
  return { fresh: [], readThrough, complete };
}

/** Deliveries accepted after the queue's `readThrough` without a row. */
function readFresh(
  view: ReadView,
  queue: DeliveringQueue | CancellingQueue,
  known: ReadonlySet<number>,
  { window, ordered, through }: ReadRules & { readonly through: number },
): Pick<Portion, 'fresh' | 'readThrough' | 'complete'> {
  const { configurationId, workspaceId } = queue;
  const fresh: QueuedDelivery[] = [];
  let { readThrough } = queue;
  for (let scanned = 0; fresh.length < window && scanned < mostScanned; scanned += window) {
    const range = { from: [workspaceId, readThrough + 1], to: [workspaceId, Math.min(through, snapshotEnd(view)) + 1] };
    const rows = view.list(events, { index: 'by_workspace', ...range, limit: window });
    const found = rows.map((row) => row.record);
    fresh.push(
      ...withoutRow(view, configurationId, found, ordered).filter((item) => !known.has(item.delivery.sequence)),
    );
    if (rows.length < window) return { fresh, readThrough: Math.max(readThrough, snapshotEnd(view)), complete: true };
    readThrough = (found.at(-1) as StoredEvent).sequence;
  }
  return { fresh, readThrough, complete: false };
}

function snapshotEnd(view: ReadView): number {
  return lastSequenceOf(view.index);
}

/** The deliveries of these events to the configuration that have no row. */
function withoutRow(
  view: ReadView,
  configurationId: string,
  found: readonly StoredEvent[],
  ordered: boolean,
): QueuedDelivery[] {
  const [first] = found;
  const last = found.at(-1);
  if (first === undefined || last === undefined) return [];
  const range = { from: [configurationId, first.sequence], to: [configurationId, last.sequence + 1] };
  const present = new Set(view.list(deliveries, range).map((row) => row.record.sequence));
  return found.flatMap((event) => {
    const position = present.has(event.sequence) ? -1 : positionOf(event, configurationId);
    return position < 0 ? [] : [{ delivery: freshDelivery(event, position, ordered), stored: false, event }];
  });
}

/** The first unfinished notification of a run in the store. */
interface StoredHead extends Delivery {
  readonly orderKey: string;
}

function runsFrom(heads: readonly StoredHead[]): Pick<Portion, 'stalled' | 'unreleased'> {
  return {
    stalled: new Map(heads.map(({ orderKey, sequence }) => [orderKey, sequence])),
    unreleased: heads.filter(({ state }) => state.type === 'behind').map(({ orderKey }) => orderKey),
  };
}

function isOfRun(delivery: Delivery): delivery is StoredHead {
  return delivery.orderKey !== null;
}

function readStalledRuns(
  view: ReadView,
  { configurationId }: DeliveringQueue,
): { heads: readonly StoredHead[]; read: 'partial' | 'whole' } {
  const prefix = [configurationId];
  const rows = view.list(deliveries, { index: 'unfinished_of_run', prefix, limit: mostStalledRuns });
  const heads = new Map<string, StoredHead>();
  for (const { record } of rows) {
    if (isOfRun(record) && !heads.has(record.orderKey)) heads.set(record.orderKey, record);
  }
  return { heads: [...heads.values()], read: rows.length < mostStalledRuns ? 'whole' : 'partial' };
}

/** Blocked runs of the given deliveries, if the store has too many to keep all in memory. */
function stalledRunsOf(
  view: ReadView,
  { configurationId, runs, stalled }: DeliveringQueue,
  fresh: readonly QueuedDelivery[],
): readonly StoredHead[] {
  const found = new Map<string, StoredHead>();
  for (const { delivery } of fresh) {
    const { orderKey } = delivery;
    if (orderKey === null || runs.has(orderKey) || stalled.has(orderKey) || found.has(orderKey)) continue;
    const prefix = [configurationId, orderKey];
    const head = view.list(deliveries, { index: 'unfinished_of_run', prefix, limit: 1 })[0]?.record;
    if (head !== undefined && isOfRun(head) && isInOrder(head.state)) found.set(orderKey, head);
  }
  return [...found.values()];
}

function readToCancel(view: ReadView, queue: CancellingQueue, rules: ReadRules): Portion {
  const known = knownSequences(queue);
  const { configurationId, cancellation } = queue;
  const { through } = cancellation;
  const range = { from: [configurationId], to: [configurationId, through + 1], limit: rules.window + known.size };
  const rows = view.list(deliveries, { index: 'unfinished', ...range }).map((row) => row.record);
  const fresh = readFresh(view, queue, known, { ...rules, through });
  const complete = fresh.complete && rows.length < range.limit;
  return { ...fresh, rows, complete, nextDue: null, ...runsFrom([]), runsRead: 'unread' };
}
