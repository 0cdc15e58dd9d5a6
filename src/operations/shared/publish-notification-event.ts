import { err, ok, type Result } from 'neverthrow';
import { configurations } from '../../notifications/configuration.js';
import { type Delivery, deliveries, deliveryBodies, deliveryLanes, newLane } from '../../notifications/delivery.js';
import {
  events,
  type NotificationEvent,
  nextEventSequence,
  orderKeyOf,
  type StoredEvent,
} from '../../notifications/event.js';
import { matchConfigurations } from '../../notifications/explain.js';
import { renderBody } from '../../notifications/render-payload.js';
import { workspaces } from '../../notifications/workspace.js';
import type { Ids } from '../../ports/ids.js';
import type { WriteView } from '../../ports/storage.js';
import type { Settings } from '../../settings.js';
import type { Instant } from '../../shared/instant.js';
import { type EngineContext, emit } from './context.js';

/** An event with the workspace it belongs to. */
export type PublishableEvent = NotificationEvent & {
  readonly workspaceId: string;
  /** A second event with the same key in the same workspace is the first one again. */
  readonly idempotencyKey?: string;
};

export interface PublishedEvent {
  readonly eventId: string;
  readonly workspaceId: string;
  readonly trigger: string;
  /** One for each configuration that the event notifies; empty when it notifies nobody. */
  readonly deliveryIds: readonly string[];
  /** The idempotency key was known: nothing was written, and the ids are those of the first event. */
  readonly repeated: boolean;
}

export interface UnknownWorkspace {
  readonly type: 'unknown_workspace';
  readonly workspaceId: string;
}

/**
 * Writes the event and one delivery for each configuration that it notifies, inside the caller's transaction: what caused
 * the event and its notifications become durable together or not at all. Call `emitPublished` after the commit.
 */
export function publishNotificationEvent(
  view: WriteView,
  environment: { readonly now: Instant; readonly ids: Ids; readonly settings: Settings },
  published: PublishableEvent,
): Result<PublishedEvent, UnknownWorkspace> {
  const { now, ids } = environment;
  const { notifications } = environment.settings;
  const { workspaceId, idempotencyKey = null, ...event } = published;
  const workspace = view.get(workspaces, [workspaceId])?.record;
  if (workspace === undefined) return err({ type: 'unknown_workspace', workspaceId });
  if (idempotencyKey !== null) {
    const first = firstWithKey(view, workspaceId, idempotencyKey);
    if (first !== undefined && first.createdAt + notifications.retention.idempotency > now) {
      const { id, trigger, deliveryIds } = first;
      return ok({ eventId: id, workspaceId, trigger, deliveryIds, repeated: true });
    }
  }

  const eventId = ids.next('notification_event');
  const sequence = nextEventSequence(
    view.index,
    view.list(events, { index: 'by_sequence', reverse: true, limit: 1 })[0]?.record.sequence,
  );
  const ofWorkspace = view.list(configurations, { index: 'by_workspace', prefix: [workspaceId] });
  const notified = matchConfigurations(
    event,
    workspace,
    ofWorkspace.map((row) => row.record),
  );
  const deliveryIds: string[] = [];
  for (const configuration of notified) {
    const id = ids.next('notification_delivery');
    deliveryIds.push(id);
    view.put(deliveries, {
      id,
      workspaceId,
      configurationId: configuration.id,
      kind: configuration.kind,
      eventId,
      sequence,
      trigger: event.trigger,
      orderKey: notifications.delivery.ordering === 'none' ? null : orderKeyOf(event),
      createdAt: now,
      state: { type: 'waiting', dueAt: now, attempted: 0 },
      attempts: [],
      doneUsers: [],
    } satisfies Delivery);
    const body = renderBody(configuration, { type: 'event', event, workspace }, notifications, id);
    if (body !== null) view.put(deliveryBodies, { configurationId: configuration.id, sequence, body });
    wakeLane(view, configuration.id, now);
  }
  const stored: StoredEvent = {
    id: eventId,
    workspaceId,
    sequence,
    createdAt: now,
    trigger: event.trigger,
    event,
    idempotencyKey,
    deliveryIds,
  };
  view.put(events, stored);
  return ok({ eventId, workspaceId, trigger: event.trigger, deliveryIds, repeated: false });
}

/** Tells listeners about an event that has been committed. A repeated one has been told before. */
export function emitPublished(context: EngineContext, published: PublishedEvent): void {
  if (published.repeated) return;
  const { eventId, workspaceId, trigger, deliveryIds } = published;
  emit(context, 'notification.event', { eventId, workspaceId, trigger, deliveryIds });
}

/**
 * Makes sure that the configuration's lane comes up no later than `dueAt`. While its breaker is open it comes up when the
 * breaker lets an attempt through.
 */
export function wakeLane(view: WriteView, configurationId: string, dueAt: Instant): void {
  const lane = view.get(deliveryLanes, [configurationId])?.record;
  if (lane === undefined) {
    view.put(deliveryLanes, newLane(configurationId, dueAt));
    return;
  }
  const earliest = lane.breaker.type === 'open' ? Math.max(dueAt, lane.breaker.until) : dueAt;
  if (lane.dueAt === null || lane.dueAt > earliest) view.put(deliveryLanes, { ...lane, dueAt: earliest });
}

function firstWithKey(view: WriteView, workspaceId: string, key: string): StoredEvent | undefined {
  const prefix = [workspaceId, key];
  return view.list(events, { index: 'by_idempotency', prefix, reverse: true, limit: 1 })[0]?.record;
}
