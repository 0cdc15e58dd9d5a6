import { errAsync, ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import type { StorageError } from '../../ports/storage.js';
import { forcedThresholds } from '../../scheduler/collection/thresholds.js';
import { authoriseManagement, type PermissionDenied } from '../authorise.js';
import type { EngineContext } from '../context/engine-context.js';
import { collect } from './collect.js';

/** Removes everything that has ended, however recently: jobs, evaluations with their allocations, deployments, nodes. */
export function collectGarbage(
  context: EngineContext,
  caller: Principal,
): ResultAsync<void, PermissionDenied | StorageError> {
  const allowed = authoriseManagement(caller);
  if (allowed.isErr()) return errAsync(allowed.error);
  return new ResultAsync(collect(context, forcedThresholds)).map(() => undefined);
}
