import type { Instant } from '../../shared/instant.js';
import { type Attempt, type Delivery, isUnfinished } from '../delivery/delivery.js';
import type { DeliveryEvent } from '../delivery/transition-delivery.js';
import { type StoredEvent, writesBetween } from '../events/event.js';
import { type AdaptiveLimit, initialLimit, type LimitRules } from './adaptive-limit.js';
import type { Breaker, BreakerRules } from './circuit-breaker.js';
import { type PersistentMap, persistentMap } from './persistent-map.js';
import type { Blockage, Cancellation, QueueRecord } from './queue-record.js';

/** A delivery in memory. */
export interface QueuedDelivery {
  readonly delivery: Delivery;
  /** Whether it has a stored row; otherwise it is derived from its event. */
  readonly stored: boolean;
  /** Its event, if it has been read. */
  readonly event: StoredEvent | null;
}

/** A change of a delivery that must be written. */
export interface Outcome {
  readonly before: QueuedDelivery;
  /** Null when the row is written only so that the queue's position can pass a delivery whose attempt takes long. */
  readonly event: DeliveryEvent | null;
  readonly attempt: Omit<Attempt, 'number'> | null;
  /** The row, if no other writer has changed it. */
  readonly after: Delivery;
}

/** Whether attempts have ended without delivering to all recipients. */
export function isGivenUp({ before, event, after }: Outcome): boolean {
  if (!isUnfinished(before.delivery.state)) return false;
  const { type } = after.state;
  return type === 'dead' || (type === 'partly_delivered' && event?.type !== 'attempt_delivered');
}

/**
 * A run whose first unfinished notification is being attempted or at the head of the queue. Its later ones wait until that is
 * finished.
 */
interface Run {
  /** The sequence of the first unfinished one. */
  readonly head: number;
  /** Later ones in memory, in order; none when the store has some. */
  readonly waiting: readonly QueuedDelivery[];
  /** Whether the store may have later ones, or will have them with the outcomes that are not written yet. */
  readonly storedBehind: boolean;
}

interface Held {
  readonly configurationId: string;
  readonly workspaceId: string;
  /** Attempts in progress, by sequence. */
  readonly running: PersistentMap<number, QueuedDelivery>;
  /** Not written yet, in order of occurrence. */
  readonly outcomes: readonly Outcome[];
  /** Sequence numbers whose rows another writer may have changed since they were read. */
  readonly unconfirmed: ReadonlySet<number>;
}

/** A queue leased by this engine. */
export interface DeliveringQueue extends Held {
  readonly type: 'delivering';
  /** As stored; see `QueueRecord`. */
  readonly position: number;
  /** Events up to this sequence have been read. */
  readonly readThrough: number;
  /** The last read found nothing new beyond `readThrough`; deliveries accepted since are added on arrival. */
  readonly complete: boolean;
  /** Redeliveries. */
  readonly urgent: readonly QueuedDelivery[];
  /** Due retries, by time and sequence. */
  readonly retries: readonly QueuedDelivery[];
  /** Never attempted, by sequence. */
  readonly fresh: readonly QueuedDelivery[];
  /** When the next stored delivery that is not in memory is due; null when there is none. */
  readonly nextDue: Instant | null;
  readonly runs: PersistentMap<string, Run>;
  /** Runs whose first unfinished notification waits in the store for its next attempt, with its sequence. */
  readonly storedHeads: ReadonlyMap<string, number>;
  /** How complete `storedHeads` is: `unread` (nothing was read yet), `partial` (not every run) or `whole` (all runs). */
  readonly runsRead: 'unread' | 'partial' | 'whole';
  /** Runs whose head is finished, and whose next notification in the store becomes due with the next write. */
  readonly releases: ReadonlySet<string>;
  readonly breaker: Breaker;
  readonly failingSince: Instant | null;
  readonly blockage: Blockage | null;
  readonly limit: AdaptiveLimit;
  /** Paused by a user: only redeliveries are sent. */
  readonly paused: boolean;
}

/** A leased queue whose configuration was disabled or deleted: its unfinished deliveries are being cancelled. */
export interface CancellingQueue extends Held {
  readonly type: 'cancelling';
  readonly position: number;
  readonly readThrough: number;
  readonly cancellation: Cancellation;
  /** The last read found nothing left to cancel. */
  readonly complete: boolean;
  readonly breaker: Breaker;
  readonly failingSince: Instant | null;
  readonly blockage: Blockage | null;
  readonly limit: AdaptiveLimit;
}

/** A queue whose lease was lost: only attempts in progress still arrive. */
interface LostQueue extends Held {
  readonly type: 'lost';
}

export type HeldQueue = DeliveringQueue | CancellingQueue | LostQueue;

/** The rules of a queue's decisions. */
export interface QueueRules {
  /** The approximate maximum of deliveries of one queue in memory, for each kind. */
  readonly window: number;
  /** The age, counted from acceptance, at which a delivery expires. */
  readonly maximumAge: number;
  readonly breaker: BreakerRules;
  readonly limit: LimitRules;
}

/** A newly leased queue, with nothing in memory yet. */
export function heldQueue(record: QueueRecord, rules: QueueRules): DeliveringQueue | CancellingQueue {
  return reopened(record, initialLimit(rules.limit), { running: persistentMap(), outcomes: [], releases: new Set() });
}

/** The queue in the state of the record; everything in memory except attempts in progress is dropped and read again. */
export function reopened(
  record: QueueRecord,
  limit: AdaptiveLimit,
  kept: Pick<HeldQueue, 'running' | 'outcomes'> & { readonly releases: ReadonlySet<string> },
): DeliveringQueue | CancellingQueue {
  const {
    configurationId,
    workspaceId,
    position,
    breaker,
    failingSince,
    hindered: blockage = null,
    cancellation,
  } = record;
  const common = {
    configurationId,
    workspaceId,
    position,
    breaker,
    failingSince,
    blockage,
    limit,
    readThrough: position,
    complete: false,
    running: kept.running,
    outcomes: kept.outcomes,
    unconfirmed: new Set([...kept.running.keys(), ...kept.outcomes.map(({ before }) => before.delivery.sequence)]),
  };
  if (cancellation !== null) return { ...common, type: 'cancelling', cancellation };
  return {
    ...common,
    type: 'delivering',
    urgent: [],
    retries: [],
    fresh: [],
    nextDue: null,
    runs: persistentMap(),
    storedHeads: new Map(),
    runsRead: 'unread',
    releases: kept.releases,
    paused: record.pausedAt !== undefined,
  };
}

/** Whether the queue has nothing to start, in progress, or to be written. */
export function isIdle(queue: HeldQueue): boolean {
  if (queue.running.size > 0 || queue.outcomes.length > 0) return false;
  if (queue.type !== 'delivering') return true;
  return !hasReady(queue) && queue.releases.size === 0;
}

export function hasReady({ urgent, retries, fresh }: DeliveringQueue): boolean {
  return urgent.length > 0 || retries.length > 0 || fresh.length > 0;
}

/** Whether the queue should be read: little is left in memory, or a stored delivery has become due. */
export function wantsMore(queue: HeldQueue, now: Instant, rules: Pick<QueueRules, 'window'>): boolean {
  if (queue.type === 'lost') return false;
  if (queue.type === 'cancelling') return !queue.complete && queue.outcomes.length < rules.window;
  if (queue.runsRead === 'unread' || (!queue.complete && queue.fresh.length < lowWater(rules))) return true;
  const due = nextRead(queue, rules);
  return due !== null && due <= now;
}

/** When the next stored delivery becomes due that fits into memory; null for none. */
export function nextRead(queue: HeldQueue, rules: Pick<QueueRules, 'window'>): Instant | null {
  return queue.type === 'delivering' && queue.retries.length < lowWater(rules) ? queue.nextDue : null;
}

/** Below this many deliveries in memory, more are read. */
function lowWater({ window }: Pick<QueueRules, 'window'>): number {
  return Math.max(1, Math.floor(window / 4));
}

/**
 * Approximate number of deliveries that wait for their first attempt because events arrive faster than they are sent. 0 for a queue
 * that waits for something else: an open breaker, or a person. `last` is the highest sequence that may exist.
 */
export function backlogOf(queue: DeliveringQueue, last: number): number {
  if (queue.breaker.type === 'open' || queue.paused) return 0;
  return queue.fresh.length + (queue.complete ? 0 : writesBetween(queue.readThrough, last));
}

/** The sequences whose newest state exists only in memory. */
export function knownSequences(queue: HeldQueue): Set<number> {
  const known = new Set(queue.running.keys());
  for (const { before } of queue.outcomes) known.add(before.delivery.sequence);
  if (queue.type !== 'delivering') return known;
  for (const list of [queue.urgent, queue.retries, queue.fresh]) {
    for (const { delivery } of list) known.add(delivery.sequence);
  }
  for (const { waiting } of queue.runs.values()) for (const { delivery } of waiting) known.add(delivery.sequence);
  return known;
}

/**
 * The sequence up to which every delivery has a row when the outcomes are written: just before the first one that is only in memory.
 * Attempts in progress count as in memory until their row is written.
 */
export function positionAfter(queue: DeliveringQueue): number {
  let position = queue.readThrough;
  const keep = ({ delivery, stored }: QueuedDelivery): void => {
    if (!stored && delivery.sequence <= position) position = delivery.sequence - 1;
  };
  for (const item of queue.running.values()) keep(item);
  const [first] = queue.fresh;
  if (first !== undefined) keep(first);
  for (const { waiting } of queue.runs.values()) if (waiting[0] !== undefined) keep(waiting[0]);
  return Math.max(queue.position, position);
}
