import { err, ok, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../../access/principal.js';
import { configurations, type NotificationConfiguration } from '../../../notifications/configurations/configuration.js';
import type { NotFound } from '../../../notifications/errors.js';
import type { StorageError } from '../../../ports/storage.js';
import { commitValue } from '../../commit.js';
import type { EngineContext } from '../../context/engine-context.js';
import type { Transaction } from '../../write-transaction.js';
import { findConfiguration } from '../find-resource.js';
import { cancelUnfinished, setPaused } from '../log/change-queue.js';
import { type ConfigurationView, viewConfiguration } from './configuration-view.js';

/**
 * Pauses a configuration: events are still accepted, but nothing is sent until it is resumed; attempts in progress are completed, and
 * requested redeliveries are sent. Deliveries still age: one that becomes older than `maximumAge` ends
 * as `dead` with the reason `expired`, and can be recovered later.
 */
export function pauseNotificationConfiguration(
  context: EngineContext,
  caller: Principal,
  request: { readonly configurationId: string },
): ResultAsync<ConfigurationView, NotFound | StorageError> {
  return setPause(context, caller, request, true);
}

/** Resumes a configuration: its backlog is sent in order. */
export function resumeNotificationConfiguration(
  context: EngineContext,
  caller: Principal,
  request: { readonly configurationId: string },
): ResultAsync<ConfigurationView, NotFound | StorageError> {
  return setPause(context, caller, request, false);
}

function setPause(
  context: EngineContext,
  caller: Principal,
  { configurationId }: { readonly configurationId: string },
  paused: boolean,
): ResultAsync<ConfigurationView, NotFound | StorageError> {
  return commitValue<ConfigurationView, NotFound>(context, caller, (tx) => {
    const found = findConfiguration(tx, caller, configurationId);
    if (found.isErr()) return err(found.error);
    const { configuration, workspace } = found.value;
    if (setPaused(tx, configurationId, paused)) {
      const change = paused ? 'paused' : 'resumed';
      tx.emit('notification.configuration', { configurationId, workspaceId: workspace.id, change });
    }
    return ok(viewConfiguration(context, tx, configuration, workspace));
  });
}

/** Deletes a configuration. Its unfinished deliveries are cancelled; the log of earlier ones is kept. */
export function deleteNotificationConfiguration(
  context: EngineContext,
  caller: Principal,
  request: { readonly configurationId: string },
): ResultAsync<void, NotFound | StorageError> {
  const { configurationId } = request;
  return commitValue<void, NotFound>(context, caller, (tx) => {
    const found = findConfiguration(tx, caller, configurationId);
    if (found.isErr()) return err(found.error);
    removeConfiguration(tx, found.value.configuration);
    return ok(undefined);
  });
}

/** Removes the record; the delivery loop cancels unfinished deliveries, and then removes the queue. */
export function removeConfiguration(
  tx: Transaction,
  { id: configurationId, workspaceId }: Pick<NotificationConfiguration, 'id' | 'workspaceId'>,
): void {
  tx.remove(configurations, [configurationId]);
  cancelUnfinished(tx, configurationId, 'configuration_deleted');
  tx.emit('notification.configuration', { configurationId, workspaceId, change: 'deleted' });
}
