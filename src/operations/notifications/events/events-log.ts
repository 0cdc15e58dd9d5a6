import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { allowsKind } from '../../../access/allows.js';
import type { Principal, WorkspaceRight } from '../../../access/principal.js';
import { configurations } from '../../../notifications/configurations/configuration.js';
import {
  type Delivery,
  type DeliveryOutcome,
  deliveries,
  deliveryOutcomes,
  isUnfinished,
  outcomeOf,
  sequenceFromId,
  withoutContents,
} from '../../../notifications/delivery/delivery.js';
import { freshDelivery, transitionDelivery } from '../../../notifications/delivery/transition-delivery.js';
import type { InvalidParameter, NotFound } from '../../../notifications/errors.js';
import {
  eventRecord,
  events,
  filterProblem,
  orderKeyOf,
  passesFilter,
  type StoredEvent,
} from '../../../notifications/events/event.js';
import { configurationOfAlert } from '../../../notifications/events/event-type.js';
import type { Explanation } from '../../../notifications/explain.js';
import { queues } from '../../../notifications/queue/queue-record.js';
import { workspaces } from '../../../notifications/workspace.js';
import type { ReadView, StorageError } from '../../../ports/storage.js';
import type { Steps } from '../../../scheduler/steps.js';
import { type Instant, isoFromInstant } from '../../../shared/instant.js';
import { commitValue } from '../../commit.js';
import type { EngineContext } from '../../context/engine-context.js';
import { deliveryOf, releaseNext } from '../../records/delivery-rows.js';
import { firstSequenceIn, mayManage } from '../../records/earlier-workspace.js';
import type { MayWait } from '../../waiting/blocking-query.js';
import { rowsUnder } from '../../waiting/parked-queries.js';
import type { Transaction } from '../../write-transaction.js';
import { bodyOf } from '../delivery/attempt-delivery.js';
import { findWorkspace } from '../find-resource.js';
import { type PageNumbers, type PageRequest, pageNumbers, readPageOrFirst, readTriggerFilter } from '../list-inputs.js';
import { touchQueue } from '../log/change-queue.js';
import { currentState, type DeliveryDetails, describeDelivery, queueClock } from '../log/delivery-log.js';
import { readRowsWaiting, readWaiting } from '../read-waiting.js';
import { explanationsNow, explanationsThen } from './event-explanations.js';

/** An accepted event with the outcomes of its deliveries. Times are RFC 3339 in UTC with milliseconds. */
export interface EventSummary {
  /** `ne-` and 16 characters. */
  readonly id: string;
  /** The workspace that the event is about. */
  readonly workspaceId: string;
  /** A trigger, or the name of an event type. */
  readonly trigger: string;
  /** Whether it is a sample, which one configuration is notified of. */
  readonly sample: boolean;
  /** A sentence for people. */
  readonly message: string;
  /** When it was accepted. */
  readonly createdAt: string;
  /** The idempotency key of its sender; null for none. */
  readonly idempotencyKey: string | null;
  /** When its content was erased; null when it was not. */
  readonly erasedAt: string | null;
  /** One for each configuration that it notifies. */
  readonly deliveries: readonly {
    readonly id: string;
    readonly configurationId: string;
    readonly outcome: DeliveryOutcome;
  }[];
}

/** An event with its content, its deliveries, and an explanation for each configuration. */
export interface EventDetails extends EventSummary {
  /** Its attributes, as filters see them. */
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Every attempt at each of its destinations. */
  readonly attempts: readonly DeliveryDetails[];
  /** For each current configuration of the workspace, whether it would be notified now, with reasons; empty for a sample. */
  readonly explanations: readonly Explanation[];
  /** The same of the configurations of then; null for a sample, and for an event that an earlier version has accepted. */
  readonly explanationsAtAcceptance: readonly Explanation[] | null;
}

/** Selects the events of `listNotificationEvents`. */
interface ListEventsRequest extends PageRequest {
  readonly workspaceId: string;
  /** A trigger or the name of an event type; all when absent. */
  readonly trigger?: string | undefined;
  /** Only events with a delivery of this outcome. */
  readonly outcome?: string | undefined;
  /** Start of the time range of acceptance, inclusive. */
  readonly since?: Instant | undefined;
  /** End of that range, exclusive. */
  readonly until?: Instant | undefined;
  /** A filter expression over the attributes, see `eventRecord`. */
  readonly filter?: string | undefined;
}

/** One page of a workspace's events, newest first. */
export interface EventList extends PageNumbers {
  readonly items: readonly EventSummary[];
  /** The number of matching events. */
  readonly totalCount: number;
  /** False when there were too many events to examine: the count is then a lower bound. */
  readonly counted: boolean;
}

/** The maximum number of events examined for one list. */
const deepest = 20_000;
/** Events read in one step. */
const chunk = 32;

/** The events of a workspace, newest first, with the outcomes of their deliveries. */
export function listNotificationEvents(
  context: EngineContext,
  caller: Principal,
  request: ListEventsRequest & MayWait,
): ResultAsync<EventList & { readonly index: number }, NotFound | InvalidParameter | StorageError> {
  const tables = [rowsUnder(events, [request.workspaceId], 'by_workspace'), deliveries, queues];
  return readWaiting(context, tables, (current) => listInSteps(context, current, caller, request), request.waiting);
}

function* listInSteps(
  context: EngineContext,
  current: () => ReadView,
  caller: Principal,
  request: ListEventsRequest,
): Steps<Result<EventList, NotFound | InvalidParameter>> {
  const workspace = findWorkspace(current(), caller, request.workspaceId);
  if (workspace.isErr()) return err(workspace.error);
  const page = readPageOrFirst(context.settings.notifications, request);
  if (page.isErr()) return err(page.error);
  const faulty = faultOf(request);
  if (faulty !== null) return err(faulty);
  const trigger = readTriggerFilter(current(), 'filter[trigger]', request.trigger);
  if (trigger.isErr()) return err(trigger.error);
  const ordered = context.settings.notifications.delivery.ordering !== 'none';
  const { number, size } = page.value;
  const found = yield* matchingEvents(current, caller, { ...request, trigger: trigger.value ?? undefined }, ordered);
  const shown = found.events.slice((number - 1) * size, number * size);
  return ok({
    items: shown.map((event) => summarise(current(), caller, event, ordered)),
    ...pageNumbers(page.value, found.events.length > number * size),
    totalCount: found.events.length,
    counted: found.whole,
  });
}

/** One event with its content, every attempt, and an explanation for each configuration. */
export function showNotificationEvent(
  context: EngineContext,
  caller: Principal,
  { eventId, waiting }: MayWait & { readonly eventId: string },
): ResultAsync<EventDetails & { readonly index: number }, NotFound | StorageError> {
  const ordered = context.settings.notifications.delivery.ordering !== 'none';
  const tables = [rowsUnder(events, [sequenceFromId(eventId) ?? 0]), deliveries, queues, configurations, workspaces];
  return readRowsWaiting(
    context,
    tables,
    (view): Result<EventDetails, NotFound> => {
      const event = findEvent(view, caller, eventId);
      if (event.isErr()) return err(event.error);
      const attempts = visibleDeliveries(view, caller, event.value, ordered);
      return ok({
        ...summarise(view, caller, event.value, ordered),
        attributes: eventRecord(event.value.event),
        attempts: attempts.map((delivery) =>
          describeDelivery(delivery, null, bodyOf(context, delivery, event.value).unwrapOr(null)),
        ),
        explanations: explanationsNow(view, caller, event.value),
        explanationsAtAcceptance: explanationsThen(view, caller, event.value),
      });
    },
    waiting,
  );
}

/** The stored event, if the caller has the right on its workspace. */
function findEvent(
  view: ReadView,
  caller: Principal,
  id: string,
  right?: WorkspaceRight,
): Result<StoredEvent, NotFound> {
  const sequence = sequenceFromId(id);
  const event = sequence === null ? undefined : view.get(events, [sequence])?.record;
  const known = event?.id === id && mayManage(view, caller, event, right) && existsFor(view, caller, event);
  return known ? ok(event) : err({ type: 'not_found', resource: 'notification_event', id });
}

/** The deliveries of an event in their current state, in the order of its list. */
function deliveriesOf(view: ReadView, event: StoredEvent, ordered: boolean): Delivery[] {
  return event.notified.map(({ id }, position) => {
    const row = deliveryOf(view, event, position) ?? freshDelivery(event, position, ordered);
    return currentState(row, view.get(queues, [id])?.record ?? null);
  });
}

/** Whether the event exists for a caller who may manage its workspace: an alert does if the configuration that it is about does. */
export function existsFor(view: ReadView, caller: Principal, { workspaceId, event }: StoredEvent): boolean {
  const about = event.kind === 'custom' ? configurationOfAlert(event) : null;
  return about === null || allowsKind(caller, workspaceId, view.get(configurations, [about])?.record.kind ?? '');
}

/** Those of the deliveries that exist for the caller. */
export function visibleDeliveries(view: ReadView, caller: Principal, event: StoredEvent, ordered: boolean): Delivery[] {
  return deliveriesOf(view, event, ordered).filter(({ kind }) => allowsKind(caller, event.workspaceId, kind));
}

function summarise(view: ReadView, caller: Principal, event: StoredEvent, ordered: boolean): EventSummary {
  const { id, workspaceId, trigger, sample = false, createdAt, idempotencyKey, erasedAt } = event;
  return {
    id,
    workspaceId,
    trigger,
    sample,
    message: event.event.message,
    createdAt: isoFromInstant(createdAt),
    idempotencyKey,
    erasedAt: erasedAt === undefined ? null : isoFromInstant(erasedAt),
    deliveries: visibleDeliveries(view, caller, event, ordered).map((delivery) => ({
      id: delivery.id,
      configurationId: delivery.configurationId,
      outcome: outcomeOf(delivery.state),
    })),
  };
}

function faultOf({ outcome, filter, since, until }: ListEventsRequest): InvalidParameter | null {
  const fault = (parameter: string, message: string): InvalidParameter => ({
    type: 'invalid_parameter',
    parameter,
    message,
  });
  if (outcome !== undefined && !deliveryOutcomes.some((known) => known === outcome)) {
    return fault('filter[outcome]', `The outcome must be one of ${deliveryOutcomes.join(', ')}`);
  }
  const problem =
    filter === undefined ? null : typeof filter === 'string' ? filterProblem(filter) : 'must be an expression';
  if (problem !== null) return fault('filter[expression]', `The filter ${problem}`);
  const isTime = (value: Instant | undefined): boolean => value === undefined || Number.isFinite(value);
  return isTime(since) && isTime(until) ? null : fault('filter[since]', 'since and until must be times');
}

interface MatchingEvents {
  readonly events: readonly StoredEvent[];
  readonly whole: boolean;
}

/** Matching events, newest first. Each step reads one chunk. */
function* matchingEvents(
  current: () => ReadView,
  caller: Principal,
  request: ListEventsRequest,
  ordered: boolean,
): Steps<MatchingEvents> {
  const { workspaceId, since = Number.NEGATIVE_INFINITY } = request;
  const found: StoredEvent[] = [];
  let to: readonly [string, number] = [workspaceId, Number.MAX_SAFE_INTEGER];
  for (let looked = 0; ; looked += chunk) {
    const view = current();
    const from = [workspaceId, firstSequenceIn(view, workspaceId)];
    const limit = Math.min(chunk, deepest - looked + 1);
    const rows = view.list(events, { index: 'by_workspace', from, to, reverse: true, limit });
    for (const [at, { record: event }] of rows.entries()) {
      if (event.createdAt < since) return { events: found, whole: true };
      if (looked + at >= deepest) return { events: found, whole: false };
      if (matches(view, caller, event, request, ordered)) found.push(event);
    }
    const last = rows.at(-1)?.record;
    if (last === undefined || rows.length < limit) return { events: found, whole: true };
    to = [workspaceId, last.sequence];
    yield;
  }
}

function matches(
  view: ReadView,
  caller: Principal,
  event: StoredEvent,
  { trigger, outcome, until, filter }: ListEventsRequest,
  ordered: boolean,
): boolean {
  if ((until !== undefined && event.createdAt >= until) || !existsFor(view, caller, event)) return false;
  if (trigger !== undefined && event.trigger !== trigger) return false;
  if (filter !== undefined && !passesFilter(filter, event.event)) return false;
  return (
    outcome === undefined ||
    visibleDeliveries(view, caller, event, ordered).some(({ state }) => outcomeOf(state) === outcome)
  );
}

/**
 * Erases the content of an event and every response to it. Its record is kept: the time of acceptance and the outcomes of its
 * deliveries. Unfinished deliveries are cancelled. A request in progress cannot be stopped; only the status of its response is kept.
 */
export function eraseNotificationEvent(
  context: EngineContext,
  caller: Principal,
  { eventId }: { readonly eventId: string },
): ResultAsync<void, NotFound | StorageError> {
  const ordered = context.settings.notifications.delivery.ordering !== 'none';
  return commitValue<void, NotFound>(context, caller, (tx) => {
    const found = findEvent(tx, caller, eventId, 'admin');
    if (found.isErr()) return err(found.error);
    const event = found.value;
    const { queue: now } = queueClock(context, tx);
    for (const delivery of deliveriesOf(tx, event, ordered)) eraseDelivery(tx, delivery, now);
    tx.put(events, erased(event, tx.now));
    return ok(undefined);
  });
}

function erased(event: StoredEvent, now: number): StoredEvent {
  const { trigger, createdAt } = event;
  return {
    ...event,
    erasedAt: event.erasedAt ?? now,
    event: {
      kind: 'custom',
      trigger,
      message: '',
      data: {},
      orderKey: orderKeyOf(event.event),
      occurredAt: new Date(createdAt).toISOString(),
      body: 'envelope',
    },
  };
}

function eraseDelivery(tx: Transaction, delivery: Delivery, now: Instant): void {
  const cancelled = transitionDelivery(delivery.state, { type: 'cancelled', at: tx.now, reason: 'content_erased' });
  const next: Delivery = { ...withoutContents(delivery), state: cancelled.unwrapOr(delivery.state) };
  tx.put(deliveries, next);
  if (!isUnfinished(delivery.state)) return;
  releaseNext(tx, next, now);
  touchQueue(tx, delivery.configurationId);
}
