import { err, ok, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../../access/principal.js';
import type { NotFound } from '../../../notifications/errors.js';
import type { StorageError } from '../../../ports/storage.js';
import { commit } from '../../commit.js';
import type { EngineContext } from '../../context/engine-context.js';
import { findConfiguration } from '../find-resource.js';
import { setPaused } from '../log/change-queue.js';
import { type ConfigurationView, viewConfiguration } from './configuration-view.js';

/**
 * Events continue being accepted for the configuration, and nothing is sent until it is resumed; what is under way ends. A
 * redelivery that is asked for by name is sent. Deliveries keep their age: one that gets older than `maximumAge` meanwhile ends
 * as `dead` with the reason `expired`, and can be recovered afterwards.
 */
export function pauseNotificationConfiguration(
  context: EngineContext,
  caller: Principal,
  request: { readonly configurationId: string },
): ResultAsync<ConfigurationView, NotFound | StorageError> {
  return setPause(context, caller, request, true);
}

/** Sends what has gathered, in its order. */
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
  return commit<ConfigurationView, NotFound>(context, caller, (tx) => {
    const found = findConfiguration(tx, caller, configurationId);
    if (found.isErr()) return err(found.error);
    const { configuration, workspace } = found.value;
    if (setPaused(tx, configurationId, paused)) {
      const change = paused ? 'paused' : 'resumed';
      tx.emit('notification.configuration', { configurationId, workspaceId: workspace.id, change });
    }
    return ok(viewConfiguration(context, tx, configuration, workspace));
  }).map(({ value }) => value);
}
