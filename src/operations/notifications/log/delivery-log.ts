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
 * The delivery log of one configuration: stored deliveries, preceded by those without a transition, which are derived from
 * their events.
 */

/** The configuration whose log is read. */
export interface LogOwner {
  readonly configurationId: string;
  readonly workspaceId: string;
  /** Null when there is none: nothing is unfinished, and nothing was cancelled by a deletion. */
  readonly queue: QueueRecord | null;
  readonly ordered: boolean;
}

export function logOwner(view: ReadView, configurationId: string, workspaceId: string, ordered: boolean): LogOwner {
  const queue = view.get(queues, [configurationId])?.record ?? null;
  return { configurationId, workspaceId, queue, ordered };
}

/** Rows and events read in one step. */
const chunk = 64;

/** The log, newest first; with `below`, only deliveries with a lower sequence. */
export function* newestFirst(view: ReadView, owner: LogOwner, below = Number.MAX_SAFE_INTEGER): Generator<Delivery> {
  const fresh = freshDeliveries(view, owner, below);
  let next = fresh.next();
  for (const row of rowsBelow(view, owner, below)) {
    for (; !next.done && next.value.sequence > row.sequence; next = fresh.next()) yield next.value;
    if (!next.done && next.value.sequence === row.sequence) next = fresh.next();
    yield currentState(row, owner.queue);
  }
  for (; !next.done; next = fresh.next()) yield next.value;
}

/** Deliveries that ended without full success with this outcome, latest end first. */
export function* failedDeliveries(
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
export function* unfinishedDeliveries(
  view: ReadView,
  owner: LogOwner,
  below = Number.MAX_SAFE_INTEGER,
): Generator<Delivery> {
  const stored = rowsBelow(view, owner, below, 'unfinished');
  let row = stored.next();
  for (const fresh of freshDeliveries(view, owner, below)) {
    for (; !row.done && row.value.sequence > fresh.sequence; row = stored.next()) yield row.value;
    if (isUnfinished(fresh.state)) yield fresh;
  }
  for (; !row.done; row = stored.next()) {
    if (isUnfinished(currentState(row.value, owner.queue).state)) yield row.value;
  }
}

/** The delivery as a caller sees it: a delivery that is being cancelled counts as cancelled since the decision. */
export function currentState(delivery: Delivery, queue: QueueRecord | null): Delivery {
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

/** Deliveries after the queue's position that have no row, newest first. */
function* freshDeliveries(view: ReadView, owner: LogOwner, below: number): Generator<Delivery> {
  const { configurationId, workspaceId, queue, ordered } = owner;
  if (queue === null || hasNothingNew(queue)) return;
  const from = [workspaceId, queue.position + 1];
  let to: readonly [string, number] = [workspaceId, below];
  for (;;) {
    const rows = view.list(events, { index: 'by_workspace', from, to, reverse: true, limit: chunk });
    for (const { record: event } of rows) {
      const position = positionOf(event, configurationId);
      if (position < 0 || view.get(deliveries, [configurationId, event.sequence]) !== undefined) continue;
      yield currentState(freshDelivery(event, position, ordered), queue);
    }
    const last: StoredEvent | undefined = rows.at(-1)?.record;
    if (last === undefined || rows.length < chunk) return;
    to = [workspaceId, last.sequence];
  }
}

/** Whether deliveries with this outcome are in the index `failed`. */
export function isFailed(outcome: DeliveryOutcome | null): outcome is RecoverableOutcome {
  return recoverableOutcome(outcome) !== undefined;
}
