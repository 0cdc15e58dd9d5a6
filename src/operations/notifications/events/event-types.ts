import { err, errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import type { PermissionDenied } from '../../../access/allows.js';
import type { Principal } from '../../../access/principal.js';
import type { FieldFault, InvalidAttributes, NotFound } from '../../../notifications/errors.js';
import { decideEventType, problemsOfSchema } from '../../../notifications/events/decide-event-type.js';
import { type EventType, type EventTypeInput, eventTypes } from '../../../notifications/events/event-type.js';
import type { StorageError } from '../../../ports/storage.js';
import { isoFromInstant } from '../../../shared/instant.js';
import { commit, commitValue } from '../../commit.js';
import { type EngineContext, readResult } from '../../context/engine-context.js';

/** An event type as callers see it; times are RFC 3339 in UTC with milliseconds. */
export type EventTypeView = Omit<EventType, 'createdAt' | 'updatedAt'> & {
  readonly createdAt: string;
  readonly updatedAt: string;
  /**
   * Parts of the schema that cannot be enforced and do not apply to data. Empty, except for a type stored by an
   * earlier release, which accepted more; it cannot be registered again unchanged.
   */
  readonly problems: readonly FieldFault[];
};

/**
 * Registers or changes an event type. Earlier events are unchanged. Only management callers may do
 * this. A service can do it at every start: without a change nothing is written.
 */
export function putEventType(
  context: EngineContext,
  caller: Principal,
  input: EventTypeInput,
): ResultAsync<EventTypeView, InvalidAttributes | StorageError> {
  return commitValue<EventTypeView, InvalidAttributes>(context, caller, (tx) => {
    const present = typeof input.name === 'string' ? tx.get(eventTypes, [input.name])?.record : undefined;
    return decideEventType(input, present, tx.now).map((decided) => {
      if (present !== undefined && sameContent(present, decided)) return viewEventType(present);
      tx.put(eventTypes, decided);
      return viewEventType(decided);
    });
  });
}

/** Removes a type: no more events of it are accepted. Earlier ones are still delivered. */
export function removeEventType(
  context: EngineContext,
  caller: Principal,
  { name }: { readonly name: string },
): ResultAsync<void, NotFound | StorageError> {
  return commit<void, NotFound>(context, caller, (tx) =>
    tx.remove(eventTypes, [name]) ? ok(undefined) : err({ type: 'not_found', resource: 'event_type', id: name }),
  ).map(() => undefined);
}

/** All registered types, by name. Readable with the right `events` on any workspace, because they hold no data. */
export function listEventTypes(
  context: EngineContext,
  caller: Principal,
): ResultAsync<readonly EventTypeView[], PermissionDenied | StorageError> {
  if (!hasWorkspace(caller)) return errAsync({ type: 'permission_denied' });
  return context.storage.read((view) => view.list(eventTypes, {}).map(({ record }) => viewEventType(record)));
}

/** One registered type. Readable with the right `events` on any workspace. */
export function showEventType(
  context: EngineContext,
  caller: Principal,
  { name }: { readonly name: string },
): ResultAsync<EventTypeView, NotFound | StorageError> {
  return readResult(context, (view): Result<EventTypeView, NotFound> => {
    const found = hasWorkspace(caller) ? view.get(eventTypes, [name])?.record : undefined;
    return found === undefined
      ? err({ type: 'not_found', resource: 'event_type', id: name })
      : ok(viewEventType(found));
  });
}

function hasWorkspace({ management, workspaces }: Principal): boolean {
  return management || Object.keys(workspaces).length > 0;
}

function sameContent(a: EventType, b: EventType): boolean {
  return JSON.stringify({ ...a, updatedAt: 0 }) === JSON.stringify({ ...b, updatedAt: 0 });
}

function viewEventType(type: EventType): EventTypeView {
  const { createdAt, updatedAt } = type;
  return {
    ...type,
    createdAt: isoFromInstant(createdAt),
    updatedAt: isoFromInstant(updatedAt),
    problems: problemsOfSchema(type),
  };
}
