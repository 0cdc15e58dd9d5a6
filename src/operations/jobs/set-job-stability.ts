import { err, errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import type { JobOfFunction } from '../../functions/errors.js';
import { versionNotFound } from '../../jobs/changes/decide-revert.js';
import type { VersionNotFound } from '../../jobs/errors.js';
import { jobs, jobVersions } from '../../jobs/job-record.js';
import { type JobReference, namespaceOf } from '../../jobs/job-reference.js';
import type { StorageError } from '../../ports/storage.js';
import { authorise, type PermissionDenied } from '../authorise.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { refusedForFunction } from '../records/function-jobs.js';
import { readJobRow, readJobVersion } from '../records/jobs/job-rows.js';

/** The version of a job to mark as stable or not. Auto-revert uses the latest stable one. */
interface SetJobStabilityInput extends JobReference {
  /** A version that is still kept. */
  readonly version: number;
  /** Whether auto-revert may use it. */
  readonly stable: boolean;
}

/**
 * Marks one version as stable or not; makes no version (job interface, set stability). Gives the index of the write, which
 * happens even when nothing changes.
 */
export function setJobStability(
  context: EngineContext,
  caller: Principal,
  input: SetJobStabilityInput,
): ResultAsync<{ readonly index: number }, PermissionDenied | VersionNotFound | JobOfFunction | StorageError> {
  const namespace = namespaceOf(input);
  const allowed = authorise(caller, namespace, ['submit-job', 'stable-job']);
  if (allowed.isErr()) return errAsync(allowed.error);
  return commit(context, caller, (tx): Result<void, VersionNotFound | JobOfFunction> => {
    const ofFunction = refusedForFunction(tx, { namespace, jobId: input.jobId }, 'marked as stable');
    if (ofFunction !== undefined) return err(ofFunction);
    const version = readJobVersion(tx, namespace, input.jobId, input.version)?.record;
    if (version === undefined) {
      return err(versionNotFound({ ID: input.jobId, Namespace: namespace }, input.version));
    }
    const current = readJobRow(tx, namespace, input.jobId)?.record.Version === version.Version;
    tx.put(current ? jobs : jobVersions, { ...version, Stable: input.stable, ModifyIndex: tx.index });
    return ok(undefined);
  }).map(({ index }) => ({ index }));
}
