import { configurations } from '../../../notifications/configurations/configuration.js';
import { deliveries, deliveryKey, isInOrder, isUnfinished } from '../../../notifications/delivery/delivery.js';
import {
  concludeAttempt,
  mergeOutcome,
  type Outcome,
  outcomeOf,
} from '../../../notifications/delivery/transition-delivery.js';
import { type CustomEvent, firstSequenceOf } from '../../../notifications/events/event.js';
import { explain } from '../../../notifications/explain.js';
import { type Alert, decideAlerts } from '../../../notifications/queue/decide-alerts.js';
import {
  afterReport,
  holdAfter,
  hookHolds,
  nextLimit,
  type QueueRecord,
  queues,
  timeLeft,
  withCancellation,
} from '../../../notifications/queue/queue-record.js';
import { workspaces } from '../../../notifications/workspace.js';
import { isSameStart } from '../../../queue/process.js';
import { type Instant, isoFromInstant } from '../../../shared/instant.js';
import { emit } from '../../context/engine-context.js';
import type { Ended } from '../../queue/work-loop.js';
import { releaseNext } from '../../records/delivery-rows.js';
import { isOfPresentWorkspace } from '../../records/earlier-workspace.js';
import { publishNotificationEvent } from '../../records/publish-notification-event.js';
import type { DeliveryEnd, DeliveryItem } from './delivery-memory.js';
import type { DeliveryTurn } from './delivery-turn.js';
import { observeAttempt, observeEnd } from './observe.js';

type EndedDelivery = Ended<DeliveryItem, DeliveryEnd>;

/** Stores the outcomes of attempts with what they mean for their configurations. Returns these. */
export function recordEnds(turn: DeliveryTurn, ends: readonly EndedDelivery[]): Set<string> {
  const byConfiguration = new Map<string, EndedDelivery[]>();
  for (const ended of ends) {
    const { configurationId } = ended.item.delivery;
    const list = byConfiguration.get(configurationId);
    if (list === undefined) byConfiguration.set(configurationId, [ended]);
    else list.push(ended);
  }
  for (const [id, list] of byConfiguration) recordConfiguration(turn, id, list);
  return new Set(byConfiguration.keys());
}

function recordConfiguration(turn: DeliveryTurn, id: string, ends: readonly EndedDelivery[]): void {
  const { tx } = turn;
  const row = tx.get(queues, [id]);
  const outcomes: Outcome[] = [];
  let queue = row?.record;
  for (const ended of ends) {
    const { outcome, isOurs } = recordEnd(turn, ended, queue);
    outcomes.push(outcome);
    queue = isOurs && queue !== undefined ? assess(turn, queue, ended, outcome) : queue;
    const { attempt } = outcome;
    turn.reports.push(() => observeEnd(turn.context, outcome));
    if (attempt !== null && ended.end.type === 'report') askToWait(turn, ended.item, ended.end);
  }
  if (row === undefined || queue === undefined) return;
  const woken = outcomes.some(goesOn) ? awake(queue, turn.time.now) : queue;
  const disabled = disableWhenFailing(turn, woken, outcomes);
  const next = publishAlerts(turn, disabled ?? woken, {
    outcomes,
    autoDisabled: disabled !== null,
    since: row.createIndex,
  });
  if (JSON.stringify(next) !== JSON.stringify(row.record)) tx.put(queues, next);
}

/** Whether something may be due after it: its next attempt, or the next notification of its run. */
function goesOn({ after }: Outcome): boolean {
  return isUnfinished(after.state) || after.orderKey !== null;
}

/** The queue as one to look at, whoever thought that nothing is left of it. */
function awake(queue: QueueRecord, now: Instant): QueueRecord {
  return queue.wakeAt !== null && queue.wakeAt <= now ? queue : { ...queue, wakeAt: 0 };
}

/** Alerts about deliveries that have ended by their age. */
export function reportExpired(turn: DeliveryTurn): void {
  for (const [id, outcomes] of turn.expired) {
    const row = turn.tx.get(queues, [id]);
    if (row === undefined) continue;
    const next = publishAlerts(turn, row.record, { outcomes, autoDisabled: false, since: row.createIndex });
    if (next !== row.record) turn.tx.put(queues, next);
  }
}

/** Stores one outcome, and releases the next notification of the run. */
function recordEnd(
  turn: DeliveryTurn,
  { item, end }: EndedDelivery,
  queue: QueueRecord | undefined,
): { readonly outcome: Outcome; readonly isOurs: boolean } {
  const { tx } = turn;
  const { delivery } = item;
  const row = tx.get(deliveries, deliveryKey(delivery));
  const concluded = conclude(turn, delivery, end);
  // Most rows are as they were claimed, and need not be parsed.
  const stored = row?.modifyIndex === item.claimedAt ? delivery : row?.record;
  if (stored === undefined) return { outcome: concluded, isOurs: false };
  const isOurs = isSameStart(stored, delivery);
  const merged = mergeOutcome(stored, concluded, isOurs);
  const after = isOurs ? notAgain(merged, queue) : merged;
  tx.put(deliveries, after);
  const hasLeft = isInOrder(stored.state) && (!isInOrder(after.state) || after.state.type === 'behind');
  if (hasLeft && (item.isFollowed || !turn.isKnown)) releaseNext(tx, after, turn.time.now);
  return { outcome: { ...concluded, before: { ...stored, state: concluded.before.state }, after }, isOurs };
}

function conclude(turn: DeliveryTurn, delivery: DeliveryItem['delivery'], end: DeliveryEnd): Outcome {
  const { rules } = turn.memory;
  if (end.type === 'not_sent') return outcomeOf(delivery, { type: 'cancelled', at: end.wall, reason: end.reason });
  const { report, at, wall, fraction } = end;
  const left = timeLeft(delivery.createdAt, { now: at, wall }, rules);
  return concludeAttempt(delivery, report, rules, { at, wall, fraction, timeLeft: left });
}

/** After its configuration was disabled or deleted, an attempt under way is the last one. */
function notAgain(after: Outcome['after'], queue: QueueRecord | undefined): Outcome['after'] {
  const cancellation = queue?.cancellation ?? null;
  if (cancellation === null || after.sequence > cancellation.through || !isUnfinished(after.state)) return after;
  const { at, reason } = cancellation;
  return outcomeOf(after, { type: 'cancelled', at, reason }).after;
}

/** What the attempt says about the destination. */
function assess(turn: DeliveryTurn, queue: QueueRecord, { item, end }: EndedDelivery, outcome: Outcome): QueueRecord {
  if (end.type !== 'report') return queue;
  const { report, at, full } = end;
  const { rules } = turn.memory;
  const { configurationId } = queue;
  const next = afterReport(queue, { delivery: item.delivery, report, at }, rules);
  const limit = turn.limits.get(configurationId) ?? turn.memory.limitOf(configurationId);
  turn.limits.set(configurationId, nextLimit(limit, report, { full, at }, rules));
  turn.reports.push(() => observeAttempt(turn.context, { before: queue, after: next }, { outcome, end }));
  return next;
}

/** Stores the pause that a hook asked for. Past pauses are removed. */
function askToWait(
  turn: DeliveryTurn,
  { delivery, destination }: DeliveryItem,
  { report, at }: Extract<DeliveryEnd, { type: 'report' }>,
): void {
  const { tx, time, memory } = turn;
  const until = holdAfter(delivery.kind, report, at, memory.rules.maximumRetryAfter);
  if (until === null) return;
  for (const { record } of tx.list(hookHolds)) if (record.until <= time.now) tx.remove(hookHolds, [record.hook]);
  const hook = destination.route.rateKey;
  const present = tx.get(hookHolds, [hook])?.record.until ?? time.now;
  if (until > present) tx.put(hookHolds, { hook, until });
}

/** Disables a configuration whose destination has failed for longer than `autoDisableAfter`, if that is set. */
function disableWhenFailing(
  { context, tx, time }: DeliveryTurn,
  queue: QueueRecord,
  outcomes: readonly Outcome[],
): QueueRecord | null {
  const after = context.settings.notifications.delivery.autoDisableAfter;
  if (after === null || queue.failingSince === null || time.now - queue.failingSince < after) return null;
  if (!outcomes.some(({ event }) => event.type === 'attempt_failed')) return null;
  const configuration = tx.get(configurations, [queue.configurationId])?.record;
  if (configuration === undefined || !configuration.enabled) return null;
  tx.put(configurations, {
    ...configuration,
    enabled: false,
    updatedAt: Math.max(time.wall, configuration.updatedAt),
    version: configuration.version + 1,
  });
  const through = firstSequenceOf(tx.index) - 1;
  return withCancellation(queue, { through, at: time.wall, reason: 'configuration_disabled' });
}

/** Publishes alerts about the destination in the same write; returns the row that records them. */
function publishAlerts(
  turn: DeliveryTurn,
  queue: QueueRecord,
  about: { readonly outcomes: readonly Outcome[]; readonly autoDisabled: boolean; readonly since: number },
): QueueRecord {
  const { context, tx, time } = turn;
  const { configurationId, workspaceId } = queue;
  if (about.autoDisabled) {
    turn.reports.push(() => {
      const message = 'A notification configuration was disabled: it failed for too long';
      context.logger.warn({ configuration: configurationId }, message);
      emit(context, 'notification.configuration', { configurationId, workspaceId, change: 'auto_disabled' });
    });
  }
  const { alertAfter } = context.settings.notifications.delivery;
  const decided = decideAlerts(about.outcomes, queue, {
    now: time.now,
    after: alertAfter,
    autoDisabled: about.autoDisabled,
  });
  // The queue of an earlier workspace with this ID may still have an attempt in progress, which does not concern the current one.
  if (!isOfPresentWorkspace(tx, workspaceId, about.since)) return decided.row;
  for (const alert of decided.alerts) publishAlert(turn, queue, alert);
  return decided.row;
}

function publishAlert({ context, tx, time, again }: DeliveryTurn, queue: QueueRecord, alert: Alert): void {
  const { configurationId, workspaceId } = queue;
  const about = tx.get(configurations, [configurationId])?.record;
  const event: CustomEvent = {
    kind: 'custom',
    trigger: alert.type,
    message: alert.message,
    data: { ...alert.data, configuration_name: about?.name ?? '' },
    orderKey: configurationId,
    occurredAt: isoFromInstant(time.wall),
    body: 'envelope',
  };
  const workspace = tx.get(workspaces, [workspaceId])?.record;
  const rows = tx.list(configurations, { index: 'by_workspace', prefix: [workspaceId] });
  const present = rows.map(({ record }) => record);
  if (workspace === undefined) return;
  const notified = explain(event, workspace, present).filter(({ fires }) => fires);
  if (notified.length === 0) return;
  const environment = { now: time.wall, ids: tx.ids, settings: context.settings };
  const published = publishNotificationEvent(tx, environment, { ...event, workspaceId });
  if (published.isErr()) context.logger.warn({ configuration: configurationId }, 'An alert could not be published');
  for (const { configurationId: each } of notified) again.add(each);
}
