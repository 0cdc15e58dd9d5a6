import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../../access/principal.js';
import { configurations } from '../../../notifications/configurations/configuration.js';
import {
  type Delivery,
  type DeliveryOutcome,
  deliveryOutcomes,
  dueSinceAcceptance,
  isUnfinished,
  outcomeOf,
} from '../../../notifications/delivery/delivery.js';
import type { InvalidParameter, NotFound } from '../../../notifications/errors.js';
import { type Pace, queues, waitOf } from '../../../notifications/queue/queue-record.js';
import type { ReadView, StorageError } from '../../../ports/storage.js';
import type { Steps } from '../../../scheduler/steps.js';
import type { Instant } from '../../../shared/instant.js';
import type { EngineContext } from '../../context/engine-context.js';
import { readInTurns } from '../../context/steps-in-turns.js';
import { bodyOf } from '../delivery/attempt-delivery.js';
import { paceOf } from '../delivery/load-destination.js';
import { findConfiguration, findDelivery } from '../find-resource.js';
import { type PageNumbers, type PageRequest, pageNumbers, readPageOrFirst, readTriggerFilter } from '../list-inputs.js';
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

/** Selects the deliveries of `listDeliveries`. */
interface ListDeliveriesRequest extends PageRequest {
  readonly configurationId: string;
  /** One of `pending`, `delivered`, `partly_delivered`, `dead`, `cancelled`; all when absent. */
  readonly outcome?: string | undefined;
  /** Any form of a trigger; all when absent. */
  readonly trigger?: string | undefined;
}

/** One page of a log, without a total count. */
export interface DeliveryList extends PageNumbers {
  readonly items: readonly DeliverySummary[];
}

/** The deepest entry that a page number reaches, and the maximum number of entries examined for one page with a filter. */
const deepest = 50_000;

/** The delivery log of a configuration, newest first (dead, cancelled and partly delivered ones: latest end first). */
export function listDeliveries(
  context: EngineContext,
  caller: Principal,
  request: ListDeliveriesRequest,
): ResultAsync<DeliveryList, NotFound | InvalidParameter | StorageError> {
  return readInTurns(context, (current) => listInSteps(context, current, caller, request)).andThen((it) => it);
}

function* listInSteps(
  context: EngineContext,
  current: () => ReadView,
  caller: Principal,
  request: ListDeliveriesRequest,
): Steps<Result<DeliveryList, NotFound | InvalidParameter>> {
  const found = findConfiguration(current(), caller, request.configurationId);
  if (found.isErr()) return err(found.error);
  const { notifications } = context.settings;
  const page = readPageOrFirst(notifications, request);
  if (page.isErr()) return err(page.error);
  const filter = readFilter(current(), request);
  if (filter.isErr()) return err(filter.error);
  const { number, size } = page.value;
  const owner = logOwner(current(), request.configurationId);
  const matching = yield* collect(current, owner, filter.value, { skip: (number - 1) * size, take: size + 1 });
  const clock = queueClock(context, current());
  const { queue } = owner;
  const pace = paceOf(context, current(), found.value.configuration);
  const items = matching.slice(0, size);
  return ok({
    items: items.map((delivery) => summariseDelivery(delivery, pendingOf(clock, { queue, pace }, delivery))),
    ...pageNumbers(page.value, matching.length > size),
  });
}

/** One delivery with all its attempts. */
export function showDelivery(
  context: EngineContext,
  caller: Principal,
  request: { readonly deliveryId: string },
): ResultAsync<DeliveryDetails, NotFound | StorageError> {
  const ordered = context.settings.notifications.delivery.ordering !== 'none';
  return context.storage
    .read((view) =>
      findDelivery(view, caller, request.deliveryId, ordered).map(({ delivery, event }) => {
        const queue = view.get(queues, [delivery.configurationId])?.record ?? null;
        const shown = currentState(delivery, queue);
        const configuration = view.get(configurations, [delivery.configurationId])?.record;
        const pace = configuration === undefined ? noPace : paceOf(context, view, configuration);
        const pending = pendingOf(queueClock(context, view), { queue, pace }, shown);
        return describeDelivery(shown, pending, bodyOf(context, delivery, event).unwrapOr(null));
      }),
    )
    .andThen((it) => it);
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
}

function readFilter(view: ReadView, request: ListDeliveriesRequest): Result<Filter, InvalidParameter> {
  const outcome = deliveryOutcomes.find((known) => known === request.outcome) ?? null;
  if (request.outcome !== undefined && outcome === null) {
    const message = `The outcome must be one of ${deliveryOutcomes.join(', ')}`;
    return err({ type: 'invalid_parameter', parameter: 'filter[outcome]', message });
  }
  return readTriggerFilter(view, 'filter[trigger]', request.trigger).map((trigger) => ({ outcome, trigger }));
}

/** Entries examined in one step. */
const examinedPerStep = 64;

/** Each step continues after the previous entry, in the then current view. */
function* collect(
  current: () => ReadView,
  owner: LogOwner,
  filter: Filter,
  { skip, take }: { readonly skip: number; readonly take: number },
): Steps<Delivery[]> {
  const matching: Delivery[] = [];
  let skipped = 0;
  let last: Delivery | undefined;
  for (let looked = 0; looked < deepest; looked += examinedPerStep) {
    const piece = firstOf(
      entriesFor(current(), owner, filter.outcome, last),
      Math.min(examinedPerStep, deepest - looked),
    );
    for (const delivery of piece) {
      if (!matches(delivery, filter)) continue;
      if (skipped < skip) {
        skipped += 1;
        continue;
      }
      matching.push(delivery);
      if (matching.length === take) return matching;
    }
    last = piece.at(-1);
    if (piece.length < examinedPerStep) return matching;
    yield;
  }
  return matching;
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

function matches({ state, trigger }: Delivery, filter: Filter): boolean {
  if (filter.outcome !== null && outcomeOf(state) !== filter.outcome) return false;
  return filter.trigger === null || filter.trigger === trigger;
}
