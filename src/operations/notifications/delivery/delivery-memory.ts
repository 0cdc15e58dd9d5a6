import type { CancelReason, Delivery } from '../../../notifications/delivery/delivery.js';
import type { AttemptReport, AttemptRules } from '../../../notifications/delivery/transition-delivery.js';
import type { StoredEvent } from '../../../notifications/events/event.js';
import type { LaneRules } from '../../../notifications/queue/queue-record.js';
import type { Route } from '../../../queue/choose-starts.js';
import { type AdaptiveLimit, hasSlot, initialLimit, type SlotRules } from '../../../queue/limits.js';
import type { Settings } from '../../../settings.js';
import type { Instant } from '../../../shared/instant.js';
import type { Key } from '../../../shared/table.js';
import type { Destination, DestinationRoute, OpenDestination } from './load-destination.js';

/** A delivery that this process attempts. */
export interface DeliveryItem {
  /** As it was claimed, by the write with this index. */
  readonly delivery: Delivery;
  readonly claimedAt: number;
  /** Null when it is not stored any more, or not needed. */
  readonly event: StoredEvent | null;
  readonly destination: OpenDestination;
  /** A later notification of its run may wait for it. */
  isFollowed: boolean;
  /** Its end is to be recorded. */
  hasEnded?: boolean;
}

/** How an attempt ended, and when, by both clocks. */
export type DeliveryEnd =
  | {
      readonly type: 'report';
      readonly report: AttemptReport;
      readonly at: Instant;
      readonly wall: Instant;
      /** In [0, 1), for jitter. */
      readonly fraction: number;
      /** Whether as many as the destination takes were under way. */
      readonly full: boolean;
    }
  /** Not sent, because there is nobody to send it to. */
  | { readonly type: 'not_sent'; readonly wall: Instant; readonly reason: CancelReason };

export function itemKey({ delivery }: Pick<DeliveryItem, 'delivery'>): string {
  return `${delivery.configurationId} ${delivery.sequence}`;
}

/** What was found out about a configuration that needs a turn: nothing of it can start before `until`, unless something changes. */
export interface Note {
  readonly until: Instant;
  /** `idle`: nothing is due. `slots`: any end may help. `time`: only time does. */
  readonly why: 'idle' | 'slots' | 'time';
  /** Since when nothing is due or under way. */
  readonly idleSince: Instant | null;
  /** Nothing waits, also not for a later time. */
  readonly isEmpty?: boolean;
}

interface DeliveryRules extends LaneRules, AttemptRules {
  readonly slots: SlotRules;
  /** Rows that one write changes for other reasons than an attempt. */
  readonly window: number;
  readonly linger: number;
}

export function rulesFrom({ notifications }: Settings): DeliveryRules {
  const { delivery } = notifications;
  const own = 4;
  return {
    window: delivery.window,
    linger: delivery.linger,
    maximumAge: delivery.maximumAge,
    breaker: delivery.breaker,
    limit: { initial: own, maximum: delivery.concurrencyPerDestination },
    retry: delivery.retry,
    jitter: delivery.jitter,
    maximumRetryAfter: delivery.maximumRetryAfter,
    slots: { all: delivery.concurrency, perOrigin: delivery.concurrencyPerOrigin, own },
  };
}

/** A destination, and the index of the store at which it was read. */
export interface KnownDestination {
  readonly destination: Destination;
  readonly loadedAt: number;
}

/** The most destinations and limits that are remembered. */
const mostKnown = 10_000;

/** What the loop of a process remembers. All of it can be dropped at any time. */
export class DeliveryMemory {
  readonly notes = new Map<string, Note>();
  /** Configurations to look at in the next turn, with the number of the latest change of each. */
  readonly changed = new Map<string, number>();
  #changes = 0;
  /** All configurations that need a turn are to be looked at, beginning with this key of the index; null when that is done. */
  lookFrom: Key | null = [];
  /** When the next configuration that has no note needs a turn. */
  nextWake: Instant = Number.POSITIVE_INFINITY;
  readonly limits = new Map<string, AdaptiveLimit>();
  readonly destinations = new Map<string, KnownDestination>();
  /** Attempts under way or about to begin. */
  readonly running = new Map<string, number>();
  readonly perOrigin = new Map<string, number>();
  inFlight = 0;
  /** When backlogs were counted. */
  readonly counted = new Map<string, Instant>();
  /** The first of each run that is under way here, by configuration and run. */
  readonly heads = new Map<string, DeliveryItem>();

  constructor(readonly rules: DeliveryRules) {}

  limitOf(configurationId: string): AdaptiveLimit {
    return this.limits.get(configurationId) ?? initialLimit(this.rules.limit);
  }

  /** Something has changed that nobody has reported: everything is read again. */
  forget(): void {
    this.notes.clear();
    this.lookFrom = [];
    this.expectFollowers();
  }

  /** Rows that are not known here may be behind those under way: of these configurations, or of all. */
  expectFollowers(configurations?: ReadonlySet<string>): void {
    for (const item of this.heads.values()) {
      if (configurations === undefined || configurations.has(item.delivery.configurationId)) item.isFollowed = true;
    }
  }

  /** Whether nothing of the configuration waits, so that a new delivery may begin at once. */
  isClear(configurationId: string, now: Instant): boolean {
    if (this.lookFrom !== null || this.changed.has(configurationId)) return false;
    const note = this.notes.get(configurationId);
    return note?.why === 'idle' && note.until > now;
  }

  /** The destination as it was read after the last change, at this index. */
  destinationOf(configurationId: string, changedAt: number): Destination | undefined {
    const known = this.destinations.get(configurationId);
    return known !== undefined && known.loadedAt >= changedAt ? known.destination : undefined;
  }

  /** The next turn has to look at the configuration. */
  mark(configurationId: string): void {
    this.#changes += 1;
    this.changed.set(configurationId, this.#changes);
  }

  /** Whether one more attempt may begin. */
  hasRoom(configurationId: string, { origin, concurrency }: DestinationRoute): boolean {
    const use = {
      queue: this.running.get(configurationId) ?? 0,
      origin: this.perOrigin.get(origin) ?? 0,
      all: this.inFlight,
    };
    return hasSlot(use, concurrency ?? this.limitOf(configurationId).limit, this.rules.slots);
  }

  take(configurationId: string, { origin }: Pick<Route, 'origin'>): void {
    this.inFlight += 1;
    this.running.set(configurationId, (this.running.get(configurationId) ?? 0) + 1);
    this.perOrigin.set(origin, (this.perOrigin.get(origin) ?? 0) + 1);
  }

  giveBack(configurationId: string, { origin }: Pick<Route, 'origin'>): void {
    this.inFlight -= 1;
    less(this.running, configurationId);
    less(this.perOrigin, origin);
  }

  /** The end of this attempt is recorded. */
  forgetHead(item: DeliveryItem): void {
    const key = headKey(item.delivery);
    if (this.heads.get(key) === item) this.heads.delete(key);
  }

  remember(destinations: ReadonlyMap<string, KnownDestination>, limits: ReadonlyMap<string, AdaptiveLimit>): void {
    if (this.destinations.size > mostKnown) this.destinations.clear();
    if (this.limits.size > mostKnown) this.limits.clear();
    if (this.counted.size > mostKnown) this.counted.clear();
    for (const [id, known] of destinations) this.destinations.set(id, known);
    for (const [id, limit] of limits) this.limits.set(id, limit);
  }
}

function less(counts: Map<string, number>, key: string): void {
  const left = (counts.get(key) ?? 1) - 1;
  if (left > 0) counts.set(key, left);
  else counts.delete(key);
}

export function headKey({ configurationId, orderKey }: Pick<Delivery, 'configurationId' | 'orderKey'>): string {
  return `${configurationId} ${orderKey ?? ''}`;
}

/** Slots taken by a write that is not durable yet. A write may run several times: each run begins anew. */
export class Reservation {
  readonly #memory: DeliveryMemory;
  #taken: { readonly id: string; readonly route: Route }[] = [];

  constructor(memory: DeliveryMemory) {
    this.#memory = memory;
  }

  take(id: string, route: Route): void {
    this.#memory.take(id, route);
    this.#taken.push({ id, route });
  }

  /** The write runs again, or has failed. */
  release(): void {
    for (const { id, route } of this.#taken.splice(0)) this.#memory.giveBack(id, route);
  }

  /** The write is durable: what it took is under way. */
  settle(): void {
    this.#taken = [];
  }
}
