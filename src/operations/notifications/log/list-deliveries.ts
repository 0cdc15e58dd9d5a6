import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../../access/principal.js';
import { configurations, type NotificationConfiguration } from '../../../notifications/configurations/configuration.js';
import { answeredAs, answerFault } from '../../../notifications/delivery/answer-filter.js';
import {
  type Delivery,
  type DeliveryOutcome,
  deliveries,
  deliveryOutcomes,
  dueSinceAcceptance,
  isUnfinished,
  outcomeOf,
  positionFromDeliveryId,
  sequenceFromId,
} from '../../../notifications/delivery/delivery.js';
import type { InvalidParameter, NotFound } from '../../../notifications/errors.js';
import { events } from '../../../notifications/events/event.js';
import { type Pace, queues, waitOf } from '../../../notifications/queue/queue-record.js';
import type { ReadView, StorageError } from '../../../ports/storage.js';
import type { Steps } from '../../../scheduler/steps.js';
import type { Instant } from '../../../shared/instant.js';
import type { EngineContext } from '../../context/engine-context.js';
import type { MayWait } from '../../waiting/blocking-query.js';
import { rowsUnder } from '../../waiting/parked-queries.js';
import { bodyOf } from '../delivery/attempt-delivery.js';
import { paceOf } from '../delivery/load-destination.js';
import { findConfiguration, findDelivery, findWorkspace, visibleConfigurations } from '../find-resource.js';
import { type PageNumbers, type PageRequest, pageNumbers, readPageOrFirst, readTriggerFilter } from '../list-inputs.js';
import { readRowsWaiting, readWaiting } from '../read-waiting.js';
import {
  currentState,
  type DeliveryDetails,
  type DeliverySummary,
  describeDelivery,
  failedDeliveries,
  isFailed,
  type LogOwner,
  logOwner,
  newestFirst,
  type Pending,
  type QueueClock,
  queueClock,
  summariseDelivery,
  unfinishedDeliveries,
} from './delivery-log.js';
import { endOf } from './redeliver.js';

interface DeliveryFilters extends PageRequest {
  /** One of `pending`, `delivered`, `partly_delivered`, `dead`, `cancelled`; all when absent. */
  readonly outcome?: string | undefined;
  /** Any form of a trigger; all when absent. */
  readonly trigger?: string | undefined;
  /** How the last attempt was answered: a status code, a class such as `5xx`, or `none` for a failure without an answer. */
  readonly status?: string | undefined;
  /** Start of the time range of acceptance, inclusive. */
  readonly since?: Instant | undefined;
  /** End of that range, exclusive. */
  readonly until?: Instant | undefined;
}

/** Selects the deliveries of `listDeliveries`. */
interface ListDeliveriesRequest extends DeliveryFilters {
  readonly configurationId: string;
}

/** Selects the deliveries of `listDeliveriesOfWorkspace`. */
interface ListOfWorkspaceRequest extends DeliveryFilters {
  readonly workspaceId: string;
  /** The ID of one of its configurations; all when absent. */
  readonly configuration?: string | undefined;
}

/** One page of a log, without a total count. */
export interface DeliveryList extends PageNumbers {
  readonly items: readonly DeliverySummary[];
  /** False when the limit of examined entries was reached: older matches may be missing. */
  readonly whole: boolean;
}

/** The deepest entry that a page number reaches, and the maximum number of entries examined for one page with a filter. */
const deepest = 50_000;

/** The delivery log of a configuration, newest first (dead, cancelled and partly delivered ones: latest end first). */
export function listDeliveries(
  context: EngineContext,
  caller: Principal,
  request: ListDeliveriesRequest & MayWait,
): ResultAsync<DeliveryList & { readonly index: number }, NotFound | InvalidParameter | StorageError> {
  const { configurationId, waiting } = request;
  const owners = (view: ReadView) =>
    findConfiguration(view, caller, configurationId).map(({ configuration }) => [configuration]);
  const tables = [
    rowsUnder(deliveries, [configurationId], 'log'),
    rowsUnder(queues, [configurationId]),
    rowsUnder(configurations, [configurationId]),
  ];
  return readWaiting(context, tables, (current) => listInSteps(context, current, request, owners), waiting);
}

/** The deliveries to all present configurations of a workspace, in the same order. */
export function listDeliveriesOfWorkspace(
  context: EngineContext,
  caller: Principal,
  request: ListOfWorkspaceRequest & MayWait,
): ResultAsync<DeliveryList & { readonly index: number }, NotFound | InvalidParameter | StorageError> {
  const { workspaceId, configuration: asked, waiting } = request;
  const owners = (view: ReadView): Result<readonly NotificationConfiguration[], NotFound | InvalidParameter> =>
    findWorkspace(view, caller, workspaceId).andThen(() => {
      const visible = visibleConfigurations(view, caller, workspaceId);
      const present = visible.filter(({ id }) => asked === undefined || id === asked);
      if (asked === undefined || present.length > 0) return ok(present);
      return invalidFilter('configuration', 'The workspace has no such notification configuration');
    });
  const tables = [deliveries, queues, rowsUnder(configurations, [workspaceId], 'by_workspace')];
  return readWaiting(context, tables, (current) => listInSteps(context, current, request, owners), waiting);
}

function* listInSteps(
  context: EngineContext,
  current: () => ReadView,
  request: DeliveryFilters,
  ownersIn: (view: ReadView) => Result<readonly NotificationConfiguration[], NotFound | InvalidParameter>,
): Steps<Result<DeliveryList, NotFound | InvalidParameter>> {
  const owners = ownersIn(current());
  if (owners.isErr()) return err(owners.error);
  const page = readPageOrFirst(context.settings.notifications, request);
  if (page.isErr()) return err(page.error);
  const filter = readFilter(current(), request);
  if (filter.isErr()) return err(filter.error);
  const { number, size } = page.value;
  const logs = owners.value.map(({ id }) => logOwner(current(), id));
  const { matching, whole } = yield* collect(current, logs, filter.value, {
    skip: (number - 1) * size,
    take: size + 1,
  });
  const view = current();
  const clock = queueClock(context, view);
  const places = new Map(
    owners.value.map((configuration, at) => {
      const queue = logs[at]?.queue ?? null;
      return [configuration.id, { queue, pace: paceOf(context, view, configuration) }];
    }),
  );
  const items = matching.slice(0, size).map((delivery) => {
    const place = places.get(delivery.configurationId);
    return summariseDelivery(delivery, place === undefined ? null : pendingOf(clock, place, delivery));
  });
  return ok({ items, ...pageNumbers(page.value, matching.length > size), whole });
}

/** One delivery with all its attempts. */
export function showDelivery(
  context: EngineContext,
  caller: Principal,
  request: MayWait & { readonly deliveryId: string },
): ResultAsync<DeliveryDetails & { readonly index: number }, NotFound | StorageError> {
  const ordered = context.settings.notifications.delivery.ordering !== 'none';
  const { deliveryId, waiting } = request;
  const first = sequenceFromId(deliveryId) ?? 0;
  const tables = [rowsUnder(deliveries, [first + (positionFromDeliveryId(deliveryId) ?? 0)]), queues];
  return readRowsWaiting(
    context,
    [...tables, rowsUnder(events, [first])],
    (view) =>
      findDelivery(view, caller, deliveryId, ordered).map(({ delivery, event }) => {
        const queue = view.get(queues, [delivery.configurationId])?.record ?? null;
        const shown = currentState(delivery, queue);
        const configuration = view.get(configurations, [delivery.configurationId])?.record;
        const pace = configuration === undefined ? noPace : paceOf(context, view, configuration);
        const pending = pendingOf(queueClock(context, view), { queue, pace }, shown);
        return describeDelivery(shown, pending, bodyOf(context, delivery, event).unwrapOr(null));
      }),
    waiting,
  );
}

/** For a removed configuration. */
const noPace: Pace = { rate: 0, heldUntil: null, servedUntil: null };

/** Why a delivery waits, and when its next attempt is due; null when it has ended. */
function pendingOf(
  clock: QueueClock,
  { queue, pace }: Pick<LogOwner, 'queue'> & { readonly pace: Pace },
  delivery: Delivery,
): Pending | null {
  const { state } = delivery;
  if (!isUnfinished(state)) return null;
  const wait = queue === null ? null : waitOf(delivery, queue, pace, clock.queue);
  const until = wait === null || wait.until === null ? null : clock.shown(wait.until);
  return {
    nextAttemptAt:
      state.type === 'waiting'
        ? dueAt(delivery, state.dueAt, clock)
        : 'requestedAt' in state
          ? state.requestedAt
          : null,
    waitsFor: wait === null ? null : { reason: wait.reason, until },
  };
}

/** A delivery without attempts is due since its acceptance. */
function dueAt({ createdAt, attempts }: Delivery, due: Instant, clock: QueueClock): Instant {
  return attempts.length === 0 || due === dueSinceAcceptance ? createdAt : clock.shown(due);
}

interface Filter {
  readonly outcome: DeliveryOutcome | null;
  readonly trigger: string | null;
  readonly isAnswered: NonNullable<ReturnType<typeof answeredAs>>;
  readonly since: Instant;
  readonly until: Instant;
}

function readFilter(view: ReadView, request: DeliveryFilters): Result<Filter, InvalidParameter> {
  const outcome = deliveryOutcomes.find((known) => known === request.outcome) ?? null;
  if (request.outcome !== undefined && outcome === null) {
    return invalidFilter('outcome', `The outcome must be one of ${deliveryOutcomes.join(', ')}`);
  }
  const { since = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY } = request;
  if (Number.isNaN(since) || Number.isNaN(until)) return invalidFilter('since', 'since and until must be times');
  const isAnswered = answeredAs(request.status);
  if (isAnswered === null) return invalidFilter('status', answerFault);
  const trigger = readTriggerFilter(view, 'filter[trigger]', request.trigger);
  return trigger.map((named) => ({ outcome, trigger: named, isAnswered, since, until }));
}

function invalidFilter(name: string, message: string): Result<never, InvalidParameter> {
  return err({ type: 'invalid_parameter', parameter: `filter[${name}]`, message });
}

/** Entries examined in one step. */
const examinedPerStep = 64;

/** The entries of one log that come next. */
interface Cursor {
  readonly owner: LogOwner;
  ahead: readonly Delivery[];
  /** Position in `ahead`. */
  at: number;
  /** There are none after `ahead`. */
  isAtEnd: boolean;
}

/** Merges the logs. Each step continues after the previous entry, in the then current view. */
function* collect(
  current: () => ReadView,
  owners: readonly LogOwner[],
  filter: Filter,
  { skip, take }: { readonly skip: number; readonly take: number },
): Steps<{ readonly matching: readonly Delivery[]; readonly whole: boolean }> {
  const matching: Delivery[] = [];
  const cursors = owners.map((owner): Cursor => ({ owner, ahead: [], at: 0, isAtEnd: false }));
  const byEnd = isFailed(filter.outcome);
  let skipped = 0;
  let looked = 0;
  for (; looked < deepest; looked += 1) {
    for (const cursor of cursors) {
      if (cursor.at < cursor.ahead.length || cursor.isAtEnd) continue;
      if (cursor.ahead.length > 0) yield;
      const entries = entriesFor(current(), cursor.owner, filter.outcome, cursor.ahead.at(-1));
      cursor.ahead = firstOf(entries, examinedPerStep);
      cursor.at = 0;
      cursor.isAtEnd = cursor.ahead.length < examinedPerStep;
    }
    const next = newestOf(cursors, byEnd);
    if (next === undefined || (!byEnd && next.createdAt < filter.since)) break;
    if (!matches(next, filter)) continue;
    skipped += 1;
    if (skipped > skip) matching.push(next);
    if (matching.length === take) return { matching, whole: true };
  }
  return { matching, whole: looked < deepest };
}

/** Takes the newest of the next entries: by the end of the delivery, or by the acceptance of its event. */
function newestOf(cursors: readonly Cursor[], byEnd: boolean): Delivery | undefined {
  let newest: Cursor | undefined;
  for (const cursor of cursors) {
    const [one, other] = [cursor.ahead[cursor.at], newest?.ahead[newest.at]];
    if (one !== undefined && (other === undefined || isNewer(one, other, byEnd))) newest = cursor;
  }
  const found = newest?.ahead[newest.at];
  if (newest !== undefined) newest.at += 1;
  return found;
}

function isNewer(one: Delivery, other: Delivery, byEnd: boolean): boolean {
  const [ended, otherEnded] = byEnd ? [endOf(one)[0], endOf(other)[0]] : [0, 0];
  return ended === otherEnded ? one.sequence > other.sequence : ended > otherEnded;
}

function firstOf<T>(entries: Generator<T>, count: number): T[] {
  const first: T[] = [];
  while (first.length < count) {
    const next = entries.next();
    if (next.done === true) return first;
    first.push(next.value);
  }
  return first;
}

/** The entries after `last`, or all. */
function entriesFor(
  view: ReadView,
  owner: LogOwner,
  outcome: DeliveryOutcome | null,
  last: Delivery | undefined,
): Generator<Delivery> {
  if (outcome === 'pending') return unfinishedDeliveries(view, owner, last?.sequence);
  // While a cancellation is being carried out, the rows of its deliveries do not show it yet.
  if (isFailed(outcome) && owner.queue?.cancellation == null) {
    return failedDeliveries(
      view,
      owner,
      outcome,
      last !== undefined && 'at' in last.state ? [last.state.at, last.sequence] : null,
    );
  }
  return newestFirst(view, owner, last?.sequence);
}

function matches({ state, trigger, attempts, createdAt }: Delivery, filter: Filter): boolean {
  if (filter.outcome !== null && outcomeOf(state) !== filter.outcome) return false;
  if (filter.trigger !== null && filter.trigger !== trigger) return false;
  return filter.isAnswered(attempts.at(-1)) && createdAt >= filter.since && createdAt < filter.until;
}
