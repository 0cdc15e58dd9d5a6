import { ok } from 'neverthrow';
import { deliveries, queueName } from '../../../notifications/delivery/delivery.js';
import type { StoredEvent } from '../../../notifications/events/event.js';
import { hookHolds } from '../../../notifications/queue/hook-hold.js';
import { queues, sendsAtOnce } from '../../../notifications/queue/queue-record.js';
import type { ReadView } from '../../../ports/storage.js';
import { claimed } from '../../../queue/hold.js';
import { queueTime, type Timeline, timelines } from '../../../queue/timeline.js';
import type { Instant } from '../../../shared/instant.js';
import type { Transaction } from '../../commit.js';
import { type AcceptedWrite, deliveryTables, type TimedWrite } from '../../context/accepted-events.js';
import type { BackgroundLoop, EngineContext } from '../../context/engine-context.js';
import {
  type Ended,
  type KnownItems,
  type QueueKind,
  type TurnRequest,
  type TurnWork,
  WorkLoop,
} from '../../queue/work-loop.js';
import { attemptDelivery } from './attempt-delivery.js';
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
import { brokenReport } from './observe.js';
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

/** The stored timeline of the first engine on it, or a new one. */
async function joinTimeline({ clock, storage }: EngineContext): Promise<Timeline> {
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
    const left = tx
      .list(deliveries, { index: 'due', prefix: [true] })
      .filter(({ record }) => record.holder === process);
    for (const { record } of left) {
      turn.free(record);
      this.#freed.add(record.configurationId);
    }
    return left.length > 0 ? 'all' : 'none';
  }

  isHolding(tx: Transaction, process: string): boolean {
    return tx.list(deliveries, { index: 'due', prefix: [true] }).some(({ record }) => record.holder === process);
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
      claimed: turn.claimed,
      isPartial: claims && (turn.lookFrom !== null || turn.again.size > 0),
      nextAt: claims ? this.#nextAt(turn) : Number.POSITIVE_INFINITY,
      isBusy: turn.isBusy,
    };
  }

  follow({ turn, claimed: items }: DeliveryWork): void {
    const memory = this.#memory;
    this.#reservation.settle();
    if (turn === undefined) return;
    this.#freed.clear();
    for (const [id, change] of turn.seen) if (memory.changed.get(id) === change) memory.changed.delete(id);
    for (const id of turn.again) memory.mark(id);
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
    if (memory.heads.get(headKey(item.delivery)) === item) memory.heads.delete(headKey(item.delivery));
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
    const memory = this.#memory;
    const reservation = new Reservation(memory);
    this.loop.claims();
    let items: DeliveryItem[] = [];
    let others: DeliveryItem['delivery'][] = [];
    return {
      claim: (tx, accepted) => {
        reservation.release();
        items = [];
        others = [];
        for (const event of accepted) {
          for (const { id } of event.notified) {
            const delivery = tx.get(deliveries, [id, event.sequence])?.record;
            if (delivery === undefined) continue;
            const destination = this.#mayBegin(tx, id);
            if (delivery.state.type !== 'waiting' || destination === undefined) {
              others.push(delivery);
              continue;
            }
            const begun = claimed(delivery, this.loop.process);
            tx.put(deliveries, begun);
            reservation.take(id, destination.route);
            items.push({ delivery: begun, claimedAt: tx.index, event, destination, isFollowed: false });
          }
        }
        if (items.length > 0) this.loop.keepLease(tx, tx);
      },
      settled: (indexes) => {
        reservation.settle();
        if (indexes !== undefined) this.loop.note(indexes);
        for (const item of items) this.#noteHead(item);
        this.loop.begin(items);
        if (others.filter((delivery) => this.#arrived(delivery)).length > 0) this.loop.wake();
      },
      failed: (mayBeStored) => {
        reservation.release();
        this.loop.begin([], mayBeStored && items.length > 0);
        // Others may have waited for the slots.
        if (items.length > 0) this.loop.wake();
      },
    };
  }

  #newTurn(tx: Transaction): DeliveryTurn {
    const time = { now: queueTime(this.#timeline, tx.monotonic), wall: tx.now };
    return new DeliveryTurn(this.#context, this.#memory, tx, {
      time,
      process: this.loop.process,
      reservation: this.#reservation,
    });
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
  #arrived(delivery: DeliveryItem['delivery']): boolean {
    const memory = this.#memory;
    const { configurationId: id, state } = delivery;
    if (state.type === 'behind') {
      const head = memory.heads.get(headKey(delivery));
      if (head !== undefined) head.isFollowed = true;
      return false;
    }
    memory.mark(id);
    return (memory.notes.get(id)?.why ?? 'idle') === 'idle';
  }

  /** The destination, if a new delivery of the configuration may begin now. */
  #mayBegin(tx: TimedWrite, id: string): OpenDestination | undefined {
    const memory = this.#memory;
    const now = queueTime(this.#timeline, tx.monotonic);
    if (this.#stopping.aborted || !memory.isClear(id, now)) return undefined;
    const known = memory.destinations.get(id);
    if (known === undefined || known.loadedAt < destinationsIndex(tx)) return undefined;
    const { destination } = known;
    const queue = tx.get(queues, [id])?.record;
    if (destination.type === 'closed' || queue === undefined || !sendsAtOnce(queue)) return undefined;
    const { route } = destination;
    if (route.rate > 0 || isLeftAlone(tx, id, { hook: route.rateKey, now })) return undefined;
    return memory.hasRoom(id, route) ? destination : undefined;
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
        return brokenReport(context.clock.now());
      },
    );
    const at: Instant = queueTime(this.#timeline, context.clock.monotonic());
    const fraction = report.failure === null ? 0 : context.ids.fraction();
    return { type: 'report', report, at, wall: context.clock.now(), fraction, full: false };
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
