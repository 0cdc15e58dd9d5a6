import { breakerAllows } from '../../notifications/circuit-breaker.js';
import { configurations } from '../../notifications/configuration.js';
import {
  type Attempt,
  type Delivery,
  type DeliveryState,
  deliveries,
  deliveryHolds,
  deliveryLanes,
  keptAttempts,
} from '../../notifications/delivery.js';
import { transitionDelivery } from '../../notifications/transition-delivery.js';
import type { ReadView, WriteView } from '../../ports/storage.js';
import type { Instant } from '../../shared/instant.js';
import type { EngineContext } from '../shared/context.js';
import { type Acknowledgement, type HeldLane, heldLane, isIdle } from './held-lane.js';
import { type Destination, loadDestination } from './load-destination.js';

/*
 * One turn is one write for everything that the loop has to store: outcomes of attempts, the next part of each queue,
 * leases taken, renewed and given back. The functions here read the lanes in memory and change nothing in them, because
 * a store may run a write again; the loop applies what they give after the commit.
 */

export interface TurnRequest {
  readonly now: Instant;
  readonly lanes: readonly LaneSnapshot[];
  /** New lanes to take at most. */
  readonly claim: number;
  /** Give everything back: the engine stops. */
  readonly stopping: boolean;
}

/** A lane with the acknowledgements that this turn stores. */
export interface LaneSnapshot {
  readonly lane: HeldLane;
  readonly acknowledgements: readonly Acknowledgement[];
}

export interface LaneOutcome {
  readonly lane: HeldLane;
  /** Null: no longer held. */
  readonly held: { readonly rowIndex: number; readonly leaseUntil: Instant } | null;
  readonly refill: Refill | null;
  /** Whether somebody else had touched the lane. */
  readonly touched: boolean;
  readonly autoDisabled: boolean;
}

export interface Refill {
  readonly rows: readonly Delivery[];
  readonly cursor: HeldLane['cursor'];
  readonly exhausted: boolean;
}

export interface TurnResult {
  readonly outcomes: readonly LaneOutcome[];
  readonly claimed: readonly { readonly lane: HeldLane; readonly refill: Refill }[];
}

/** Deliveries of a closed configuration that one turn cancels. */
const cancelBatch = 500;

export function runTurn(context: EngineContext, view: WriteView, request: TurnRequest): TurnResult {
  const outcomes = request.lanes.map((snapshot) => turnLane(context, view, snapshot, request));
  const due =
    request.claim > 0 && !request.stopping
      ? view.list(deliveryLanes, { index: 'by_wake', to: [request.now, null], limit: request.claim })
      : [];
  const share = Math.max(4, Math.floor(context.settings.notifications.delivery.batch / Math.max(1, due.length)));
  const claimed: { lane: HeldLane; refill: Refill }[] = [];
  for (const { record } of due) {
    // Its lease had run out while this engine still held it; the lane is taken up again by the next turn.
    if (request.lanes.some(({ lane }) => lane.configurationId === record.configurationId)) continue;
    const until = request.now + context.settings.notifications.delivery.lease;
    const destination = loadDestination(context, view, record.configurationId, request.now);
    const holds = view.list(deliveryHolds, { prefix: [record.configurationId] }).map((row) => row.record);
    const lane = heldLane(record, destination, holds, until, view.index);
    const refill = readQueue(view, lane, lane.known, request.now, share);
    if (destination.type === 'closed' || refill.rows.length === 0) {
      if (destination.type === 'closed') cancelQueue(view, lane.configurationId, destination, request.now);
      parkLane(view, lane, request.now);
      continue;
    }
    view.put(deliveryLanes, { ...record, lease: { owner: context.owner, until } });
    claimed.push({ lane, refill });
  }
  return { outcomes, claimed };
}

function turnLane(
  context: EngineContext,
  view: WriteView,
  { lane, acknowledgements }: LaneSnapshot,
  { now, stopping }: TurnRequest,
): LaneOutcome {
  const { delivery } = context.settings.notifications;
  const row = view.get(deliveryLanes, [lane.configurationId]);
  const owned = !lane.lost && row?.record.lease?.owner === context.owner;
  const trusted = owned && row?.modifyIndex === lane.rowIndex;
  for (const acknowledgement of acknowledgements) {
    store(view, acknowledgement, trusted && !lane.doubtful.has(acknowledgement.before.id));
  }
  const touched = !trusted;
  const autoDisabled = owned && disableWhenFailing(context, view, lane, acknowledgements, now);
  if (!owned) return { lane, held: null, refill: null, touched, autoDisabled };

  const idle = isIdle(lane);
  const destination = autoDisabled ? closedBySwitch : closedNow(view, lane);
  if (destination !== null && idle) cancelQueue(view, lane.configurationId, destination, now);
  if (idle) {
    const refill = stopping ? nothingRead : readQueue(view, lane, none, now, delivery.batch);
    if (refill.rows.length === 0 || destination !== null) {
      parkLane(view, lane, now);
      return { lane, held: null, refill: null, touched, autoDisabled };
    }
    return { lane, held: keep(context, view, lane, now), refill, touched, autoDisabled };
  }
  const low = lane.ready.length < lowWater(delivery.batch) && !lane.exhausted && !stopping && !touched;
  const refill = low ? readQueue(view, lane, lane.known, now, delivery.batch) : null;
  return { lane, held: keep(context, view, lane, now), refill, touched, autoDisabled };
}

const none: ReadonlySet<string> = new Set();
const nothingRead: Refill = { rows: [], cursor: null, exhausted: true };
const closedBySwitch: Destination & { readonly type: 'closed' } = { type: 'closed', reason: 'configuration_disabled' };

/** Below this many deliveries in memory, more are read. */
export function lowWater(batch: number): number {
  return Math.max(1, Math.floor(batch / 4));
}

/** The next deliveries of the lane that are due and not in memory. While the breaker is open only redeliveries are. */
export function readQueue(
  view: ReadView,
  lane: HeldLane,
  known: ReadonlySet<string>,
  now: Instant,
  wanted: number,
): Refill {
  const open = breakerAllows(lane.breaker, now) === 'none';
  const limit = lane.cursor === null ? wanted + known.size : wanted;
  const rows = view
    .list(deliveries, {
      index: 'due',
      from: lane.cursor ?? [lane.configurationId],
      to: [lane.configurationId, open ? 0 : now, ''],
      limit,
    })
    .map((row) => row.record);
  const last = rows.at(-1);
  const exhausted = rows.length < limit || last === undefined;
  return {
    rows: rows.filter((row) => !known.has(row.id)),
    // One part more than the last key: behind it, before its successor.
    cursor: exhausted ? null : [...(deliveries.indexes['due']?.key(last) ?? []), null],
    exhausted,
  };
}

/** Renews the lease when half of it has passed, or when the breaker has to be remembered. */
function keep(
  context: EngineContext,
  view: WriteView,
  lane: HeldLane,
  now: Instant,
): { readonly rowIndex: number; readonly leaseUntil: Instant } {
  const { lease } = context.settings.notifications.delivery;
  const row = view.get(deliveryLanes, [lane.configurationId]);
  const changed = row !== undefined && row.record.breaker.type !== lane.breaker.type;
  if (row === undefined || (lane.leaseUntil - now > lease / 2 && !changed)) {
    return { rowIndex: row?.modifyIndex ?? lane.rowIndex, leaseUntil: lane.leaseUntil };
  }
  const until = now + lease;
  const { breaker, failingSince } = lane;
  view.put(deliveryLanes, { ...row.record, breaker, failingSince, lease: { owner: context.owner, until } });
  return { rowIndex: view.index, leaseUntil: until };
}

/** Gives a lane back: it comes up again when its first delivery is due and its breaker allows, and goes when there is none. */
function parkLane(view: WriteView, lane: HeldLane, now: Instant): void {
  const { configurationId, breaker, failingSince } = lane;
  const first = view.list(deliveries, { index: 'due', prefix: [configurationId], limit: 1 })[0]?.record;
  if (first === undefined || !('dueAt' in first.state)) {
    for (const hold of view.list(deliveryHolds, { prefix: [configurationId] })) {
      view.remove(deliveryHolds, [configurationId, hold.record.orderKey]);
    }
    const spotless = breaker.type === 'closed' && breaker.failures === 0 && failingSince === null;
    if (spotless || view.get(configurations, [configurationId]) === undefined) {
      view.remove(deliveryLanes, [configurationId]);
    } else {
      view.put(deliveryLanes, { configurationId, dueAt: null, lease: null, breaker, failingSince });
    }
    return;
  }
  const allowedFrom = breaker.type === 'open' ? breaker.until : 0;
  const atOnce = first.state.type === 'manual' || view.get(configurations, [configurationId]) === undefined;
  const dueAt = atOnce ? now : Math.max(first.state.dueAt, allowedFrom);
  view.put(deliveryLanes, { configurationId, dueAt, lease: null, breaker, failingSince });
}

function closedNow(view: ReadView, lane: HeldLane): (Destination & { readonly type: 'closed' }) | null {
  const configuration = view.get(configurations, [lane.configurationId])?.record;
  if (configuration === undefined) return { type: 'closed', reason: 'configuration_deleted' };
  return configuration.enabled ? null : closedBySwitch;
}

/** Of a disabled configuration what is due is cancelled, of a deleted one everything. */
function cancelQueue(
  view: WriteView,
  configurationId: string,
  { reason }: Destination & { readonly type: 'closed' },
  now: Instant,
): void {
  const range =
    reason === 'configuration_deleted'
      ? { prefix: [configurationId] }
      : { from: [configurationId], to: [configurationId, now, ''] };
  for (const { record } of view.list(deliveries, { index: 'due', ...range, limit: cancelBatch })) {
    const state = transitionDelivery(record.state, { type: 'cancelled', at: now, reason });
    if (state.isOk()) view.put(deliveries, { ...record, state: state.value });
  }
}

function store(view: WriteView, acknowledgement: Acknowledgement, trusted: boolean): void {
  const { before, hold } = acknowledgement;
  const current = trusted ? before : view.get(deliveries, [before.id])?.record;
  if (current === undefined) return;
  view.put(deliveries, trusted ? acknowledgement.after : reapply(current, acknowledgement));
  if (hold === null) return;
  const { configurationId } = before;
  if (hold.until !== null) {
    view.put(deliveryHolds, { configurationId, orderKey: hold.orderKey, deliveryId: before.id, until: hold.until });
    return;
  }
  const ended = view.get(deliveryHolds, [configurationId, hold.orderKey])?.record;
  if (ended === undefined || !view.remove(deliveryHolds, [configurationId, hold.orderKey])) return;
  if (before.state.type === 'manual') releaseFollowers(view, before, ended.until);
}

/** The record was touched since it was read: a redelivery was asked for, or the lane had another owner for a while. */
function reapply(current: Delivery, { before, event, attempt, after }: Acknowledgement): Delivery {
  const logged =
    attempt === null ? current : { ...current, attempts: withAttempt(current, attempt), doneUsers: after.doneUsers };
  const { state } = current;
  if (sameState(state, before.state)) {
    return { ...logged, state: transitionDelivery(state, event).unwrapOr(state) };
  }
  if (event.type === 'attempt_delivered') return { ...logged, state: transitionDelivery(state, event).unwrapOr(state) };
  if (state.type === 'manual' && event.type === 'attempt_failed' && sameState(state.before, before.state)) {
    const next = transitionDelivery(state.before, event).unwrapOr(state.before);
    return { ...logged, state: next.type === 'manual' ? state : { ...state, before: next } };
  }
  return logged;
}

function sameState(a: DeliveryState, b: DeliveryState): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** The attempts with one more, numbered after the last one. */
export function withAttempt(delivery: Delivery, attempt: Attempt): readonly Attempt[] {
  const number = (delivery.attempts.at(-1)?.number ?? 0) + 1;
  return [...delivery.attempts.slice(1 - keptAttempts), { ...attempt, number }];
}

/** Rows of a run that are looked for when a redelivery ends its hold early. */
const followersLookedFor = 1000;

/** What waited behind a delivery that a redelivery has delivered ahead of its time need not wait any longer. */
function releaseFollowers(view: WriteView, head: Delivery, until: Instant): void {
  const { configurationId, orderKey } = head;
  const rows = view.list(deliveries, {
    index: 'due',
    from: [configurationId, until],
    to: [configurationId, until, ''],
    limit: followersLookedFor,
  });
  for (const { record } of rows) {
    if (record.orderKey !== orderKey || record.state.type !== 'waiting' || record.id === head.id) continue;
    view.put(deliveries, { ...record, state: { ...record.state, dueAt: record.createdAt } });
  }
}

/** The automatic switch-off, when the host wants it: a destination that has failed for so long is not asked any more. */
function disableWhenFailing(
  context: EngineContext,
  view: WriteView,
  lane: HeldLane,
  acknowledgements: readonly Acknowledgement[],
  now: Instant,
): boolean {
  const after = context.settings.notifications.delivery.autoDisableAfter;
  if (after === null || lane.failingSince === null || now - lane.failingSince < after) return false;
  if (!acknowledgements.some(({ event }) => event.type === 'attempt_failed')) return false;
  const configuration = view.get(configurations, [lane.configurationId])?.record;
  if (configuration === undefined || !configuration.enabled) return false;
  view.put(configurations, {
    ...configuration,
    enabled: false,
    updatedAt: Math.max(now, configuration.updatedAt),
    version: configuration.version + 1,
  });
  return true;
}
