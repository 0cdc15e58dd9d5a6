import { err, errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import { type JobNotFound, jobNotFound } from '../../jobs/errors.js';
import { type JobReference, namespaceOf } from '../../jobs/job-reference.js';
import { decideForcedLaunch, type ForceRefused } from '../../jobs/periodic/decide-launch.js';
import { launchedId, periodicLaunches } from '../../jobs/periodic/periodic-launch.js';
import type { StorageError } from '../../ports/storage.js';
import { authorise } from '../authorise.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { type DispatchRunError, launchFunction } from '../functions/jobs-of-functions.js';
import { readFunctionJob } from '../records/function-jobs.js';
import { readJobRow } from '../records/jobs/job-rows.js';
import { launchWithin } from './launch-within.js';

/** The instance that a launch on request created. */
export interface ForcedLaunch {
  /** The instance. */
  readonly jobId: string;
  /** Empty when no evaluation was created. */
  readonly evalId: string;
  /** Index at which the evaluation was created, if there is one. */
  readonly evalCreateIndex: number;
  /** Index of the write. */
  readonly index: number;
}

/**
 * Launches a periodic job now (job interface, force new periodic instance), whether or not another instance runs. Its next due time
 * is unchanged. A launch of a function enqueues a run with the input of its schedule.
 */
export function forceLaunch(
  context: EngineContext,
  caller: Principal,
  input: JobReference,
): ResultAsync<ForcedLaunch, DispatchRunError | ForceRefused> {
  const namespace = namespaceOf(input);
  const allowed = authorise(caller, namespace, ['submit-job', 'dispatch-job', 'force-periodic-job']);
  if (allowed.isErr()) return errAsync(allowed.error);
  return context.storage
    .read((view) => readFunctionJob(view, namespace, input.jobId))
    .andThen((ofFunction) =>
      ofFunction === undefined
        ? launchStored(context, caller, namespace, input.jobId)
        : launchFunction(context, caller, ofFunction).map(
            ({ dispatchedJobId: jobId, evalId, evalCreateIndex, index }) => {
              return { jobId, evalId, evalCreateIndex, index };
            },
          ),
    );
}

function launchStored(
  context: EngineContext,
  caller: Principal,
  namespace: string,
  jobId: string,
): ResultAsync<ForcedLaunch, JobNotFound | ForceRefused | StorageError> {
  return commit(context, caller, (tx): Result<ForcedLaunch, JobNotFound | ForceRefused> => {
    const job = readJobRow(tx, namespace, jobId)?.record;
    if (job === undefined) return err(jobNotFound(namespace, jobId));
    const at = decideForcedLaunch(job, tx.now);
    if (at.isErr()) return err(at.error);
    const evaluation = launchWithin(tx, job, at.value);
    const record = tx.get(periodicLaunches, [namespace, job.ID])?.record;
    if (record !== undefined) tx.put(periodicLaunches, { ...record, launchedAt: at.value });
    const { index } = tx;
    return ok({ jobId: launchedId(job.ID, at.value), evalId: evaluation?.ID ?? '', evalCreateIndex: index, index });
  }).map(({ value }) => value);
}
