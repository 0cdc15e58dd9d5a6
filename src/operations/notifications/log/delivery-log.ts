import {
  type Delivery,
  type DeliveryOutcome,
  deliveries,
  isUnfinished,
} from '../../../notifications/delivery/delivery.js';
import {
  type RecoverableOutcome,
  type Recovery,
  type RecoveryFilter,
  recoverableOutcome,
} from '../../../notifications/delivery/recovery.js';
import { transitionDelivery } from '../../../notifications/delivery/transition-delivery.js';
import { type QueueRecord, queues } from '../../../notifications/queue/queue-record.js';
import type { ReadView } from '../../../ports/storage.js';

/* The delivery log of one configuration. */

/** The configuration whose log is read. */
export interface LogOwner {
  readonly configurationId: string;
  /** Null when there is none: nothing is unfinished, and nothing was cancelled by a deletion. */
  readonly queue: QueueRecord | null;
}

export function logOwner(view: ReadView, configurationId: string): LogOwner {
  return { configurationId, queue: view.get(queues, [configurationId])?.record ?? null };
}

/** Rows read in one step. */
const chunk = 64;

/** The log, newest first; with `below`, only deliveries with a lower sequence. */
export function* newestFirst(view: ReadView, owner: LogOwner, below = Number.MAX_SAFE_INTEGER): Generator<Delivery> {
  for (const row of rowsBelow(view, owner, below)) yield currentState(row, owner.queue);
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
  for (const row of rowsBelow(view, owner, below, 'unfinished')) {
    if (isUnfinished(currentState(row, owner.queue).state)) yield row;
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
  index: 'log' | 'unfinished' = 'log',
): Generator<Delivery> {
  let to: readonly [string, number] = [configurationId, below];
  for (;;) {
    const rows = view.list(deliveries, { index, from: [configurationId], to, reverse: true, limit: chunk });
    for (const { record } of rows) yield record;
    const last = rows.at(-1)?.record;
    if (last === undefined || rows.length < chunk) return;
    to = [configurationId, last.sequence];
  }
}

/** Whether deliveries with this outcome are in the index `failed`. */
export function isFailed(outcome: DeliveryOutcome | null): outcome is RecoverableOutcome {
  return recoverableOutcome(outcome) !== undefined;
}

/** The maximum number of deliveries read at once. */
export const readAtOnce = 500;

/** Whether a bulk redelivery re-sends the delivery. Erased events have nothing to send. */
export function isSelected(delivery: Delivery, { trigger }: Pick<RecoveryFilter, 'trigger'>): boolean {
  return delivery.erased !== true && (trigger === null || trigger === delivery.trigger);
}

/** Deliveries of a configuration that ended in the time range, oldest end first, beginning after `after`. */
export function endedDeliveries(
  view: ReadView,
  configurationId: string,
  { outcome, since, until, limit = readAtOnce }: Omit<RecoveryFilter, 'trigger'> & { readonly limit?: number },
  after: Recovery['reached'],
): Delivery[] {
  const from = after === null ? [configurationId, outcome, since] : [configurationId, outcome, after[0], after[1] + 1];
  const range = { from, to: [configurationId, outcome, until], limit };
  return view.list(deliveries, { index: 'failed', ...range }).map(({ record }) => record);
}
