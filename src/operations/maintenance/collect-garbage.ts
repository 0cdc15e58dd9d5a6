import { errAsync, ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import type { maintenanceCalls } from '../../api/calls/maintenance-calls.js';
import type { StorageError } from '../../ports/storage.js';
import { forcedThresholds } from '../../scheduler/collection/thresholds.js';
import { authoriseManagement, type PermissionDenied } from '../authorise.js';
import type { Bindings } from '../binding.js';
import type { EngineContext } from '../context/engine-context.js';
import { collect } from './collect.js';
import { reconcileSummaries } from './reconcile-summaries.js';

/** Removes everything that has ended, however recently: jobs, evaluations with their allocations, deployments, nodes. */
export function collectGarbage(
  context: EngineContext,
  caller: Principal,
): ResultAsync<void, PermissionDenied | StorageError> {
  const allowed = authoriseManagement(caller);
  if (allowed.isErr()) return errAsync(allowed.error);
  return new ResultAsync(collect(context, forcedThresholds)).map(() => undefined);
}

/** The operations of the maintenance calls. */
export const maintenanceBindings: Bindings<typeof maintenanceCalls> = {
  collectGarbage: (context, caller) => collectGarbage(context, caller),
  reconcileSummaries: (context, caller) => reconcileSummaries(context, caller).map(() => undefined),
};
