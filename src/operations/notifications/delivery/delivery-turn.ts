import { configurations } from '../../../notifications/configurations/configuration.js';
import {
  acceptedOf,
  type Delivery,
  deliveries,
  dueSinceAcceptance,
  isInOrder,
  queueName,
} from '../../../notifications/delivery/delivery.js';
import {
  freshDelivery,
  type Outcome,
  outcomeOf,
  positionOf,
} from '../../../notifications/delivery/transition-delivery.js';
import { events, firstSequenceOf, type StoredEvent } from '../../../notifications/events/event.js';
import {
  admits,
  blockedUntil,
  hasOldDeliveries,
  hookHolds,
  inOrderOfDue,
  type QueueRecord,
  type QueueTime,
  queues,
  timeLeft,
  withRowsOnly,
} from '../../../notifications/queue/queue-record.js';
import { users, workspaces } from '../../../notifications/workspace.js';
import type { ReadView, WriteView } from '../../../ports/storage.js';
import { chooseStarts, type Lane } from '../../../queue/choose-starts.js';
import { type AdaptiveLimit, storedRates } from '../../../queue/limits.js';
import { claimed, freed, processes } from '../../../queue/process.js';
import type { Instant } from '../../../shared/instant.js';
import type { Key } from '../../../shared/table.js';
import type { EngineContext } from '../../context/engine-context.js';
import { addDelivery, deliveryOf, releaseNext, underWayOf } from '../../records/delivery-rows.js';
import type { Transaction } from '../../write-transaction.js';
import {
  type DeliveryItem,
  type DeliveryMemory,
  itemKey,
  type KnownDestination,
  type Note,
  type Reservation,
} from './delivery-memory.js';
import { type Destination, loadDestination, type OpenDestination } from './load-destination.js';
import { observeEnd } from './observe.js';

/** The most configurations that one turn looks at. */
const mostLooked = 512;
/** Sorts after every ID. */
const afterAll = '\u{10ffff}';
/** The least time between two counts of a backlog. */
const countEvery = 1000;
/** A smaller backlog is not recorded. */
const leastBacklog = 64;
/** The last part of a key of the index `due` for redeliveries, first attempts and retries: due at 0, at 1, and later. */
const retriesFrom = 2;

/** What waits of a configuration. */
interface LaneFound {
  readonly lane: Lane<Delivery>;
  readonly destination: OpenDestination;
  /** The first that is due later; null when none is. */
  readonly nextDue: Instant | null;
  /** Nothing but requested redeliveries starts before; null when the lane is open. */
  readonly blockedUntil: Instant | null;
  readonly gate: 'all' | 'one' | 'none';
}

/**
 * One write of the delivery loop, see `WorkLoop`. What the loop remembers is read here and not changed: `notes`, `limits` and
 * `destinations` are applied when the write is durable.
 */
export class DeliveryTurn {
  readonly claimed: DeliveryItem[] = [];
  /** Null: nothing of the configuration needs a turn. */
  readonly notes = new Map<string, Note | null>();
  readonly limits = new Map<string, AdaptiveLimit>();
  readonly destinations = new Map<string, KnownDestination>();
  /** What is reported when the write is durable. */
  readonly reports: (() => void)[] = [];
  /** What ended by its age, by configuration. */
  readonly expired = new Map<string, Outcome[]>();
  /** The marks that this turn follows. */
  readonly seen: ReadonlyMap<string, number>;
  /** Configurations to look at again. */
  readonly again = new Set<string>();
  lookFrom: DeliveryMemory['lookFrom'];
  nextWake: Instant;
  isBusy = false;
  readonly tx: Transaction;
  readonly time: QueueTime;
  readonly context: EngineContext;
  readonly memory: DeliveryMemory;
  /** Whether every change of the store before this write is known in memory. */
  readonly isKnown: boolean;
  readonly #process: string;
  readonly #reservation: Reservation;
  readonly #changedAt: number;
  #holds: ReadonlyMap<string, Instant> | undefined;
  #isAlone: boolean | undefined;
  /** What any process works on. */
  #held: readonly Delivery[] | undefined;

  constructor(
    context: EngineContext,
    memory: DeliveryMemory,
    tx: Transaction,
    about: {
      readonly time: QueueTime;
      readonly process: string;
      readonly isKnown: boolean;
      readonly reservation: Reservation;
    },
  ) {
    this.context = context;
    this.memory = memory;
    this.tx = tx;
    this.time = about.time;
    this.isKnown = about.isKnown;
    this.#process = about.process;
    this.#reservation = about.reservation;
    this.seen = new Map(memory.changed);
    this.lookFrom = memory.lookFrom;
    this.nextWake = memory.nextWake;
    this.#changedAt = destinationsIndex(tx);
  }

  /** Rows that a write whose answer was lost has claimed for this process. */
  adopt(known: ReadonlySet<string | number>): void {
    for (const { record, modifyIndex } of this.tx.list(deliveries, { index: 'held' })) {
      if (record.holder !== this.#process || known.has(itemKey({ delivery: record }))) continue;
      const destination = this.destinationOf(record.configurationId);
      if (destination.type === 'closed') this.free(record);
      else this.#begin(record, destination, modifyIndex);
    }
  }

  /** Looks at the configurations that need a turn, and claims what may start. */
  serve(touched: Iterable<string>): void {
    const ids = new Set([...touched, ...this.seen.keys()]);
    for (const [id, { until }] of this.memory.notes) if (until <= this.time.now) ids.add(id);
    if (this.lookFrom !== null || this.nextWake <= this.time.now) this.#lookForMore(ids);
    const lanes: LaneFound[] = [];
    for (const id of ids) {
      const found = this.#prepare(id);
      if (found !== undefined) lanes.push(found);
    }
    this.#claim(lanes);
  }

  /** Frees a row whose attempt is not made, and has its configuration looked at. */
  free(delivery: Delivery): void {
    this.tx.put(deliveries, freed(delivery));
    const queue = this.tx.get(queues, [delivery.configurationId])?.record;
    if (queue === undefined) return;
    if (queue.wakeAt === null || queue.wakeAt > this.time.now) this.tx.put(queues, { ...queue, wakeAt: 0 });
    this.again.add(delivery.configurationId);
  }

  /** Stores a delivery that was changed other than by an attempt, and releases the next one of its run. */
  #put(outcome: Outcome): void {
    const { before, after } = outcome;
    this.tx.put(deliveries, after);
    this.reports.push(() => observeEnd(this.context, outcome));
    if (isInOrder(before.state) && !isInOrder(after.state)) releaseNext(this.tx, after, this.time.now);
  }

  destinationOf(configurationId: string): Destination {
    const known = this.destinations.get(configurationId) ?? this.memory.destinations.get(configurationId);
    if (known !== undefined && known.loadedAt >= this.#changedAt) return known.destination;
    const destination = loadDestination(this.context, this.tx, configurationId);
    this.destinations.set(configurationId, { destination, loadedAt: this.tx.index });
    return destination;
  }

  /** The stored configurations that need a turn now. */
  #lookForMore(ids: Set<string>): void {
    const from = this.lookFrom ?? [];
    const due = { from, to: [this.time.now, afterAll], limit: mostLooked };
    const rows = this.tx.list(queues, { index: 'by_wake', ...due }).map(({ record }) => record);
    for (const { configurationId } of rows) {
      const note = this.memory.notes.get(configurationId);
      if (note === undefined || note.until <= this.time.now) ids.add(configurationId);
    }
    const last = rows.at(-1);
    if (last !== undefined && rows.length === mostLooked) {
      this.lookFrom = [hasOldDeliveries(last) ? 0 : (last.wakeAt ?? 0), `${last.configurationId}\0`];
      return;
    }
    this.lookFrom = null;
    const next = this.tx.list(queues, { index: 'by_wake', from: [this.time.now, afterAll], limit: 1 })[0]?.record;
    this.nextWake = next?.wakeAt ?? Number.POSITIVE_INFINITY;
  }

  /** What of a configuration may start; undefined when nothing may. */
  #prepare(id: string): LaneFound | undefined {
    const queue = this.tx.get(queues, [id])?.record;
    if (queue === undefined) {
      this.notes.set(id, null);
      return undefined;
    }
    if (hasOldDeliveries(queue)) {
      this.#makeRows(queue);
      return undefined;
    }
    const destination = this.destinationOf(id);
    const open = destination.type === 'closed' ? this.#closed(queue, destination.reason) : queue;
    if (open.cancellation !== null) return this.#cancel(open, open.cancellation, destination);
    if (destination.type === 'closed') {
      this.#end(open);
      return undefined;
    }
    return this.#laneOf(open, destination);
  }

  #laneOf(queue: QueueRecord, destination: OpenDestination): LaneFound {
    const { configurationId: id } = queue;
    const { now } = this.time;
    const limit = destination.route.concurrency ?? this.memory.limitOf(id).limit;
    const running = this.#running(id);
    const gate = admits(queue, now);
    const most = Math.max(1, limit - running) + 1;
    // Usually the first few are all of them.
    const first = this.#due({ from: [id], to: [id, ''], limit: most + 1 });
    const urgent = first.filter(({ state }) => state.type === 'manual').slice(0, most);
    const isTried = gate === 'one' && underWayOf(this.tx, id).length > 0;
    const hasRegular = gate !== 'none' && !isTried && first.length > urgent.length;
    // With nothing urgent before them, as many first attempts as may start have been read.
    const fresh = urgent.length === 0 ? first.filter(isFirstAttempt) : undefined;
    const regular = hasRegular ? this.#regular(id, gate === 'one' ? 1 : most, fresh) : [];
    if (gate === 'none') this.#expire(id);
    const rest = first.length > most ? this.#due({ from: [id, now, ''], to: [id, ''], limit: 1 }) : first;
    return {
      destination,
      gate,
      lane: {
        key: id,
        candidates: [...urgent, ...regular],
        route: destination.route,
        running,
        limit,
        heldUntil: this.#heldUntil(destination.route.rateKey),
      },
      nextDue: firstDueAfter(rest, now),
      blockedUntil: gate === 'none' ? this.#blockedUntil(queue) : isTried ? Number.POSITIVE_INFINITY : null,
    };
  }

  /** What may start by schedule. What is too old ends here. `fresh`: the first attempts, if they are known. */
  #regular(id: string, most: number, fresh: readonly Delivery[] | undefined): readonly Delivery[] {
    for (let round = 0; ; round += 1) {
      const first =
        round === 0 && fresh !== undefined
          ? fresh.slice(0, most)
          : this.#due({ from: [id, dueSinceAcceptance], to: [id, retriesFrom], limit: most });
      const due = inOrderOfDue(first, this.#due({ from: [id, retriesFrom], to: [id, this.time.now, ''], limit: most }));
      const old = due.filter((delivery) => timeLeft(delivery.createdAt, this.time, this.memory.rules) <= 0);
      if (old.length === 0) return due.slice(0, most);
      for (const delivery of old) this.#expired(delivery);
      if (round * most < this.memory.rules.window) continue;
      this.again.add(id);
      return [];
    }
  }

  #due(range: { readonly from: Key; readonly to: Key; readonly limit: number }): readonly Delivery[] {
    return this.tx.list(deliveries, { index: 'due', ...range }).map(({ record }) => record);
  }

  /** Attempts under way, also those of other processes. */
  #running(id: string): number {
    const own = this.memory.running.get(id) ?? 0;
    this.#isAlone ??= this.tx
      .list(processes, { prefix: [queueName] })
      .every(({ record }) => record.id === this.#process);
    if (this.#isAlone) return own;
    this.#held ??= underWayOf(this.tx);
    return Math.max(own, this.#held.filter(({ configurationId }) => configurationId === id).length);
  }

  /** Ends what is too old of a queue that nothing is sent of, oldest first. */
  #expire(id: string): void {
    const { window } = this.memory.rules;
    const oldest = this.tx.list(deliveries, { index: 'unfinished', prefix: [id], limit: 1 })[0]?.record;
    if (oldest === undefined || timeLeft(oldest.createdAt, this.time, this.memory.rules) > 0) return;
    const rows = this.tx.list(deliveries, { index: 'unfinished', prefix: [id], limit: window });
    const old = rows.filter(
      ({ record: { createdAt, state, holder } }) =>
        timeLeft(createdAt, this.time, this.memory.rules) <= 0 && state.type !== 'manual' && holder === undefined,
    );
    for (const { record } of old) this.#expired(record);
    if (rows.length === window && old.length > 0) this.again.add(id);
  }

  #expired(delivery: Delivery): void {
    const partly = acceptedOf(delivery.recipients) > 0;
    const outcome = outcomeOf(delivery, { type: 'expired', at: this.time.wall, partly });
    this.#put(outcome);
    const { configurationId } = delivery;
    this.expired.set(configurationId, [...(this.expired.get(configurationId) ?? []), outcome]);
  }

  #blockedUntil(queue: QueueRecord): Instant {
    const prefix = [queue.configurationId];
    const oldest = this.tx.list(deliveries, { index: 'unfinished', prefix, limit: 1 })[0]?.record;
    return blockedUntil(queue, oldest?.createdAt ?? null, this.time, this.memory.rules);
  }

  #heldUntil(hook: string): Instant {
    this.#holds ??= new Map(this.tx.list(hookHolds).map(({ record }) => [record.hook, record.until]));
    return this.#holds.get(hook) ?? Number.NEGATIVE_INFINITY;
  }

  #claim(lanes: readonly LaneFound[]): void {
    const { memory, tx, time } = this;
    const rate = (key: string) => tx.get(storedRates, [key])?.record;
    const offset = lanes.length > 1 ? tx.index % lanes.length : 0;
    const turn = [...lanes.slice(offset), ...lanes.slice(0, offset)];
    const traffic = { inFlight: memory.inFlight, perOrigin: memory.perOrigin, rate };
    const chosen = chooseStarts(
      turn.map(({ lane }) => lane),
      traffic,
      memory.rules.slots,
      time.now,
    );
    const destinations = new Map(lanes.map(({ lane, destination }) => [lane.key, destination]));
    for (const { key, candidate } of chosen.starts) {
      const destination = destinations.get(key);
      if (destination === undefined) continue;
      const begun = claimed(candidate, this.#process);
      tx.put(deliveries, begun);
      this.#begin(begun, destination, tx.index);
    }
    for (const [key, { tokens, at }] of chosen.rates) tx.put(storedRates, { key, tokens, at });
    for (const found of lanes) this.#note(found, chosen);
  }

  #begin(delivery: Delivery, destination: OpenDestination, claimedAt: number): void {
    const isRead = delivery.body === undefined || destination.type === 'email';
    const event = isRead ? (this.tx.get(events, [delivery.sequence])?.record ?? null) : null;
    this.#reservation.take(delivery.configurationId, destination.route);
    this.claimed.push({ delivery, claimedAt, event, destination, isFollowed: delivery.orderKey !== null });
  }

  /** When the configuration needs a turn again, in memory and in its row. */
  #note(found: LaneFound, chosen: ReturnType<typeof chooseStarts<Delivery>>): void {
    const id = found.lane.key;
    const ready = chosen.readyAt.get(id);
    if (ready !== undefined || chosen.wantSlots.has(id)) {
      this.isBusy = true;
      const until = ready ?? Number.POSITIVE_INFINITY;
      this.notes.set(id, { until, why: ready === undefined ? 'slots' : 'time', idleSince: null });
      this.#wakeAt(id, 0, found.gate === 'all');
    } else if (found.blockedUntil === null) {
      const isUsed = found.lane.running > 0 || chosen.starts.some(({ key }) => key === id);
      this.#noteIdle(found, isUsed);
    } else {
      this.notes.set(id, { until: found.blockedUntil, why: 'time', idleSince: null });
      // While a trial is under way, its end decides.
      if (found.gate === 'none') this.#wakeAt(id, this.#isEmpty(id) ? null : found.blockedUntil);
    }
  }

  /** Nothing is due. It stays among those that are looked at for a while, so that the next delivery writes its queue no more. */
  #noteIdle({ lane: { key: id }, nextDue, gate }: LaneFound, isUsed: boolean): void {
    const { now } = this.time;
    const idleSince = isUsed ? null : (this.memory.notes.get(id)?.idleSince ?? now);
    const over = idleSince === null ? Number.POSITIVE_INFINITY : idleSince + this.memory.rules.linger;
    if (over > now) {
      const until = Math.min(over, nextDue ?? Number.POSITIVE_INFINITY);
      this.notes.set(id, { until, why: 'idle', idleSince, isEmpty: nextDue === null && gate === 'all' });
      this.#wakeAt(id, 0);
      return;
    }
    this.notes.set(id, null);
    if (nextDue !== null) this.nextWake = Math.min(this.nextWake, nextDue);
    this.#wakeAt(id, nextDue);
  }

  #isEmpty(id: string): boolean {
    return this.tx.list(deliveries, { index: 'unfinished', prefix: [id], limit: 1 }).length === 0;
  }

  /** Writes when a queue needs a turn, unless that is known, and with `counts` how many deliveries wait. */
  #wakeAt(id: string, wakeAt: Instant | null, counts = false): void {
    const queue = this.tx.get(queues, [id])?.record;
    if (queue === undefined) return;
    const { backlog: before = 0, ...rest } = queue;
    const backlog = counts ? this.#backlog(id, before) : 0;
    const isDue = (at: Instant | null): boolean => at !== null && at <= this.time.now;
    const next = isDue(wakeAt) && isDue(queue.wakeAt) ? queue.wakeAt : wakeAt;
    if (next === queue.wakeAt && backlog === before) return;
    this.tx.put(queues, { ...rest, wakeAt: next, ...(backlog === 0 ? {} : { backlog }) });
  }

  /** How many wait for their first attempt, up to what slows a publisher down the most. Small changes are not worth a write. */
  #backlog(id: string, before: number): number {
    const { counted } = this.memory;
    if ((counted.get(id) ?? Number.NEGATIVE_INFINITY) > this.time.now - countEvery) return before;
    counted.set(id, this.time.now);
    const { from, span } = this.tx.settings.notifications.pressure;
    const range = { from: [id, 1], to: [id, retriesFrom], limit: from + span + leastBacklog };
    const isSmall = this.tx.list(deliveries, { index: 'due', ...range, limit: leastBacklog }).length < leastBacklog;
    if (isSmall) return 0;
    const count = this.tx.list(deliveries, { index: 'due', ...range }).length;
    return Math.abs(count - before) < Math.max(16, count / 8) ? before : count;
  }

  /** A configuration that is disabled or gone, whose deliveries nobody has cancelled. */
  #closed(queue: QueueRecord, reason: 'configuration_disabled' | 'configuration_deleted'): QueueRecord {
    if (queue.cancellation !== null || this.#isEmpty(queue.configurationId)) return queue;
    const cancellation = { through: firstSequenceOf(this.tx.index) - 1, at: this.time.wall, reason };
    const next = { ...queue, cancellation };
    this.tx.put(queues, next);
    return next;
  }

  /** Cancels a batch. What is under way ends by its attempt. */
  #cancel(
    queue: QueueRecord,
    { through, at, reason }: NonNullable<QueueRecord['cancellation']>,
    destination: Destination,
  ): LaneFound | undefined {
    const { configurationId: id } = queue;
    const held = underWayOf(this.tx, id).filter(({ sequence }) => sequence <= through);
    const range = { from: [id], to: [id, through + 1], limit: this.memory.rules.window + held.length };
    const found = this.tx.list(deliveries, { index: 'unfinished', ...range }).map(({ record }) => record);
    const rows = found.filter(({ holder }) => holder === undefined);
    for (const delivery of rows) this.#put(outcomeOf(delivery, { type: 'cancelled', at, reason }));
    if (rows.length > 0) {
      this.again.add(id);
      return undefined;
    }
    if (held.length > 0) {
      this.notes.set(id, { until: Number.POSITIVE_INFINITY, why: 'time', idleSince: null });
      return undefined;
    }
    const open = { ...queue, cancellation: null };
    this.tx.put(queues, open);
    if (destination.type !== 'closed') return this.#laneOf(open, destination);
    this.#end(open);
    return undefined;
  }

  /** Nothing is left of a queue whose configuration is disabled or gone. */
  #end({ configurationId: id }: QueueRecord): void {
    this.notes.set(id, null);
    if (!this.#isEmpty(id)) this.notes.set(id, { until: Number.POSITIVE_INFINITY, why: 'time', idleSince: null });
    else if (this.tx.get(configurations, [id]) === undefined) this.tx.remove(queues, [id]);
    else this.#wakeAt(id, null, false);
  }

  /** Makes rows for a batch of events of a store that was written before deliveries had rows from the beginning. */
  #makeRows(queue: QueueRecord): void {
    const { configurationId: id, workspaceId, position = 0 } = queue;
    const { window } = this.memory.rules;
    const ordered = this.tx.settings.notifications.delivery.ordering !== 'none';
    const range = { from: [workspaceId, position + 1], to: [workspaceId, ''], limit: window };
    const rows = this.tx.list(events, { index: 'by_workspace', ...range }).map(({ record }) => record);
    for (const event of rows) addMissing(this.tx, event, id, ordered);
    const last = rows.at(-1);
    const isDone = last === undefined || rows.length < window;
    this.tx.put(queues, isDone ? { ...withRowsOnly(queue), wakeAt: 0 } : { ...queue, position: last.sequence });
    this.again.add(id);
  }
}

/** The delivery of an earlier event, unless it has a row. What came later in its run is put behind it. */
function addMissing(view: WriteView, event: StoredEvent, configurationId: string, ordered: boolean): void {
  const position = positionOf(event, configurationId);
  if (position < 0 || deliveryOf(view, event, position) !== undefined) return;
  addDelivery(view, freshDelivery(event, position, ordered));
}

function isFirstAttempt({ state }: Delivery): boolean {
  return state.type === 'waiting' && state.dueAt >= dueSinceAcceptance && state.dueAt < retriesFrom;
}

/** When the first of them, in order, is due that is due later. */
function firstDueAfter(rows: readonly Delivery[], now: Instant): Instant | null {
  for (const { state } of rows) if ('dueAt' in state && state.dueAt > now) return state.dueAt;
  return null;
}

/** Index of the last change of what destinations are made of. */
export function destinationsIndex(view: ReadView): number {
  return Math.max(view.tableIndex(configurations), view.tableIndex(workspaces), view.tableIndex(users));
}
