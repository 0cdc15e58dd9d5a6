import {
  type Delivery,
  type DeliveryOutcome,
  deliveries,
  isUnfinished,
} from '../../../notifications/delivery/delivery.js';
import { freshDelivery, positionOf } from '../../../notifications/delivery/fresh-delivery.js';
import { type RecoverableOutcome, recoverableOutcome } from '../../../notifications/delivery/recovery.js';
import { transitionDelivery } from '../../../notifications/delivery/transition-delivery.js';
import { events, type StoredEvent } from '../../../notifications/events/event.js';
import { hasNothingNew, type QueueRecord, queues } from '../../../notifications/queue/queue-record.js';
import type { ReadView } from '../../../ports/storage.js';

/*
 * The delivery log of one configuration: newest first, the deliveries that were not attempted yet and are derived from their events,
 * then the rows of all others.
 */

/** The configuration of the log. */
export interface LogOwner {
  readonly configurationId: string;
  readonly workspaceId: string;
  /** Null if there is none, because the configuration was deleted and nothing is unfinished. */
  readonly queue: QueueRecord | null;
  readonly ordered: boolean;
}

export function logOwner(view: ReadView, configurationId: string, workspaceId: string, ordered: boolean): LogOwner {
  const queue = view.get(queues, [configurationId])?.record ?? null;
  return { configurationId, workspaceId, queue, ordered };
}

/** Rows and events per read. */
const chunk = 64;

/** The log from the newest to the oldest; with `below`, only what was accepted before that sequence. */
export function* newestFirst(view: ReadView, owner: LogOwner, below = Number.MAX_SAFE_INTEGER): Generator<Delivery> {
  const fresh = freshOnes(view, owner, below);
  let next = fresh.next();
  for (const row of rowsBelow(view, owner, below)) {
    for (; !next.done && next.value.sequence > row.sequence; next = fresh.next()) yield next.value;
    if (!next.done && next.value.sequence === row.sequence) next = fresh.next();
    yield asItStands(row, owner.queue);
  }
  for (; !next.done; next = fresh.next()) yield next.value;
}

/** Deliveries that ended with one of the outcomes other than `delivered`, latest end first. */
export function* failedOnes(
  view: ReadView,
  { configurationId }: LogOwner,
  outcome: RecoverableOutcome,
  below: readonly [at: number, sequence: number] | null = null,
): Generator<Delivery> {
  const from = [configurationId, outcome];
  let to = below === null ? [configurationId, outcome, ''] : [configurationId, outcome, ...below];
  for (;;) {
    const rows = view.list(deliveries, { index: 'failed', from, to, reverse: true, limit: chunk });
    for (const { record } of rows) yield record;
    const last = rows.at(-1)?.record;
    if (last === undefined || rows.length < chunk || !('at' in last.state)) return;
    to = [configurationId, outcome, last.state.at, last.sequence];
  }
}

/** Unfinished deliveries, newest first. */
export function* unfinishedOnes(view: ReadView, owner: LogOwner, below = Number.MAX_SAFE_INTEGER): Generator<Delivery> {
  const stored = rowsBelow(view, owner, below, 'unfinished');
  let row = stored.next();
  for (const fresh of freshOnes(view, owner, below)) {
    for (; !row.done && row.value.sequence > fresh.sequence; row = stored.next()) yield row.value;
    if (isUnfinished(fresh.state)) yield fresh;
  }
  for (; !row.done; row = stored.next()) {
    if (isUnfinished(asItStands(row.value, owner.queue).state)) yield row.value;
  }
}

/** The delivery for callers: one that is being cancelled counts as cancelled from the time of the decision. */
export function asItStands(delivery: Delivery, queue: QueueRecord | null): Delivery {
  const cancellation = queue?.cancellation ?? null;
  if (cancellation === null || delivery.sequence > cancellation.through) return delivery;
  const { at, reason } = cancellation;
  const state = transitionDelivery(delivery.state, { type: 'cancelled', at, reason });
  return state.isOk() ? { ...delivery, state: state.value } : delivery;
}

function* rowsBelow(
  view: ReadView,
  { configurationId }: LogOwner,
  below: number,
  index?: 'unfinished',
): Generator<Delivery> {
  let to: readonly [string, number] = [configurationId, below];
  for (;;) {
    const range = { from: [configurationId], to, reverse: true, limit: chunk };
    const rows = view.list(deliveries, index === undefined ? range : { ...range, index });
    for (const { record } of rows) yield record;
    const last = rows.at(-1)?.record;
    if (last === undefined || rows.length < chunk) return;
    to = [configurationId, last.sequence];
  }
}

/** Deliveries accepted after the queue's position without a row, newest first. */
function* freshOnes(view: ReadView, owner: LogOwner, below: number): Generator<Delivery> {
  const { configurationId, workspaceId, queue, ordered } = owner;
  if (queue === null || hasNothingNew(queue)) return;
  const from = [workspaceId, queue.position + 1];
  let to: readonly [string, number] = [workspaceId, below];
  for (;;) {
    const rows = view.list(events, { index: 'by_workspace', from, to, reverse: true, limit: chunk });
    for (const { record: event } of rows) {
      const position = positionOf(event, configurationId);
      if (position < 0 || view.get(deliveries, [configurationId, event.sequence]) !== undefined) continue;
      yield asItStands(freshDelivery(event, position, ordered), queue);
    }
    const last: StoredEvent | undefined = rows.at(-1)?.record;
    if (last === undefined || rows.length < chunk) return;
    to = [workspaceId, last.sequence];
  }
}

/** Whether the index of failed deliveries contains the outcome. */
export function isFailed(outcome: DeliveryOutcome | null): outcome is RecoverableOutcome {
  return recoverableOutcome(outcome) !== undefined;
}
