import { err, ok, okAsync, type Result, ResultAsync } from 'neverthrow';
import type { StorageError } from '../../ports/storage.js';
import { clusterInSteps } from '../records/scheduling/known-cluster.js';
import type { EngineContext } from './engine-context.js';
import { steppedWork, stepsInTurns } from './steps-in-turns.js';

const never = new AbortController().signal;

/**
 * Ensures that the cluster is cached. The first time it is read in turns of the event loop, which takes seconds for 100,000
 * live allocations; later, each decision applies the changes. An aborted signal ends a reading that this call
 * began, without a result.
 */
export function learnCluster(
  context: EngineContext,
  signal: AbortSignal = never,
): ResultAsync<undefined, StorageError> {
  return context.cluster.known === undefined
    ? refreshCluster(context, signal)
    : okAsync<undefined, StorageError>(undefined);
}

/** Updates the cached cluster in turns of the event loop, when that takes longer than a write should. */
export function refreshCluster(
  context: EngineContext,
  signal: AbortSignal = never,
): ResultAsync<undefined, StorageError> {
  return new ResultAsync(context.cluster.learn(() => readCluster(context, signal)));
}

async function readCluster(context: EngineContext, signal: AbortSignal): Promise<Result<undefined, StorageError>> {
  const { known } = context.cluster;
  const work = steppedWork((current) => clusterInSteps(current, known));
  const read = await stepsInTurns(context, work, signal);
  if (read.isErr()) return err(read.error);
  if (read.value !== undefined) context.cluster.remember(read.value);
  return ok(undefined);
}
