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
import { queues } from '../../../notifications/queue/queue-record.js';
import { type Pace, waitOf } from '../../../notifications/queue/wait-reason.js';
import type { ReadView, StorageError } from '../../../ports/storage.js';
import type { Steps } from '../../../scheduler/steps.js';
import type { Instant } from '../../../shared/instant.js';
import type { EngineContext } from '../../context/engine-context.js';
import { readInTurns } from '../../context/steps-in-turns.js';
import { bodyOf } from '../delivery/attempt-delivery.js';
import { paceOf } from '../delivery/load-destination.js';
import { findConfiguration, findDelivery } from '../find-resource.js';
import { type PageNumbers, type PageRequest, pageNumbers, readPageOrFirst } from '../page.js';
import { readTriggerFilter } from '../trigger-filter.js';
import {
  asItStands,
  failedOnes,
  isFailed,
  type LogOwner,
  logOwner,
  newestFirst,
  unfinishedOnes,
} from './delivery-log.js';
import {
  type DeliveryDetails,
  type DeliverySummary,
  describeDelivery,
  type Pending,
  summariseDelivery,
} from './delivery-view.js';
import { type QueueClock, queueClock } from './queue-clock.js';

/** Selects the deliveries of `listDeliveries`. */
export interface ListDeliveriesRequest {
  readonly configurationId: string;
  /** One of `pending`, `delivered`, `partly_delivered`, `dead`, `cancelled`; default: all. */
  readonly outcome?: string | undefined;
  /** Any form of a trigger; default: all. */
  readonly trigger?: string | undefined;
  /** Default: the first page of the default size. */
  readonly page?: PageRequest;
}

/** One page of a log, without a total. */
export interface DeliveryList extends PageNumbers {
  readonly items: readonly DeliverySummary[];
}

/** The last entry that a page number can reach, and the most entries searched for one filtered page. */
const deepest = 50_000;

/** The delivery log of a configuration, newest first (dead, cancelled and partly delivered ones: latest ended first). */
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
  const page = readPageOrFirst(notifications, request.page);
  if (page.isErr()) return err(page.error);
  const filter = readFilter(current(), request);
  if (filter.isErr()) return err(filter.error);
  const { number, size } = page.value;
  const ordered = notifications.delivery.ordering !== 'none';
  const owner = logOwner(current(), request.configurationId, found.value.workspace.id, ordered);
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
        const shown = asItStands(delivery, queue);
        const configuration = view.get(configurations, [delivery.configurationId])?.record;
        const pace = configuration === undefined ? noPace : paceOf(context, view, configuration);
        const pending = pendingOf(queueClock(context, view), { queue, pace }, shown);
        return describeDelivery(shown, pending, bodyOf(context, delivery, event).unwrapOr(null));
      }),
    )
    .andThen((it) => it);
}

/** A delivery of a deleted configuration. */
const noPace: Pace = { rate: 0, heldUntil: null };

/** The reason why a delivery waits, and the due time of its next attempt; null if it has ended. */
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

/** An accepted delivery without a row is due since its acceptance. */
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

/** Entries per step. */
const examinedPerStep = 64;

/** Each step continues after the previous entry, in its own view. */
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

/** Those after `last`, or all. */
function entriesFor(
  view: ReadView,
  owner: LogOwner,
  outcome: DeliveryOutcome | null,
  last: Delivery | undefined,
): Generator<Delivery> {
  if (outcome === 'pending') return unfinishedOnes(view, owner, last?.sequence);
  // During a cancellation, the rows of cancelled deliveries are not updated yet.
  if (isFailed(outcome) && owner.queue?.cancellation == null) {
    return failedOnes(
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
