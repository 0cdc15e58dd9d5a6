import { err, ok, type Result } from 'neverthrow';
import { configurations, type NotificationConfiguration } from '../../notifications/configurations/configuration.js';
import { deliveryIdOf, eventIdOf } from '../../notifications/delivery/delivery.js';
import { freshDelivery } from '../../notifications/delivery/transition-delivery.js';
import type { Conflict } from '../../notifications/errors.js';
import {
  contradicts,
  events,
  firstSequenceOf,
  type NotificationEvent,
  type NotifiedConfiguration,
  type StoredEvent,
  sequencesPerIndex,
} from '../../notifications/events/event.js';
import { spellingOf } from '../../notifications/events/trigger.js';
import { type Explanation, explain } from '../../notifications/explain.js';
import { afterArrival, queues } from '../../notifications/queue/queue-record.js';
import { type Workspace, workspaces } from '../../notifications/workspace.js';
import type { Ids } from '../../ports/ids.js';
import type { ReadView, WriteView } from '../../ports/storage.js';
import type { Settings } from '../../settings.js';
import type { Instant } from '../../shared/instant.js';
import type { Transaction } from '../write-transaction.js';
import { addDelivery } from './delivery-rows.js';
import { firstSequenceIn } from './earlier-workspace.js';

/** An event and its workspace. */
type PublishableEvent = NotificationEvent & {
  readonly workspaceId: string;
  /** A second event with the same key in the same workspace counts as a repetition of the first. */
  readonly idempotencyKey?: string;
};

/** The outcome of publishing an event; its notifications are stored. */
export interface PublishedEvent {
  /** `ne-` and 16 characters. */
  readonly eventId: string;
  readonly workspaceId: string;
  /** The canonical form of the trigger, or the name of the event type. */
  readonly trigger: string;
  /** One for each configuration that the event notifies; empty when there is none. */
  readonly deliveryIds: readonly string[];
  /** If it notifies no configuration: each configuration of the workspace with the reasons, as in `explainEvent`. */
  readonly explanations: readonly Explanation[];
  /**
   * Approximate number of deliveries that wait for their first attempt in the longest queue that it entered; 0 when small. If it grows,
   * the sender is faster than a destination.
   */
  readonly backlog: number;
  /** The idempotency key was used before: nothing was written, and the IDs are those of the first event. */
  readonly repeated: boolean;
}

interface UnknownWorkspace {
  readonly type: 'unknown_workspace';
  readonly workspaceId: string;
}

/** Time, identifiers and settings. */
interface PublishEnvironment {
  readonly now: Instant;
  readonly ids: Ids;
  readonly settings: Settings;
  /** The trace that the event belongs to, as a `traceparent`. */
  readonly trace?: string | undefined;
}

/**
 * Writes the event and a delivery for each of its configurations inside the caller's transaction: the cause of the event
 * and its notifications become durable together or not at all.
 */
export function publishNotificationEvent(
  view: WriteView & Partial<Pick<Transaction, 'deliver'>>,
  environment: PublishEnvironment,
  published: PublishableEvent,
): Result<PublishedEvent, UnknownWorkspace | Conflict> {
  const { workspaceId, idempotencyKey = null, ...event } = published;
  const workspace = view.get(workspaces, [workspaceId])?.record;
  if (workspace === undefined) return err({ type: 'unknown_workspace', workspaceId });
  const first = idempotencyKey === null ? undefined : firstWithKey(view, environment, workspaceId, idempotencyKey);
  if (first !== undefined) return repeated(first, event);

  const rows = view.list(configurations, { index: 'by_workspace', prefix: [workspaceId] });
  const present = rows.map((row) => row.record);
  const explanations = explain(event, workspace, present);
  const notified = present.filter((_configuration, at) => explanations[at]?.fires === true);
  const missed = present.flatMap(({ id, kind, name }, at) => {
    const { fires = true, obstacles = [] } = explanations[at] ?? {};
    return fires ? [] : [{ id, ...(kind === 'generic' ? {} : { kind }), name, obstacles }];
  });
  const { stored, backlog } = storeEvent(view, environment, workspace, { event, idempotencyKey, notified, missed });
  return ok({
    ...summaryOf(stored),
    explanations: notified.length === 0 ? explanations : [],
    backlog,
    repeated: false,
  });
}

interface StorableEvent extends Pick<StoredEvent, 'event' | 'idempotencyKey' | 'missed' | 'sample'> {
  readonly notified: readonly NotificationConfiguration[];
}

/** Writes an event with its deliveries. `backlog`: see `PublishedEvent`. */
export function storeEvent(
  view: WriteView & Partial<Pick<Transaction, 'deliver'>>,
  environment: PublishEnvironment,
  workspace: Workspace,
  { event, idempotencyKey, notified, missed, sample }: StorableEvent,
): { readonly stored: StoredEvent; readonly backlog: number } {
  const sequence = nextSequence(view, notified.length);
  const stored: StoredEvent = {
    id: eventIdOf(sequence, environment.ids.next('notification_event')),
    workspaceId: workspace.id,
    sequence,
    numbered: true,
    createdAt: environment.now,
    trigger: event.trigger,
    event,
    idempotencyKey,
    notified: notified.map((configuration) => notifiedBy(event, configuration)),
    ...(missed === undefined ? {} : { missed }),
    surroundings: surroundingsOf(workspace, environment.settings),
    ...(environment.trace === undefined ? {} : { traceparent: environment.trace }),
    ...(sample === undefined ? {} : { sample }),
  };
  view.put(events, stored);
  const ordered = environment.settings.notifications.delivery.ordering !== 'none';
  for (let position = 0; position < notified.length; position += 1) {
    const delivery = freshDelivery(stored, position, ordered);
    if (view.deliver === undefined) addDelivery(view, delivery);
    else view.deliver(delivery, stored);
  }
  // Wall time is used as queue time: never too late, because ages are measured on the earlier clock.
  const endsAt = environment.now + environment.settings.notifications.delivery.maximumAge;
  return { stored, backlog: Math.max(0, ...notified.map(({ id }) => wakeQueue(view, id, endsAt))) };
}

function repeated(first: StoredEvent, event: NotificationEvent): Result<PublishedEvent, Conflict> {
  if (first.erasedAt === undefined && contradicts(event, first.event)) {
    const message = `The idempotency key was used before for another event, ${first.id}; use a new key for a new event`;
    return err({ type: 'conflict', message });
  }
  return ok({ ...summaryOf(first), explanations: [], backlog: 0, repeated: true });
}

function summaryOf({ id, workspaceId, trigger, notified }: StoredEvent) {
  const deliveryIds = notified.map((_configuration, position) => deliveryIdOf(id, position));
  return { eventId: id, workspaceId, trigger, deliveryIds };
}

/** The first of as many sequences as there are deliveries, after those of this write. */
function nextSequence(view: WriteView, size: number): number {
  const first = firstSequenceOf(view.index);
  if (view.tableIndex(events) < view.index) return first;
  const last = view.list(events, { from: [first], reverse: true, limit: 1 })[0]?.record;
  const next = last === undefined ? first : last.sequence + Math.max(1, last.notified.length);
  return next + size > first + sequencesPerIndex ? firstSequenceOf(view.nextIndex()) : next;
}

function notifiedBy(
  event: NotificationEvent,
  { id, kind, name, triggers }: NotificationConfiguration,
): NotifiedConfiguration {
  const spelling = spellingOf(event.trigger, triggers) ?? event.trigger;
  return {
    id,
    ...(kind === 'generic' ? {} : { kind, name }),
    ...(spelling === event.trigger ? {} : { trigger: spelling }),
  };
}

function surroundingsOf(
  { name, organization, url }: Workspace,
  { notifications }: Settings,
): StoredEvent['surroundings'] {
  const { publicOrigin, basePath } = notifications;
  return { workspaceName: name, organization, workspaceUrl: url, publicOrigin, basePath };
}

/**
 * Ensures that an engine looks at the configuration's queue.
 * Returns the number of waiting deliveries. `endsAt` is when the new delivery expires.
 */
function wakeQueue(view: WriteView, configurationId: string, endsAt: Instant): number {
  const queue = view.get(queues, [configurationId])?.record;
  if (queue === undefined) return 0;
  const woken = afterArrival(queue, endsAt);
  if (woken !== queue) view.put(queues, woken);
  return queue.backlog ?? 0;
}

/** The event accepted with this key, as long as the key is kept. */
export function firstWithKey(
  view: ReadView,
  { now, settings }: Pick<PublishEnvironment, 'now' | 'settings'>,
  workspaceId: string,
  key: string,
): StoredEvent | undefined {
  const prefix = [workspaceId, key];
  const row = view.list(events, { index: 'by_idempotency', prefix, reverse: true, limit: 1 })[0];
  if (row === undefined || row.record.sequence < firstSequenceIn(view, workspaceId)) return undefined;
  return row.record.createdAt + settings.notifications.retention.idempotency > now ? row.record : undefined;
}
