import { err, ok, okAsync, type Result, ResultAsync } from 'neverthrow';
import type { Principal } from '../../../access/principal.js';
import { freshDelivery } from '../../../notifications/delivery/transition-delivery.js';
import type { Conflict, FieldFault, InvalidAttributes, NotFound } from '../../../notifications/errors.js';
import { customEvent } from '../../../notifications/events/decide-event-type.js';
import type { NotificationEvent } from '../../../notifications/events/event.js';
import {
  type EventAttributes,
  eventFromAttributes,
  eventLimits,
  type ReadEvent,
} from '../../../notifications/events/event-attributes.js';
import { alertTypeNamed, type EventType, eventTypes } from '../../../notifications/events/event-type.js';
import { sampleEvent } from '../../../notifications/events/sample-event.js';
import { triggerFromSpelling } from '../../../notifications/events/trigger.js';
import { type Explanation, explain } from '../../../notifications/explain.js';
import type { ReadView, StorageError } from '../../../ports/storage.js';
import { type Instant, isoFromInstant } from '../../../shared/instant.js';
import { commit, commitValue } from '../../commit.js';
import { type EngineContext, readResult } from '../../context/engine-context.js';
import {
  firstWithKey,
  type PublishedEvent,
  publishNotificationEvent,
  storeEvent,
} from '../../records/publish-notification-event.js';
import { recipientsOf } from '../configurations/verify-notification-configuration.js';
import { findConfiguration, findWorkspace, visibleConfigurations } from '../find-resource.js';
import { type DeliverySummary, summariseDelivery } from '../log/delivery-log.js';

/** An event as a value, or as attributes from outside with the payloads' field names. */
type EventRequest = {
  readonly workspaceId: string;
  readonly faults?: readonly FieldFault[];
} & (
  | { readonly event: NotificationEvent; readonly idempotencyKey?: string }
  | { readonly attributes: EventAttributes }
);

/** Errors of `sendNotificationEvent`. */
type SendEventError = NotFound | InvalidAttributes | Conflict | StorageError;

/**
 * Accepts an event and queues its notifications, in one transaction. Needs the right `events` on the workspace. A repeated
 * idempotency key returns the first event, with `repeated: true`; with a different event it is a `conflict`. If no configuration
 * is notified, the result explains why.
 */
export function sendNotificationEvent(
  context: EngineContext,
  caller: Principal,
  request: EventRequest,
): ResultAsync<PublishedEvent, SendEventError> {
  const { workspaceId } = request;
  return commit<PublishedEvent, NotFound | InvalidAttributes | Conflict>(context, caller, (tx) => {
    const workspace = findWorkspace(tx, caller, workspaceId, 'events');
    if (workspace.isErr()) return err(workspace.error);
    const known = typeOfFirst(tx, request, tx);
    const read = readEvent(request, tx.now, (name) => known ?? registeredType(tx, name));
    if (read.isErr()) return err(read.error);
    const { event, idempotencyKey } = read.value;
    const publishable = { ...event, workspaceId, ...(idempotencyKey === null ? {} : { idempotencyKey }) };
    const published = publishNotificationEvent(tx, tx, publishable);
    if (published.isErr()) {
      const unknown: NotFound = { type: 'not_found', resource: 'workspace', id: workspaceId };
      return err(published.error.type === 'conflict' ? published.error : unknown);
    }
    const { eventId, trigger, deliveryIds } = published.value;
    if (!published.value.repeated) tx.emit('notification.event', { eventId, workspaceId, trigger, deliveryIds });
    return ok(published.value);
  }).andThen(({ value }) => slowedDown(context, value));
}

/**
 * Back-pressure: delays the response in proportion to the number of waiting deliveries, so that a sender that waits for responses is slowed
 * down to the rate of delivery and no queue grows without limit. The delay is in real time, whatever clock the engine has.
 */
function slowedDown(context: EngineContext, published: PublishedEvent): ResultAsync<PublishedEvent, never> {
  const { from, span, maximumWait } = context.settings.notifications.pressure;
  const wait = Math.min(1, Math.max(0, published.backlog - from) / span) * maximumWait;
  if (wait < 1) return okAsync(published);
  return ResultAsync.fromSafePromise(new Promise((resolve) => setTimeout(resolve, wait, published)));
}

/** Which configurations the event would notify and which not, with the reasons. Writes nothing. Needs admin rights. */
export function explainEvent(
  context: EngineContext,
  caller: Principal,
  request: EventRequest,
): ResultAsync<readonly Explanation[], NotFound | InvalidAttributes | StorageError> {
  return readResult(context, (view): Result<readonly Explanation[], NotFound | InvalidAttributes> => {
    const workspace = findWorkspace(view, caller, request.workspaceId);
    if (workspace.isErr()) return err(workspace.error);
    const typeNamed = (name: unknown) => alertTypeNamed(name) ?? registeredType(view, name);
    const read = readEvent(request, context.clock.now(), typeNamed);
    if (read.isErr()) return err(read.error);
    const present = visibleConfigurations(view, caller, request.workspaceId);
    return ok(explain(read.value.event, workspace.value, present));
  });
}

/** Selects the example to send. */
interface SampleRequest {
  readonly configurationId: string;
  readonly sample: { readonly trigger: string };
  readonly faults?: readonly FieldFault[];
}

/**
 * Queues the example of an event for one configuration, whether or not it is subscribed to the trigger and whatever its filter. It is delivered like
 * every other event; nobody else is notified of it. Like a redelivery it needs an enabled configuration.
 */
export function sendSampleEvent(
  context: EngineContext,
  caller: Principal,
  { configurationId, sample: { trigger }, faults = [] }: SampleRequest,
): ResultAsync<DeliverySummary, NotFound | InvalidAttributes | Conflict | StorageError> {
  return commitValue<DeliverySummary, NotFound | InvalidAttributes | Conflict>(context, caller, (tx) => {
    const found = findConfiguration(tx, caller, configurationId);
    if (found.isErr()) return err(found.error);
    if (faults.length > 0) return err({ type: 'invalid_attributes', faults });
    const { configuration, workspace } = found.value;
    const unique = tx.ids.next('notification_event').slice(-16);
    const event = sampleEvent(trigger, registeredType(tx, trigger), { now: tx.now, unique });
    if (event.isErr()) return err(event.error);
    const conflict = (message: string) => err({ type: 'conflict', message } as const);
    if (!configuration.enabled) {
      return conflict('The notification configuration is disabled; enable it before sending a sample');
    }
    if (configuration.kind === 'email' && recipientsOf(tx, configuration, workspace).length === 0) {
      return conflict('The notification configuration has no recipients; add users of the organization');
    }
    const asked = { event: event.value, idempotencyKey: null, notified: [configuration], sample: true } as const;
    const { stored } = storeEvent(tx, tx, workspace, asked);
    const delivery = freshDelivery(stored, 0, false);
    const { id: eventId, workspaceId, trigger: sent } = stored;
    tx.emit('notification.event', { eventId, workspaceId, trigger: sent, deliveryIds: [delivery.id] });
    return ok(summariseDelivery(delivery, { nextAttemptAt: tx.now, waitsFor: null }));
  });
}

/** `typeNamed` finds the type of an event outside the notification interface. */
function readEvent(
  request: EventRequest,
  now: Instant,
  typeNamed: (name: unknown) => EventType | undefined,
): Result<ReadEvent, InvalidAttributes> {
  if ('attributes' in request) {
    const { attributes, faults } = request;
    const type = typeNamed(attributes['trigger']);
    return type === undefined ? eventFromAttributes(attributes, faults) : readCustom(type, attributes, faults, now);
  }
  if (request.event.kind === 'custom') {
    const { trigger, message, data, orderKey, occurredAt } = request.event;
    const type = typeNamed(trigger);
    const attributes = { message, data, order_key: orderKey, occurred_at: occurredAt };
    if (type !== undefined)
      return readCustom(type, { ...attributes, idempotency_key: request.idempotencyKey }, [], now);
  }
  return readInterfaceEvent(request);
}

/** An event of the notification interface, given as a value. */
function readInterfaceEvent(
  request: Extract<EventRequest, { readonly event: NotificationEvent }>,
): Result<ReadEvent, InvalidAttributes> {
  const definition = triggerFromSpelling(request.event.trigger);
  const kind = definition?.scope === 'workspace' ? 'auto_destroy' : definition?.scope;
  if (definition?.value !== request.event.trigger || kind !== request.event.kind) {
    const message = `The trigger does not belong to an event of kind ${request.event.kind}`;
    return err({ type: 'invalid_attributes', faults: [{ pointer: '/data/attributes/trigger', message }] });
  }
  const { event, idempotencyKey = null } = request;
  return isIdempotencyKey(idempotencyKey)
    ? ok({ event, idempotencyKey })
    : err({ type: 'invalid_attributes', faults: [faultOfKey] });
}

function isIdempotencyKey(key: unknown): key is string | null {
  return key === null || (typeof key === 'string' && key !== '' && key.length <= eventLimits.idempotencyKey);
}

const faultOfKey: FieldFault = {
  pointer: '/data/attributes/idempotency_key',
  message: `idempotency_key must be a string of 1 to ${eventLimits.idempotencyKey} characters`,
};

/**
 * The event type for a repeated report: that of the first event, so that a repetition is recognised even after the type was
 * removed or got a schema that the data does not match.
 */
function typeOfFirst(
  view: ReadView,
  request: EventRequest,
  environment: Parameters<typeof firstWithKey>[1],
): EventType | undefined {
  const { trigger, idempotency_key: key } =
    'attributes' in request
      ? request.attributes
      : { trigger: request.event.trigger, idempotency_key: request.idempotencyKey };
  if (typeof key !== 'string') return undefined;
  const first = firstWithKey(view, environment, request.workspaceId, key);
  if (first?.event.kind !== 'custom' || first.trigger !== trigger) return undefined;
  const { body } = first.event;
  return { name: first.trigger, description: '', schema: null, example: null, body, createdAt: 0, updatedAt: 0 };
}

function registeredType(view: ReadView, name: unknown): EventType | undefined {
  if (typeof name !== 'string' || triggerFromSpelling(name) !== undefined) return undefined;
  return view.get(eventTypes, [name])?.record;
}

function readCustom(
  type: EventType,
  attributes: EventAttributes,
  earlier: readonly FieldFault[] | undefined,
  now: Instant,
): Result<ReadEvent, InvalidAttributes> {
  const key = attributes['idempotency_key'] ?? null;
  const idempotencyKey = isIdempotencyKey(key) ? key : undefined;
  const faults = [...(earlier ?? []), ...(idempotencyKey === undefined ? [faultOfKey] : [])];
  const event = customEvent(type, attributes, isoFromInstant(now));
  if (event.isErr()) return err({ type: 'invalid_attributes', faults: [...faults, ...event.error.faults] });
  if (idempotencyKey === undefined || faults.length > 0) return err({ type: 'invalid_attributes', faults });
  return ok({ event: event.value, idempotencyKey });
}
