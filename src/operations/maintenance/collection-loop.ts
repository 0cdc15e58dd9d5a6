import { errAsync, ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import { jobs } from '../../jobs/job-record.js';
import type { StorageError } from '../../ports/storage.js';
import { allocations } from '../../scheduler/allocation.js';
import { deployments } from '../../scheduler/deployment/deployment.js';
import { evaluations } from '../../scheduler/evaluation.js';
import { nodes } from '../../scheduler/node.js';
import { authoriseManagement, type PermissionDenied } from '../authorise.js';
import type { BackgroundLoop, EngineContext } from '../context/engine-context.js';
import { changeOrDueTime } from '../waiting/until-change.js';
import { collect } from './collect.js';

const collected = [jobs, evaluations, allocations, deployments, nodes];

/**
 * Collects by the thresholds: at most once per interval (five minutes by default), and only when a record has changed or an ended one
 * has reached its threshold. Several processes may run it at the same time.
 */
export const collectionLoop: BackgroundLoop = {
  name: 'collection',
  run: async (context, signal) => {
    const { interval, ...thresholds } = context.settings.collection;
    while (!signal.aborted) {
      await context.clock.sleep(interval, signal);
      if (signal.aborted) return;
      const swept = await collect(context, thresholds, signal);
      if (swept.isErr()) {
        context.logger.error({ error: swept.error.message }, 'Removing ended records failed');
        continue;
      }
      const { index, next: dueAt } = swept.value;
      await changeOrDueTime(context, { tables: collected, index, dueAt }, signal);
    }
  },
};

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
