import { errAsync, ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import type { StorageError } from '../../ports/storage.js';
import { authoriseManagement, type PermissionDenied } from '../authorise.js';
import type { EngineContext } from '../context/engine-context.js';
import { collect } from './collect.js';

/** Everything that has ended is old enough. */
const atOnce = { evaluation: 1, batchEvaluation: 1, failedRun: 1, job: 1, deployment: 1, node: 1 };

/** Removes everything that has ended, however recently: jobs, evaluations with their allocations, deployments, nodes. */
export function collectGarbage(
  context: EngineContext,
  caller: Principal,
): ResultAsync<void, PermissionDenied | StorageError> {
  const allowed = authoriseManagement(caller);
  if (allowed.isErr()) return errAsync(allowed.error);
  return new ResultAsync(collect(context, atOnce)).map(() => undefined);
}
