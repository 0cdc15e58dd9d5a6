import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import { configurations } from '../../notifications/configuration.js';
import type { FieldFault, InvalidAttributes, NotFound } from '../../notifications/errors.js';
import type { NotificationEvent } from '../../notifications/event.js';
import { type EventAttributes, eventFromAttributes, type ReadEvent } from '../../notifications/event-attributes.js';
import { type Explanation, explain } from '../../notifications/explain.js';
import { triggerFromSpelling } from '../../notifications/trigger.js';
import type { StorageError } from '../../ports/storage.js';
import type { EngineContext } from '../shared/context.js';
import { emitPublished, type PublishedEvent, publishNotificationEvent } from '../shared/publish-notification-event.js';
import { findWorkspace } from './find-resource.js';

/** An event as a value, or as attributes from outside with the payloads' field names. */
export type EventRequest = {
  readonly workspaceId: string;
  readonly faults?: readonly FieldFault[];
} & (
  | { readonly event: NotificationEvent; readonly idempotencyKey?: string }
  | { readonly attributes: EventAttributes }
);

export type SendEventError = NotFound | InvalidAttributes | StorageError;

/**
 * Accepts an event and queues its notifications, in one transaction. Needs the right `events` on the workspace. A known
 * idempotency key gives the first event again, with `repeated: true`.
 */
export function sendNotificationEvent(
  context: EngineContext,
  caller: Principal,
  request: EventRequest,
): ResultAsync<PublishedEvent, SendEventError> {
  const now = context.clock.now();
  const environment = { now, ids: context.ids, settings: context.settings };
  const { workspaceId } = request;
  return context.storage
    .write<PublishedEvent, SendEventError>((view) => {
      const workspace = findWorkspace(view, caller, workspaceId, 'events');
      if (workspace.isErr()) return err(workspace.error);
      const read = readEvent(request);
      if (read.isErr()) return err(read.error);
      const { event, idempotencyKey } = read.value;
      const publishable = { ...event, workspaceId, ...(idempotencyKey === null ? {} : { idempotencyKey }) };
      return publishNotificationEvent(view, environment, publishable).mapErr(
        (): NotFound => ({ type: 'not_found', resource: 'workspace', id: workspaceId }),
      );
    })
    .map(({ value }) => {
      emitPublished(context, value);
      return value;
    });
}

/** Which configurations the event would notify and which not, with the reasons. Writes nothing. Needs admin rights. */
export function explainEvent(
  context: EngineContext,
  caller: Principal,
  request: EventRequest,
): ResultAsync<readonly Explanation[], SendEventError> {
  return context.storage
    .read((view): Result<readonly Explanation[], NotFound | InvalidAttributes> => {
      const workspace = findWorkspace(view, caller, request.workspaceId);
      if (workspace.isErr()) return err(workspace.error);
      const read = readEvent(request);
      if (read.isErr()) return err(read.error);
      const rows = view.list(configurations, { index: 'by_workspace', prefix: [request.workspaceId] });
      const present = rows.map((row) => row.record);
      return ok(explain(read.value.event, workspace.value, present));
    })
    .andThen((it) => it);
}

function readEvent(request: EventRequest): Result<ReadEvent, InvalidAttributes> {
  if ('attributes' in request) return eventFromAttributes(request.attributes, request.faults);
  const definition = triggerFromSpelling(request.event.trigger);
  const kind = definition?.scope === 'workspace' ? 'auto_destroy' : definition?.scope;
  if (definition?.value !== request.event.trigger || kind !== request.event.kind) {
    const message = `The trigger does not belong to an event of kind ${request.event.kind}`;
    return err({ type: 'invalid_attributes', faults: [{ pointer: '/data/attributes/trigger', message }] });
  }
  return ok({ event: request.event, idempotencyKey: request.idempotencyKey ?? null });
}
