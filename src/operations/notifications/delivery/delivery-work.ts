import type { DestinationKind } from '../../../notifications/configurations/destination.js';
import type { AttemptReport, AttemptRules } from '../../../notifications/delivery/conclude-attempt.js';
import type { CancelReason } from '../../../notifications/delivery/delivery.js';
import type { Candidate, Dispatch, Route } from '../../../notifications/queue/dispatch.js';
import {
  type HeldQueue,
  hasReady,
  heldQueue,
  isIdle,
  nextRead,
  type QueueRules,
  wantsMore,
} from '../../../notifications/queue/held-queue.js';
import type { QueueRecord } from '../../../notifications/queue/queue-record.js';
import type { SlotRules } from '../../../notifications/queue/slots.js';
import type { TokenBucket } from '../../../notifications/queue/token-bucket.js';
import { type QueueEvent, transitionQueue } from '../../../notifications/queue/transition-queue.js';
import type { Settings } from '../../../settings.js';
import { type Milliseconds, minute } from '../../../shared/duration.js';
import type { Instant } from '../../../shared/instant.js';
import type { AcceptedEvents } from '../../context/accepted-events.js';
import { HookHolds } from './hook-holds.js';
import type { Destination, OpenDestination } from './load-destination.js';
import type { HeldRow, TurnQueue } from './renew-or-release.js';

/** A queue that this engine has leased, with its destination and bookkeeping. */
export interface Held {
  readonly queue: HeldQueue;
  /** Write index of its row after this engine's last write. */
  readonly rowIndex: number;
  readonly leaseUntil: Instant;
  /** Null until it is read for the first time. */
  readonly destination: Destination | null;
  /** Store index at which the destination was read. */
  readonly loadedAt: number;
  /** Since when it is idle; null while it is active. */
  readonly idleSince: Instant | null;
}

/** Input that waits for the loop's next round. */
export type Incoming =
  | {
      readonly type: 'report';
      readonly configurationId: string;
      readonly sequence: number;
      readonly report: AttemptReport;
      readonly kind: DestinationKind;
      readonly route: Route;
    }
  | {
      readonly type: 'not_sent';
      readonly configurationId: string;
      readonly sequence: number;
      readonly reason: CancelReason;
    };

type DeliveryRules = QueueRules & AttemptRules & { readonly slots: SlotRules };

export function rulesFrom({ notifications }: Settings): DeliveryRules {
  const { delivery } = notifications;
  const own = 4;
  return {
    window: delivery.window,
    maximumAge: delivery.maximumAge,
    breaker: delivery.breaker,
    limit: { initial: own, maximum: delivery.concurrencyPerDestination },
    retry: delivery.retry,
    jitter: delivery.jitter,
    maximumRetryAfter: delivery.maximumRetryAfter,
    slots: { all: delivery.concurrency, perOrigin: delivery.concurrencyPerOrigin, own },
  };
}

interface WorkTimes {
  readonly lease: Milliseconds;
  readonly linger: Milliseconds;
  readonly recordWithin: Milliseconds;
  /** The most outcomes per write. */
  readonly recordBatch: number;
}

/** The number of cached rates beyond which those unused for a minute are dropped. */
const mostBuckets = 1000;
/** The most accepted writes that wait for the loop's next round. */
const mostAccepted = 1024;
/** The most queues leased in one turn. */
const mostClaims = 256;

/**
 * The leased queues and the work in progress. Changes only between two waits of the loop: results that arrive meanwhile wait in
 * `incoming`.
 */
export class DeliveryWork {
  readonly held = new Map<string, Held>();
  readonly incoming: Incoming[] = [];
  /** Queues that may have something to start. */
  readonly ready = new Set<string>();
  /** Queues to refill from the store. */
  readonly toRefill = new Set<string>();
  readonly perOrigin = new Map<string, number>();
  readonly buckets = new Map<string, TokenBucket>();
  /** Paused hooks, by their rate key. */
  readonly hooks = new HookHolds();
  inFlight = 0;
  /** Events up to this sequence were passed to the queues; null before the first scan. */
  tail: number | null = null;
  /** Events accepted by this process since the last round. */
  readonly accepted: AcceptedEvents[] = [];
  /** All changes that deliveries depend on were applied up to this write index; later changes of queues are this engine's own. */
  known = 0;
  /** The latest known index of the store. */
  reached = 0;
  /** Index of the last change of the queues' table that this engine knows of. */
  queuesIndex = 0;
  /** The same of configurations, workspaces and users. */
  configurationsIndex = 0;
  /** Whether the store has changed since the last scan. */
  changed = true;
  /** Due time of the next stored queue, or null. */
  nextWake: Instant | null = null;
  /** The next time at which a queue can start an attempt without other input. */
  nextStart: Instant | null = null;
  /** Start of the last turn. */
  lastTurn: Instant = Number.NEGATIVE_INFINITY;
  /** No queue needs a turn before this time without other input. */
  #nextTimer: Instant = Number.POSITIVE_INFINITY;
  /** The number of unwritten outcomes of all queues. */
  #unwritten = 0;
  /** Queues that need a turn immediately. */
  readonly #urgent = new Set<string>();

  constructor(
    readonly rules: DeliveryRules,
    private readonly times: WorkTimes,
  ) {}

  take(row: HeldRow, now: Instant): void {
    const { record, rowIndex } = row;
    this.put(
      {
        queue: heldQueue(record, this.rules),
        rowIndex,
        leaseUntil: record.lease?.until ?? now,
        destination: null,
        loadedAt: 0,
        idleSince: now,
      },
      now,
    );
  }

  apply(configurationId: string, event: QueueEvent, now: Instant): void {
    const held = this.held.get(configurationId);
    if (held !== undefined) this.put({ ...held, queue: transitionQueue(held.queue, event, this.rules) }, now);
  }

  /** Another writer has changed the queue, or its cancellation is complete: it is read again. */
  reopen(configurationId: string, record: QueueRecord, now: Instant): void {
    this.apply(configurationId, { type: 'touched', record }, now);
    const held = this.held.get(configurationId);
    if (held !== undefined) this.put({ ...held, destination: null }, now);
  }

  /** Records events accepted by this process; beyond a limit, the loop reads them from the store. */
  accept(accepted: AcceptedEvents): void {
    if (this.accepted.length < mostAccepted) this.accepted.push(accepted);
  }

  /** The only way to change a leased queue; determines what the queue needs next. */
  put(next: Held, now: Instant): void {
    const { configurationId } = next.queue;
    const held = withTimes(next, now);
    this.#unwritten += held.queue.outcomes.length - (this.held.get(configurationId)?.queue.outcomes.length ?? 0);
    this.held.set(configurationId, held);
    mark(this.#urgent, configurationId, isUrgent(held));
    mark(this.ready, configurationId, held.queue.type === 'delivering' && hasReady(held.queue));
    mark(this.toRefill, configurationId, held.destination === null || wantsMore(held.queue, now, this.rules));
    this.#nextTimer = Math.min(this.#nextTimer, this.#timerOf(held));
  }

  drop(configurationId: string): void {
    this.#unwritten -= this.held.get(configurationId)?.queue.outcomes.length ?? 0;
    this.held.delete(configurationId);
    this.#urgent.delete(configurationId);
    this.ready.delete(configurationId);
    this.toRefill.delete(configurationId);
  }

  start(route: Route): void {
    this.inFlight += 1;
    this.perOrigin.set(route.origin, (this.perOrigin.get(route.origin) ?? 0) + 1);
  }

  end(route: Route): void {
    this.inFlight -= 1;
    const left = (this.perOrigin.get(route.origin) ?? 1) - 1;
    if (left > 0) this.perOrigin.set(route.origin, left);
    else this.perOrigin.delete(route.origin);
  }

  destinationOf(configurationId: string): OpenDestination | null {
    const destination = this.held.get(configurationId)?.destination ?? null;
    return destination === null || destination.type === 'closed' ? null : destination;
  }

  get holds(): ReadonlyMap<string, Instant> {
    return this.hooks.ends;
  }

  /** The queues that may have something to start. */
  candidates(now: Instant): Candidate[] {
    if (this.nextStart !== null && this.nextStart <= now) {
      this.nextStart = null;
      for (const held of this.held.values()) this.put(held, now);
    }
    const candidates: Candidate[] = [];
    for (const configurationId of this.ready) {
      const queue = this.held.get(configurationId)?.queue;
      const destination = this.destinationOf(configurationId);
      if (queue?.type === 'delivering' && destination !== null) candidates.push({ queue, route: destination.route });
    }
    return candidates;
  }

  takeOver(chosen: Dispatch, now: Instant): void {
    for (const [configurationId, queue] of chosen.queues) {
      const held = this.held.get(configurationId);
      if (held !== undefined) this.put({ ...held, queue }, now);
      if (!chosen.wantSlots.has(configurationId)) this.ready.delete(configurationId);
    }
    for (const [key, bucket] of chosen.buckets) this.buckets.set(key, bucket);
    if (chosen.nextAt !== null) this.nextStart = Math.min(this.nextStart ?? chosen.nextAt, chosen.nextAt);
    if (this.buckets.size > mostBuckets) this.#pruneBuckets(now);
  }

  /** The next time for a write or a lease without other input. */
  nextNeed(now: Instant): Instant {
    const claim = this.#room() > 0 ? (this.nextWake ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;
    return this.#urgent.size > 0 ? now : Math.min(this.#nextRecord(now), this.nextTimer(now), claim);
  }

  /** The next time at which a queue needs a turn without other input; recomputed over all queues only when the recorded time is reached. */
  nextTimer(now: Instant): Instant {
    if (this.#nextTimer > now) return this.#nextTimer;
    let next = Number.POSITIVE_INFINITY;
    for (const [configurationId, held] of this.held) {
      next = Math.min(next, this.#timerOf(held));
      if (wantsMore(held.queue, now, this.rules)) this.toRefill.add(configurationId);
    }
    this.#nextTimer = next;
    return next;
  }

  /** The number of queues that may be leased now. */
  claimable(now: Instant): number {
    return this.nextWake !== null && this.nextWake <= now ? this.#room() : 0;
  }

  /** The content of the next write: nothing, or everything that is pending. */
  turns(now: Instant): TurnQueue[] {
    const due = this.#urgent.size > 0 || this.#nextRecord(now) <= now || this.nextTimer(now) <= now;
    if (!due) return [];
    const turns: TurnQueue[] = [];
    for (const held of this.held.values()) {
      const { queue, rowIndex } = held;
      const released = this.#wantsRelease(held, now);
      const renewed = this.#renewal(held) <= now;
      if (!released && !renewed && queue.outcomes.length === 0 && !isUrgent(held)) continue;
      turns.push({ queue, rowIndex, release: released ? 'idle' : 'no' });
    }
    return turns;
  }

  /** The engine stops: queues without attempts in progress are released. */
  lastTurns(now: Instant): TurnQueue[] {
    return [...this.held.values()]
      .filter((held) => held.queue.running.size === 0 || held.queue.outcomes.length > 0 || this.#renewal(held) <= now)
      .map(({ queue, rowIndex }) => ({ queue, rowIndex, release: queue.running.size === 0 ? 'stopping' : 'no' }));
  }

  /** The next renewal of a lease; leases of queues with attempts in progress outlast the stop. */
  nextRenewal(): Instant {
    return Math.min(...[...this.held.values()].map((held) => this.#renewal(held)));
  }

  #renewal({ leaseUntil }: Held): Instant {
    return leaseUntil - this.times.lease / 2;
  }

  /** A single outcome is written immediately; several are collected for a while. */
  #nextRecord(now: Instant): Instant {
    if (this.#unwritten === 0) return Number.POSITIVE_INFINITY;
    return this.#unwritten >= this.times.recordBatch ? now : this.lastTurn + this.times.recordWithin;
  }

  #room(): number {
    return Math.max(0, Math.min(mostClaims, this.rules.slots.all * 4 - this.held.size));
  }

  #pruneBuckets(now: Instant): void {
    for (const [key, bucket] of this.buckets) if (bucket.at < now - minute) this.buckets.delete(key);
  }

  #wantsRelease(held: Held, now: Instant): boolean {
    const { queue, destination, idleSince } = held;
    if (queue.type === 'cancelling') return queue.complete && destination?.type === 'closed';
    return queue.type === 'delivering' && idleSince !== null && idleSince + this.times.linger <= now;
  }

  #timerOf(held: Held): Instant {
    const { queue, idleSince } = held;
    const release = idleSince === null ? Number.POSITIVE_INFINITY : idleSince + this.times.linger;
    return Math.min(this.#renewal(held), release, nextRead(queue, this.rules) ?? Number.POSITIVE_INFINITY);
  }
}

function withTimes(held: Held, now: Instant): Held {
  const idle = held.queue.type === 'delivering' && isResting(held.queue);
  const idleSince = idle ? (held.idleSince ?? now) : null;
  return idleSince === held.idleSince ? held : { ...held, idleSince };
}

/** Nothing is in progress or unwritten; remaining deliveries wait for a breaker or the end of a pause. */
function isResting(queue: HeldQueue & { readonly type: 'delivering' }): boolean {
  if (queue.running.size > 0 || queue.outcomes.length > 0 || queue.releases.size > 0) return false;
  return isIdle(queue) || queue.breaker.type === 'open' || queue.paused;
}

/** Whether a write is needed immediately. */
function isUrgent({ queue }: Held): boolean {
  if (queue.type === 'delivering') return queue.releases.size > 0;
  if (queue.type === 'lost') return queue.running.size === 0;
  return queue.complete ? queue.running.size === 0 : queue.outcomes.length > 0;
}

function mark(set: Set<string>, member: string, present: boolean): void {
  if (present) set.add(member);
  else set.delete(member);
}
