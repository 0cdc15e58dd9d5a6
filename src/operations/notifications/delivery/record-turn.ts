import { configurations } from '../../../notifications/configurations/configuration.js';
import { type Delivery, deliveries, deliveryKey, withoutContents } from '../../../notifications/delivery/delivery.js';
import { mergeOutcome } from '../../../notifications/delivery/merge-outcome.js';
import { transitionDelivery } from '../../../notifications/delivery/transition-delivery.js';
import { type CustomEvent, events, firstSequenceOf } from '../../../notifications/events/event.js';
import { matchConfigurations } from '../../../notifications/explain.js';
import { type Alert, decideAlerts } from '../../../notifications/queue/decide-alerts.js';
import {
  backlogOf,
  type CancellingQueue,
  type DeliveringQueue,
  type HeldQueue,
  isIdle,
  type Outcome,
  positionAfter,
} from '../../../notifications/queue/held-queue.js';
import { type HookHold, hookHolds } from '../../../notifications/queue/hook-hold.js';
import { recordAfter } from '../../../notifications/queue/next-record.js';
import {
  type QueueRecord,
  queues,
  touched as queueTouched,
  withCancellation,
} from '../../../notifications/queue/queue-record.js';
import type { Recorded } from '../../../notifications/queue/transition-queue.js';
import { workspaces } from '../../../notifications/workspace.js';
import type { WriteView } from '../../../ports/storage.js';
import { type Instant, isoFromInstant } from '../../../shared/instant.js';
import { isOfPresentWorkspace } from '../../books/earlier-workspace.js';
import { publishNotificationEvent } from '../../books/publish-notification-event.js';
import { deliveryTables, indexOf } from '../../context/accepted-events.js';
import type { EngineContext } from '../../context/engine-context.js';
import { type HeldRow, type KeptRow, keepOrGiveBack, type TurnContext, type TurnQueue } from './keep-queue.js';

/*
 * A turn is one write of everything that the loop must store: outcomes of attempts, the changes of their
 * queues, and leases that are acquired, renewed or released. The functions here do not change the queues in memory,
 * because a store may rerun a write; the loop applies their results after the commit.
 */

interface TurnRequest {
  readonly now: Instant;
  readonly queues: readonly TurnQueue[];
  /** The most further queues to lease. */
  readonly claim: number;
  readonly held: ReadonlySet<string>;
  /** Hooks that asked for a pause. */
  readonly holds: readonly HookHold[];
}

export interface TurnOutcome {
  readonly queue: HeldQueue;
  /** The row after the turn; null when this engine no longer holds the lease. */
  readonly held: KeptRow | null;
  readonly recorded: Recorded;
  /** Whether another writer had changed the queue or its rows. */
  readonly touched: boolean;
  /** Whether the cancellation is complete. */
  readonly cancelled: boolean;
  readonly autoDisabled: boolean;
}

export interface TurnResult {
  readonly outcomes: readonly TurnOutcome[];
  readonly claimed: readonly HeldRow[];
  /** Index of the last change to the queues before this write, and after it. */
  readonly queuesIndex: { readonly before: number; readonly after: number };
  /** Whether the order of the queues that wait for an engine may have changed. */
  readonly lineMoved: boolean;
  /** The same for all tables that deliveries depend on; null when the turn has changed more than queues. */
  readonly reached: { readonly before: number; readonly after: number } | null;
}

const besidesQueues = deliveryTables.filter((table) => table !== queues);

export function runTurn(context: EngineContext, view: WriteView, request: TurnRequest): TurnResult {
  const before = view.tableIndex(queues);
  const reachedBefore = indexOf(view, deliveryTables);
  if (request.holds.length > 0) writeHolds(view, request);
  const outcomes = request.queues.map((each) => turnQueue(context, view, each, request.now));
  const claimed = request.claim > 0 ? claim(context, view, request) : [];
  const after = view.tableIndex(queues);
  const others = indexOf(view, besidesQueues);
  return {
    outcomes,
    claimed,
    queuesIndex: { before, after },
    lineMoved: request.claim > 0 || outcomes.some(({ held }) => held?.renewed !== false),
    reached: others > reachedBefore ? null : { before: reachedBefore, after: Math.max(reachedBefore, after) },
  };
}

/** Stores pauses of hooks in the write that stores the responses which asked for them. Past pauses are removed. */
function writeHolds(view: WriteView, { holds, now }: TurnRequest): void {
  for (const { record } of view.list(hookHolds)) if (record.until <= now) view.remove(hookHolds, [record.hook]);
  for (const hold of holds) {
    const present = view.get(hookHolds, [hold.hook])?.record.until ?? now;
    if (hold.until > present) view.put(hookHolds, hold);
  }
}

function turnQueue(context: EngineContext, view: WriteView, turn: TurnQueue, now: Instant): TurnOutcome {
  const { queue } = turn;
  const row = view.get(queues, [queue.configurationId]);
  const owned = queue.type !== 'lost' && row?.record.lease?.owner === context.owner;
  const touched = row?.modifyIndex !== turn.rowIndex;
  storeOutcomes(view, queue, { owned, touched });
  if (!owned || row === undefined) return turnLost(view, queue, row?.record, touched);
  const count = queue.outcomes.length;
  const released = queue.type === 'delivering' ? releaseRuns(view, queue, now) : nothingReleased;
  const cancelled = isCancelled(queue) && !touched;
  const position = reachedPosition(queue, cancelled);
  const backlog = queue.type === 'delivering' ? backlogOf(queue, firstSequenceOf(view.index)) : 0;
  const change = { position, touched, cancelled, backlog };
  const next = recordAfter(row.record, queue, change);
  const scene = { context, view, now };
  const failing = disableWhenFailing(scene, queue, next);
  const published = publishAlerts(scene, queue, failing ?? next);
  const recorded = { count, position: next.position, released };
  const held = keepOrGiveBack(scene, turn, row, published);
  return { queue, held, recorded, touched, cancelled, autoDisabled: failing !== null };
}

/** Records outcomes without the lease: the present holder must learn that the head of a run has ended. */
function turnLost(view: WriteView, queue: HeldQueue, row: QueueRecord | undefined, touched: boolean): TurnOutcome {
  if (row !== undefined && hasEndedHead(queue)) view.put(queues, queueTouched(row));
  const recorded = { count: queue.outcomes.length, position: 0, released: nothingReleased };
  return { queue, held: null, recorded, touched, cancelled: false, autoDisabled: false };
}

/** Whether a head was delivered: without the lease nothing else ends a delivery, see `mergeOutcome`. */
function hasEndedHead({ outcomes }: HeldQueue): boolean {
  return outcomes.some(({ event, after }) => event?.type === 'attempt_delivered' && after.orderKey !== null);
}

const nothingReleased: Recorded['released'] = new Map();

function withoutOutcomes(queue: HeldQueue): HeldQueue {
  return { ...queue, outcomes: [] };
}

function reachedPosition(queue: DeliveringQueue | CancellingQueue, cancelled: boolean): number {
  if (queue.type === 'delivering') return positionAfter(queue);
  return cancelled ? queue.cancellation.through : queue.position;
}

function storeOutcome(view: WriteView, outcome: Outcome, trusted: boolean, owned: boolean): void {
  const { after, event } = outcome;
  if (trusted) {
    view.put(deliveries, after);
    return;
  }
  const current = view.get(deliveries, deliveryKey(after))?.record;
  if (current !== undefined) view.put(deliveries, unlessErased(view, mergeOutcome(current, outcome, owned)));
  // Without the lease only completed attempts are stored, no decisions: the next owner decides.
  else if (owned || event?.type === 'attempt_delivered') view.put(deliveries, after);
}

/** Omits the contents of an attempt if the event was erased while it was in progress. */
function unlessErased(view: WriteView, delivery: Delivery): Delivery {
  const event = view.get(events, [delivery.sequence])?.record;
  return event?.erasedAt === undefined ? delivery : withoutContents(delivery);
}

/** Makes the next stored notification of each run with an ended head due. */
function releaseRuns(view: WriteView, queue: DeliveringQueue, now: Instant): Recorded['released'] {
  if (queue.releases.size === 0) return nothingReleased;
  const released = new Map<string, { sequence: number; dueAt: Instant } | null>();
  for (const key of queue.releases) {
    const prefix = [queue.configurationId, key];
    const head = view.list(deliveries, { index: 'unfinished_of_run', prefix, limit: 1 })[0]?.record;
    released.set(key, head === undefined ? null : { sequence: head.sequence, dueAt: releaseHead(view, head, now) });
  }
  return released;
}

/** Returns the due time of the head. */
function releaseHead(view: WriteView, head: Delivery, now: Instant): Instant {
  if (head.state.type === 'waiting') return head.state.dueAt;
  const state = transitionDelivery(head.state, { type: 'released', at: now });
  if (state.isOk()) view.put(deliveries, { ...head, state: state.value });
  return now;
}

/** Disables a configuration whose destination has failed for longer than `autoDisableAfter`, if that is set. */
function disableWhenFailing(
  { context, view, now }: TurnContext,
  queue: HeldQueue,
  next: QueueRecord,
): QueueRecord | null {
  const after = context.settings.notifications.delivery.autoDisableAfter;
  if (after === null || next.failingSince === null || now - next.failingSince < after) return null;
  if (!queue.outcomes.some(({ event }) => event?.type === 'attempt_failed')) return null;
  const configuration = view.get(configurations, [queue.configurationId])?.record;
  if (configuration === undefined || !configuration.enabled) return null;
  const at = context.clock.now();
  view.put(configurations, {
    ...configuration,
    enabled: false,
    updatedAt: Math.max(at, configuration.updatedAt),
    version: configuration.version + 1,
  });
  const through = firstSequenceOf(view.index) - 1;
  return withCancellation(next, { through, at, reason: 'configuration_disabled' });
}

/** Publishes alerts about the destination in the same write; returns the row that records them. */
function publishAlerts({ context, view, now }: TurnContext, queue: HeldQueue, row: QueueRecord): QueueRecord {
  if (queue.outcomes.length === 0) return row;
  const { alertAfter } = context.settings.notifications.delivery;
  const autoDisabled = row.cancellation !== null && queue.type === 'delivering' && row.failingSince !== null;
  const decided = decideAlerts(queue, row, { now, after: alertAfter, autoDisabled });
  // The queue of an earlier workspace with this ID may still have an attempt in progress, which does not concern the current one.
  const { createIndex = 0 } = view.get(queues, [queue.configurationId]) ?? {};
  if (!isOfPresentWorkspace(view, queue.workspaceId, createIndex)) return decided.row;
  for (const alert of decided.alerts) publishAlert(context, view, queue, alert);
  return decided.row;
}

function publishAlert(context: EngineContext, view: WriteView, queue: HeldQueue, alert: Alert): void {
  const { configurationId, workspaceId } = queue;
  const wall = context.clock.now();
  const about = view.get(configurations, [configurationId])?.record;
  const event: CustomEvent = {
    kind: 'custom',
    trigger: alert.type,
    message: alert.message,
    data: { ...alert.data, configuration_name: about?.name ?? '' },
    orderKey: configurationId,
    occurredAt: isoFromInstant(wall),
    body: 'envelope',
  };
  const workspace = view.get(workspaces, [workspaceId])?.record;
  const rows = view.list(configurations, { index: 'by_workspace', prefix: [workspaceId] });
  const present = rows.map(({ record }) => record);
  if (workspace === undefined || matchConfigurations(event, workspace, present).length === 0) return;
  const environment = { now: wall, ids: context.ids, settings: context.settings };
  const published = publishNotificationEvent(view, environment, { ...event, workspaceId });
  if (published.isErr()) context.logger.warn({ configuration: configurationId }, 'An alert could not be published');
}

/** Leases due queues, earliest first. */
function claim(context: EngineContext, view: WriteView, { now, claim: most, held }: TurnRequest): HeldRow[] {
  const due = view.list(queues, { index: 'by_wake', to: [now, null], limit: most });
  return due.flatMap(({ record }) => {
    // Its lease expired while this engine still had it in memory: the next turn leases it again.
    if (held.has(record.configurationId)) return [];
    const until = now + context.settings.notifications.delivery.lease;
    const taken = { ...record, lease: { owner: context.owner, until } };
    view.put(queues, taken);
    return [{ record: taken, rowIndex: view.index }];
  });
}

/** Stores outcomes. An outcome is trusted if no other writer can have changed the row of its delivery. */
function storeOutcomes(
  view: WriteView,
  queue: HeldQueue,
  { owned, touched }: { readonly owned: boolean; readonly touched: boolean },
): void {
  for (const outcome of queue.outcomes) {
    const trusted = owned && !touched && !queue.unconfirmed.has(outcome.before.delivery.sequence);
    storeOutcome(view, outcome, trusted, owned);
  }
}

/** Whether nothing is left to cancel. */
function isCancelled(queue: HeldQueue): boolean {
  return queue.type === 'cancelling' && queue.complete && isIdle(withoutOutcomes(queue));
}
