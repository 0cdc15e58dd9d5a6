import { err, ok, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import { configurations } from '../../notifications/configuration.js';
import { deliveryLanes } from '../../notifications/delivery.js';
import type { NotFound } from '../../notifications/errors.js';
import type { StorageError, WriteView } from '../../ports/storage.js';
import type { Instant } from '../../shared/instant.js';
import { type EngineContext, emit } from '../shared/context.js';
import { findConfiguration } from './find-resource.js';

/** Deletes a configuration. What was still to be delivered to it is cancelled; the log of what was stays. */
export function deleteNotificationConfiguration(
  context: EngineContext,
  caller: Principal,
  request: { readonly configurationId: string },
): ResultAsync<void, NotFound | StorageError> {
  const { configurationId } = request;
  const now = context.clock.now();
  return context.storage
    .write<string, NotFound>((view) => {
      const found = findConfiguration(view, caller, configurationId);
      if (found.isErr()) return err(found.error);
      removeConfiguration(view, configurationId, now);
      return ok(found.value.workspace.id);
    })
    .map(({ value: workspaceId }) => {
      emit(context, 'notification.configuration', { configurationId, workspaceId, change: 'deleted' });
      return undefined;
    });
}

/** Removes the record and has its lane, when there is one, looked at now: the delivery loop then cancels what is queued. */
export function removeConfiguration(view: WriteView, configurationId: string, now: Instant): void {
  view.remove(configurations, [configurationId]);
  const lane = view.get(deliveryLanes, [configurationId])?.record;
  if (lane === undefined) return;
  if (lane.dueAt === null) view.remove(deliveryLanes, [configurationId]);
  else if (lane.dueAt > now) view.put(deliveryLanes, { ...lane, dueAt: now });
}
