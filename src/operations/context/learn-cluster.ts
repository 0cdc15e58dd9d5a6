import { err, ok, okAsync, type Result, ResultAsync } from 'neverthrow';
import type { StorageError } from '../../ports/storage.js';
import { clusterInSteps } from '../books/known-cluster.js';
import type { EngineContext } from './engine-context.js';
import { steppedWork, stepsInTurns } from './steps-in-turns.js';

const never = new AbortController().signal;

/**
 * Sees to it that the engine knows the cluster. The first time it is read in turns of the event loop, which takes seconds over
 * 100,000 live allocations; later, whoever decides brings it up to date with what has changed. An aborted signal ends the reading that it
 * began without a result.
 */
export function learnCluster(
  context: EngineContext,
  signal: AbortSignal = never,
): ResultAsync<undefined, StorageError> {
  return context.cluster.known === undefined
    ? new ResultAsync(context.cluster.learn(() => readCluster(context, signal)))
    : okAsync<undefined, StorageError>(undefined);
}

async function readCluster(context: EngineContext, signal: AbortSignal): Promise<Result<undefined, StorageError>> {
  const read = await stepsInTurns(context, steppedWork(clusterInSteps), signal);
  if (read.isErr()) return err(read.error);
  if (read.value !== undefined) context.cluster.remember(read.value);
  return ok(undefined);
}
