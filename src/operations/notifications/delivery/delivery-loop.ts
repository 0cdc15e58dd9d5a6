import { ok } from 'neverthrow';
import { classifySilence } from '../../../notifications/delivery/classify-failure.js';
import { type Delivery, deliveries, queueName } from '../../../notifications/delivery/delivery.js';
import type { StoredEvent } from '../../../notifications/events/event.js';
import { hookHolds, queues, sendsAtOnce } from '../../../notifications/queue/queue-record.js';
import type { ReadView } from '../../../ports/storage.js';
import { claimed, processes, queueTime, type Timeline, timelines } from '../../../queue/process.js';
import type { Instant } from '../../../shared/instant.js';
import {
  type AcceptedWrite,
  deliveryTables,
  destinationTables,
  type TimedWrite,
} from '../../context/accepted-events.js';
import type { BackgroundLoop, EngineContext } from '../../context/engine-context.js';
import { StoreClock } from '../../context/store-clock.js';
import {
  type Ended,
  type KnownItems,
  type QueueKind,
  type TurnRequest,
  type TurnWork,
  tablesIndex,
  WorkLoop,
} from '../../queue/work-loop.js';
import { addDelivery, hasUnfinished, underWayOf } from '../../records/delivery-rows.js';
import type { Transaction } from '../../write-transaction.js';
import { attemptDelivery, silentAttempt } from './attempt-delivery.js';
import {
  type DeliveryEnd,
  type DeliveryItem,
  DeliveryMemory,
  headKey,
  itemKey,
  Reservation,
  rulesFrom,
} from './delivery-memory.js';
import { DeliveryTurn, destinationsIndex } from './delivery-turn.js';
import type { OpenDestination } from './load-destination.js';
import { recordEnds, reportExpired } from './record-ends.js';

/**
 * Sends due deliveries: the rows of deliveries as a queue, see `WorkLoop`. If the process is killed, its lease ends and its deliveries
 * are free again: only attempts that were under way or not yet recorded are repeated.
 */
export const deliveryLoop: BackgroundLoop = {
  name: 'notification-deliveries',
  async run(context, signal) {
    const queue = new DeliveryQueue(context, await joinTimeline(context), signal);
    const stopListening = context.accepted.listen(() => queue.accepting());
    signal.addEventListener('abort', stopListening, { once: true });
    try {
      await queue.loop.run(signal);
    } finally {
      stopListening();
      signal.removeEventListener('abort', stopListening);
    }
  },
};

/** The stored timeline of the first engine on it, or a new one; wall time where all hosts read the same. */
async function joinTimeline({ clock, storage }: EngineContext): Promise<Timeline> {
  if (clock instanceof StoreClock) return clock.queues;
  const { timeline } = clock;
  const found: Timeline = { timeline, offset: clock.now() - clock.monotonic() };
  const written = await storage.write<Timeline, never>((view) => {
    const known = view.get(timelines, [timeline])?.record;
    if (known === undefined) view.put(timelines, found);
    return ok(known ?? found);
  });
  if (written.isErr()) throw new Error(written.error.message);
  return written.value.value;
}

interface DeliveryWork extends TurnWork<DeliveryItem> {
  readonly turn: DeliveryTurn | undefined;
  readonly ended: readonly Ended<DeliveryItem, DeliveryEnd>[];
}

/** The deliveries as a queue. */
class DeliveryQueue implements QueueKind<DeliveryItem, DeliveryEnd, DeliveryWork> {
  readonly name = queueName;
  readonly tables = deliveryTables;
  readonly lease: number;
  readonly recordWithin: number;
  readonly recordBatch: number;
  readonly loop: WorkLoop<DeliveryItem, DeliveryEnd, DeliveryWork>;
  readonly #context: EngineContext;
  readonly #timeline: Timeline;
  readonly #stopping: AbortSignal;
  readonly #memory: DeliveryMemory;
  readonly #reservation: Reservation;
  /** Configurations whose deliveries a dead process has left. */
  readonly #freed = new Set<string>();
  /** Whether no other process works on deliveries, when their table was changed last at this index. */
  #alone = { index: -1, is: false };

  constructor(context: EngineContext, timeline: Timeline, stopping: AbortSignal) {
    const { delivery } = context.settings.notifications;
    this.lease = delivery.lease;
    this.recordWithin = delivery.recordWithin;
    this.recordBatch = delivery.recordBatch;
    this.#context = context;
    this.#timeline = timeline;
    this.#stopping = stopping;
    this.#memory = new DeliveryMemory(rulesFrom(context.settings));
    this.#reservation = new Reservation(this.#memory);
    this.loop = new WorkLoop(context, this);
  }

  key(item: DeliveryItem): string {
    return itemKey(item);
  }

  changed(): void {
    this.#memory.forget();
  }

  takeOver(tx: Transaction, process: string): 'none' | 'all' {
    const turn = this.#newTurn(tx);
    const left = underWayOf(tx).filter(({ holder }) => holder === process);
    for (const delivery of left) {
      turn.free(delivery);
      this.#freed.add(delivery.configurationId);
    }
    return left.length > 0 ? 'all' : 'none';
  }

  isHolding(tx: Transaction, process: string): boolean {
    return underWayOf(tx).some(({ holder }) => holder === process);
  }

  turn(request: TurnRequest<DeliveryItem, DeliveryEnd>): (tx: Transaction, known: KnownItems) => DeliveryWork {
    return (tx, known) => this.#work(tx, request, known);
  }

  failed(): void {
    this.#reservation.release();
  }

  #work(tx: Transaction, { ends, claims }: TurnRequest<DeliveryItem, DeliveryEnd>, known: KnownItems): DeliveryWork {
    this.#reservation.release();
    const turn = this.#newTurn(tx);
    const touched = recordEnds(turn, ends);
    if (known !== undefined) turn.adopt(known);
    if (claims) turn.serve([...touched, ...this.#freed]);
    reportExpired(turn);
    return {
      turn,
      ended: ends,
      claimed: turn.claimed,
      isPartial: claims && (turn.lookFrom !== null || turn.again.size > 0),
      nextAt: claims ? this.#nextAt(turn) : Number.POSITIVE_INFINITY,
      isBusy: turn.isBusy,
    };
  }

  follow({ turn, ended, claimed: items }: DeliveryWork): void {
    const memory = this.#memory;
    for (const { item } of ended) memory.forgetHead(item);
    this.#reservation.settle();
    if (turn === undefined) return;
    this.#freed.clear();
    for (const [id, change] of turn.seen) if (memory.changed.get(id) === change) memory.changed.delete(id);
    for (const id of turn.again) memory.mark(id);
    if (turn.again.size > 0) memory.expectFollowers(turn.again);
    for (const [id, note] of turn.notes) {
      if (note === null) memory.notes.delete(id);
      else memory.notes.set(id, note);
    }
    memory.remember(turn.destinations, turn.limits);
    memory.lookFrom = turn.lookFrom;
    memory.nextWake = turn.nextWake;
    for (const item of items) this.#noteHead(item);
    for (const report of turn.reports) report();
    // Accepted while the turn was written.
    const isAwaited = (id: string): boolean => (memory.notes.get(id)?.why ?? 'idle') === 'idle';
    if ([...memory.changed.keys()].some(isAwaited)) this.loop.wake();
    this.#context.observer.gauge('signalbox.notification.queues', memory.notes.size, {});
  }

  async perform({ delivery, destination, event }: DeliveryItem): Promise<DeliveryEnd> {
    const { configurationId } = delivery;
    const { route } = destination;
    // Whoever waits for the write continues first.
    await new Promise((resolve) => setImmediate(resolve));
    const end = await this.#attempt({ delivery, destination, event });
    const memory = this.#memory;
    const full = (memory.running.get(configurationId) ?? 0) >= memory.limitOf(configurationId).limit;
    memory.giveBack(configurationId, route);
    return end.type === 'report' ? { ...end, full } : end;
  }

  isAwaited({ item, end }: Ended<DeliveryItem, DeliveryEnd>): boolean {
    const { configurationId } = item.delivery;
    const memory = this.#memory;
    item.hasEnded = true;
    const failed = end.type !== 'report' || end.report.failure !== null;
    // The next turn decides whether more may be sent: until then nothing begins that has just been accepted.
    if (failed) memory.mark(configurationId);
    if (failed || item.isFollowed || item.delivery.state.type === 'manual') return true;
    // Any end may give a slot to one that waits for it.
    let isWanted = false;
    for (const [id, { why }] of memory.notes) {
      if (why !== 'slots') continue;
      isWanted = true;
      memory.notes.delete(id);
      memory.mark(id);
    }
    return isWanted || memory.notes.get(configurationId)?.why !== 'idle';
  }

  /** One write in which events are accepted. */
  accepting(): AcceptedWrite {
    const reservation = new Reservation(this.#memory);
    this.loop.claims();
    const write = new Accepting();
    return {
      restart: () => {
        reservation.release();
        write.clear();
      },
      add: (tx, delivery, event) => {
        write.before ??= tablesIndex(tx, deliveryTables);
        const destination = this.#mayBegin(tx, delivery, write);
        if (destination === undefined) {
          write.others.push(addDelivery(tx, delivery));
          return;
        }
        const begun = claimed(delivery, this.loop.process);
        tx.put(deliveries, begun);
        reservation.take(delivery.configurationId, destination.route);
        write.items.push({ delivery: begun, claimedAt: tx.index, event, destination, isFollowed: false });
      },
      ended: (tx, { isAny }) => {
        const { before = 0, items } = write;
        if (items.length > 0) this.loop.keepLease(tx, tx);
        const isAlone = !isAny && tablesIndex(tx, destinationTables) <= before;
        write.after = isAlone ? tablesIndex(tx, deliveryTables) : undefined;
      },
      settled: () => {
        const { before, after, items, others } = write;
        reservation.settle();
        if (before !== undefined && after !== undefined) this.loop.note({ before, after });
        for (const item of items) this.#noteHead(item);
        this.loop.begin(items);
        if (others.filter((delivery) => this.#arrived(delivery)).length > 0) this.loop.wake();
      },
      failed: (mayBeStored) => {
        reservation.release();
        const mayHold = write.items.length > 0;
        this.loop.begin([], mayBeStored && mayHold);
        // Others may have waited for the slots.
        if (mayHold) this.loop.wake();
      },
    };
  }

  #newTurn(tx: Transaction): DeliveryTurn {
    const time = { now: queueTime(this.#timeline, tx.monotonic), wall: tx.now };
    const isKnown = this.loop.knows(tablesIndex(tx, deliveryTables));
    const about = { time, process: this.loop.process, isKnown, reservation: this.#reservation };
    return new DeliveryTurn(this.#context, this.#memory, tx, about);
  }

  #nextAt({ notes, nextWake }: DeliveryTurn): number {
    let next = nextWake;
    for (const [id, { until }] of this.#memory.notes) if (!notes.has(id)) next = Math.min(next, until);
    for (const note of notes.values()) if (note !== null) next = Math.min(next, note.until);
    return next - this.#timeline.offset;
  }

  #noteHead(item: DeliveryItem): void {
    if (item.delivery.orderKey !== null) this.#memory.heads.set(headKey(item.delivery), item);
  }

  /** A delivery that was not claimed as it was accepted; whether it needs a turn. */
  #arrived(delivery: Delivery): boolean {
    const memory = this.#memory;
    const { configurationId: id, state } = delivery;
    if (state.type === 'behind') {
      const head = memory.heads.get(headKey(delivery));
      if (head !== undefined) head.isFollowed = true;
      return head?.hasEnded === true;
    }
    memory.mark(id);
    return (memory.notes.get(id)?.why ?? 'idle') === 'idle';
  }

  /** The destination, if a new delivery may begin now. */
  #mayBegin(tx: TimedWrite, delivery: Delivery, write: Accepting): OpenDestination | undefined {
    const memory = this.#memory;
    const { configurationId: id } = delivery;
    const now = queueTime(this.#timeline, tx.monotonic);
    if (this.#stopping.aborted || !memory.isClear(id, now)) return undefined;
    const destination = memory.destinationOf(id, destinationsIndex(tx));
    if (destination === undefined || destination.type === 'closed') return undefined;
    const { route } = destination;
    if (route.rate > 0 || isLeftAlone(tx, id, { hook: route.rateKey, now }) || !memory.hasRoom(id, route))
      return undefined;
    const queue = tx.get(queues, [id])?.record;
    return queue !== undefined && sendsAtOnce(queue) && this.#isFirst(tx, delivery, write) ? destination : undefined;
  }

  /** Whether no earlier delivery of the run is unfinished. When everything unfinished is in memory, the store is not read. */
  #isFirst(tx: TimedWrite, delivery: Delivery, { before = 0, items }: Accepting): boolean {
    const { configurationId: id, orderKey } = delivery;
    if (orderKey === null) return true;
    const key = headKey(delivery);
    const memory = this.#memory;
    if (memory.heads.has(key) || items.some((item) => headKey(item.delivery) === key)) return false;
    const isKnown = memory.notes.get(id)?.isEmpty === true && this.loop.knows(before) && this.#isAlone(tx);
    return isKnown || !hasUnfinished(tx, id, orderKey);
  }

  /** Whether no other process works on deliveries. */
  #isAlone(view: ReadView): boolean {
    const index = view.tableIndex(processes);
    if (this.#alone.index !== index) {
      const rows = view.list(processes, { prefix: [queueName] });
      this.#alone = { index, is: rows.every(({ record }) => record.id === this.loop.process) };
    }
    return this.#alone.is;
  }

  async #attempt({
    delivery,
    destination,
    event,
  }: {
    readonly delivery: DeliveryItem['delivery'];
    readonly destination: OpenDestination;
    readonly event: StoredEvent | null;
  }): Promise<DeliveryEnd> {
    const context = this.#context;
    if (destination.type === 'email' && destination.recipients.length === 0) {
      return { type: 'not_sent', wall: context.clock.now(), reason: 'no_recipients' };
    }
    const report = await attemptDelivery(context, delivery, destination, { event, stopping: this.#stopping }).catch(
      () => {
        // The transport rejected although it must not, or rendering the message failed. The delivery keeps its place.
        context.logger.error({ delivery: delivery.id }, 'An attempt failed unexpectedly');
        const message = 'The attempt failed unexpectedly';
        return silentAttempt(context, { destination: '' }, classifySilence({ type: 'connect_failed', message }));
      },
    );
    const at: Instant = queueTime(this.#timeline, context.clock.monotonic());
    const fraction = report.failure === null ? 0 : context.ids.fraction();
    return { type: 'report', report, at, wall: context.clock.now(), fraction, full: false };
  }
}

/** What one run of a write's work has accepted. */
class Accepting {
  items: DeliveryItem[] = [];
  /** Stored without a claim. */
  others: Delivery[] = [];
  /** Index of the last change of the delivery tables before it; and after it, if nothing else of the write has changed them. */
  before: number | undefined;
  after: number | undefined;

  clear(): void {
    this.items = [];
    this.others = [];
    this.before = undefined;
    this.after = undefined;
  }
}

/** Whether the hook of the configuration, if it has one, has asked for a pause. */
function isLeftAlone(
  view: ReadView,
  id: string,
  { hook, now }: { readonly hook: string; readonly now: Instant },
): boolean {
  return hook !== id && (view.get(hookHolds, [hook])?.record.until ?? now) > now;
}
