import { type Breaker, breakerAllows } from '../../notifications/circuit-breaker.js';
import type { Attempt, Delivery, DeliveryHold, DeliveryLane } from '../../notifications/delivery.js';
import type { DeliveryEvent } from '../../notifications/transition-delivery.js';
import type { Instant } from '../../shared/instant.js';
import type { Key } from '../../shared/table.js';
import type { Destination } from './load-destination.js';

/** Something that happened to a delivery and is not stored yet. */
export interface Acknowledgement {
  readonly before: Delivery;
  readonly event: DeliveryEvent;
  readonly attempt: Attempt | null;
  /** What the record becomes when nobody else has touched it. */
  readonly after: Delivery;
  /** The run's hold to set, to end (with null), or to leave alone. */
  readonly hold: { readonly orderKey: string; readonly until: Instant | null } | null;
}

/** A lane that this engine has leased, with the part of its queue that is in memory. */
export interface HeldLane {
  readonly configurationId: string;
  leaseUntil: Instant;
  /** Write index of the lane's row as this engine left it; another one means that somebody else touched the lane. */
  rowIndex: number;
  destination: Destination;
  /** Store index at which the destination was read. */
  loadedAt: number;
  breaker: Breaker;
  failingSince: Instant | null;
  /** Due and free to go, next first. */
  ready: Delivery[];
  /** Due, but an earlier delivery of the same run is under way. */
  readonly blocked: Map<string, Delivery[]>;
  /** Runs with an attempt under way. */
  readonly busy: Set<string>;
  /** Runs whose oldest delivery waits for another attempt. */
  readonly holds: Map<string, { readonly deliveryId: string; readonly until: Instant }>;
  /** Ids of everything in memory: ready, blocked, under way, not yet stored. */
  readonly known: Set<string>;
  /** Ids under way whose records somebody else may have changed since they were read. */
  doubtful: ReadonlySet<string>;
  inFlight: number;
  acknowledgements: Acknowledgement[];
  /** Where reading the queue goes on; null for its beginning. */
  cursor: Key | null;
  /** Nothing more was due when the queue was last read to its end. */
  exhausted: boolean;
  /** The lease ran out and somebody else has the lane; only what is under way still comes in. */
  lost: boolean;
}

export function heldLane(
  lane: DeliveryLane,
  destination: Destination,
  holds: readonly DeliveryHold[],
  leaseUntil: Instant,
  index: number,
): HeldLane {
  return {
    configurationId: lane.configurationId,
    leaseUntil,
    rowIndex: index,
    destination,
    loadedAt: index,
    breaker: lane.breaker,
    failingSince: lane.failingSince,
    ready: [],
    blocked: new Map(),
    busy: new Set(),
    holds: new Map(holds.map(({ orderKey, deliveryId, until }) => [orderKey, { deliveryId, until }])),
    known: new Set(),
    doubtful: new Set(),
    inFlight: 0,
    acknowledgements: [],
    cursor: null,
    exhausted: true,
    lost: false,
  };
}

/** Nothing is left in memory: nothing to start, under way or to be stored. */
export function isIdle(lane: HeldLane): boolean {
  return (
    lane.inFlight === 0 && lane.ready.length === 0 && lane.blocked.size === 0 && lane.acknowledgements.length === 0
  );
}

/** Adds what was read from the queue. */
export function addReady(lane: HeldLane, rows: readonly Delivery[]): void {
  for (const row of rows) {
    if (lane.known.has(row.id)) continue;
    lane.known.add(row.id);
    lane.ready.push(row);
  }
}

/**
 * Takes what may not start now off the front of the queue and gives the first delivery that may, without removing it.
 * An open breaker lets only redeliveries pass, a half open one a single attempt at a time. A delivery behind another one
 * of its run waits in memory while that is under way, and in the store while that waits for its next attempt.
 */
export function nextToStart(lane: HeldLane, now: Instant): Delivery | undefined {
  for (;;) {
    const row = lane.ready[0];
    if (row === undefined || row.state.type === 'manual') return row;
    const allowed = breakerAllows(lane.breaker, now);
    if (allowed === 'none') {
      forgetReady(lane);
      return undefined;
    }
    if (allowed === 'one' && lane.inFlight > 0) return undefined;
    const { orderKey } = row;
    if (orderKey === null) return row;
    if (lane.busy.has(orderKey)) {
      lane.ready.shift();
      const waiting = lane.blocked.get(orderKey);
      if (waiting === undefined) lane.blocked.set(orderKey, [row]);
      else waiting.push(row);
      continue;
    }
    const hold = lane.holds.get(orderKey);
    if (hold === undefined || hold.deliveryId === row.id) return row;
    lane.ready.shift();
    lane.acknowledgements.push(postponed(row, hold.until));
  }
}

/** Somebody else changed the lane: what has not started is read again, what is under way is stored with care. */
export function distrust(lane: HeldLane): void {
  forgetReady(lane);
  for (const rows of lane.blocked.values()) for (const row of rows) lane.known.delete(row.id);
  lane.blocked.clear();
  lane.doubtful = new Set(lane.known);
  lane.exhausted = false;
}

/** Leaves the queue in the store alone, where it is still due. */
export function forgetReady(lane: HeldLane): void {
  for (const row of lane.ready) lane.known.delete(row.id);
  lane.ready = [];
  lane.cursor = null;
  lane.exhausted = true;
}

/** What follows for the later deliveries of a run when an earlier one has come to rest. */
export function settleOrder(lane: HeldLane, row: Delivery, waitsUntil: Instant | null): void {
  if (row.orderKey === null) return;
  lane.busy.delete(row.orderKey);
  const followers = lane.blocked.get(row.orderKey) ?? [];
  lane.blocked.delete(row.orderKey);
  if (waitsUntil === null) {
    lane.holds.delete(row.orderKey);
    lane.ready.unshift(...followers);
  } else {
    lane.holds.set(row.orderKey, { deliveryId: row.id, until: waitsUntil });
    for (const follower of followers) lane.acknowledgements.push(postponed(follower, waitsUntil));
  }
}

/** Not before the moment at which the run's oldest delivery is due; equal moments go by sequence, so it stays behind. */
export function postponed(row: Delivery, until: Instant): Acknowledgement {
  const after = row.state.type === 'waiting' ? { ...row, state: { ...row.state, dueAt: until } } : row;
  return { before: row, event: { type: 'postponed', until }, attempt: null, after, hold: null };
}
