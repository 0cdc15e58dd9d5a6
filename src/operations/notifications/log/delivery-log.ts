import type { DestinationKind } from '../../../notifications/configurations/destination.js';
import { answeredAs } from '../../../notifications/delivery/answer-filter.js';
import {
  type Attempt,
  type Delivery,
  type DeliveryOutcome,
  deliveries,
  isUnfinished,
  outcomeOf,
  type RecipientResult,
} from '../../../notifications/delivery/delivery.js';
import {
  type RecoverableOutcome,
  type Recovery,
  type RecoveryFilter,
  recoverableOutcome,
} from '../../../notifications/delivery/recovery.js';
import { transitionDelivery } from '../../../notifications/delivery/transition-delivery.js';
import { type QueueRecord, queues, type WaitReason } from '../../../notifications/queue/queue-record.js';
import type { ReadView } from '../../../ports/storage.js';
import { queueTime, timelines, wallTimeOf } from '../../../queue/process.js';
import { type Instant, isoFromInstant } from '../../../shared/instant.js';
import type { EngineContext } from '../../context/engine-context.js';
import { StoreClock } from '../../context/store-clock.js';

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

/** Whether a bulk redelivery re-sends the delivery. Erased events have nothing to send, and samples are not missed. */
export function isSelected(delivery: Delivery, of: Pick<RecoveryFilter, 'trigger' | 'status'>): boolean {
  const { erased, sample, trigger, attempts } = delivery;
  if (erased === true || sample === true || (of.trigger ?? trigger) !== trigger) return false;
  return answeredAs(of.status)?.(attempts.at(-1)) === true;
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

/** A line of the delivery log. All times are RFC 3339 in UTC with milliseconds. */
export interface DeliverySummary {
  /** `nd-` and 16 characters. */
  readonly id: string;
  /** The workspace of the event and of the configuration. */
  readonly workspaceId: string;
  /** The configuration that is notified. */
  readonly configurationId: string;
  /** The event of the notification. */
  readonly eventId: string;
  /** The kind of the destination when the event was accepted. */
  readonly kind: DestinationKind;
  /** A trigger, or the name of an event type. */
  readonly trigger: string;
  /** Whether its event is a sample, which only this configuration is notified of. */
  readonly sample: boolean;
  /** How it ended, or `pending`. */
  readonly outcome: DeliveryOutcome;
  /** Why it ended without success; null otherwise. */
  readonly reason: string | null;
  /** When the event was accepted. */
  readonly createdAt: string;
  /** When the next attempt is due; null when none is. */
  readonly nextAttemptAt: string | null;
  /** Why a pending delivery waits, and until when if known. Null when nothing blocks it or it has ended. */
  readonly waitsFor: { readonly reason: WaitReason; readonly until: string | null } | null;
  /** When it ended; null while pending. */
  readonly settledAt: string | null;
  /** The number of attempts over its whole life, including redeliveries. */
  readonly attemptCount: number;
  /** The status code of the last attempt; null without a response or an attempt. */
  readonly lastStatus: number | null;
  /** The `FailureClass` of the last attempt; null after a success or without an attempt. */
  readonly lastFailure: string | null;
}

/** A delivery with its attempts in full and the sent body. */
export interface DeliveryDetails extends DeliverySummary {
  /** The latest 50, oldest first. */
  readonly attempts: readonly (Omit<Attempt, 'startedAt' | 'request'> & {
    readonly startedAt: string;
    /** Null for e-mail, and when nothing was to be sent or an earlier version made the attempt. */
    readonly request: NonNullable<Attempt['request']> | null;
  })[];
  /** E-mail: the result for each recipient. */
  readonly recipients: readonly (Omit<RecipientResult, 'at'> & { readonly at: string })[];
  /** The sent body; null when it can no longer be rendered. */
  readonly body: string | null;
}

/** The log's information about an unfinished delivery. */
export interface Pending {
  readonly nextAttemptAt: Instant | null;
  readonly waitsFor: { readonly reason: WaitReason; readonly until: Instant | null } | null;
}

export function summariseDelivery(delivery: Delivery, pending: Pending | null): DeliverySummary {
  const last = delivery.attempts.at(-1);
  return {
    id: delivery.id,
    workspaceId: delivery.workspaceId,
    configurationId: delivery.configurationId,
    eventId: delivery.eventId,
    kind: delivery.kind,
    trigger: delivery.trigger,
    sample: delivery.sample ?? false,
    outcome: outcomeOf(delivery.state),
    reason: 'reason' in delivery.state ? delivery.state.reason : null,
    createdAt: isoFromInstant(delivery.createdAt),
    nextAttemptAt: shownTime(pending?.nextAttemptAt),
    waitsFor: shownWait(pending),
    settledAt: 'at' in delivery.state ? isoFromInstant(delivery.state.at) : null,
    attemptCount: last?.number ?? 0,
    lastStatus: last?.status ?? null,
    lastFailure: last?.failure?.class ?? null,
  };
}

export function describeDelivery(delivery: Delivery, pending: Pending | null, body: string | null): DeliveryDetails {
  return {
    ...summariseDelivery(delivery, pending),
    attempts: delivery.attempts.map(({ request = null, ...attempt }) => ({
      ...attempt,
      startedAt: isoFromInstant(attempt.startedAt),
      request,
    })),
    recipients: (delivery.recipients ?? []).map((result) => ({ ...result, at: isoFromInstant(result.at) })),
    body,
  };
}

function shownTime(moment: Instant | null | undefined): string | null {
  return moment === null || moment === undefined ? null : isoFromInstant(moment);
}

function shownWait(pending: Pending | null): DeliverySummary['waitsFor'] {
  const wait = pending?.waitsFor ?? null;
  return wait === null ? null : { reason: wait.reason, until: shownTime(wait.until) };
}

/** One point in time by both clocks: wall time for display, and queue time for waits. */
export interface QueueClock {
  readonly wall: Instant;
  readonly queue: Instant;
  /** Queue time as wall time, for display. */
  shown(moment: Instant): Instant;
}

export function queueClock({ clock }: EngineContext, view: ReadView): QueueClock {
  const wall = clock.now();
  const monotonic = clock.monotonic();
  const { timeline } = clock;
  const shared = clock instanceof StoreClock ? clock.queues : view.get(timelines, [timeline])?.record;
  const queue = queueTime(shared ?? { timeline, offset: wall - monotonic }, monotonic);
  return { wall, queue, shown: (moment) => wallTimeOf(moment, { wall, queue }) };
}
