import { err, errAsync, ok, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import { versionNotFound } from '../../jobs/decide-revert.js';
import type { VersionNotFound } from '../../jobs/errors.js';
import { jobs, jobVersions } from '../../jobs/job-record.js';
import type { StorageError } from '../../ports/storage.js';
import { authorise, type PermissionDenied } from '../shared/authorise.js';
import type { EngineContext } from '../shared/context.js';
import { readJobRow, readJobVersion } from '../shared/job-store.js';
import { type JobReference, namespaceOf } from './job-reference.js';

export interface SetJobStabilityInput extends JobReference {
  readonly version: number;
  readonly stable: boolean;
}

/** Marks one version as stable or not; makes no version (job interface, set stability). Gives the index of the write. */
export function setJobStability(
  context: EngineContext,
  caller: Principal,
  input: SetJobStabilityInput,
): ResultAsync<{ readonly index: number }, PermissionDenied | VersionNotFound | StorageError> {
  const namespace = namespaceOf(input);
  const allowed = authorise(caller, namespace, ['submit-job', 'stable-job']);
  if (allowed.isErr()) return errAsync(allowed.error);
  return context.storage
    .write((view) => {
      const version = readJobVersion(view, namespace, input.jobId, input.version)?.record;
      if (version === undefined) {
        return err(versionNotFound({ ID: input.jobId, Namespace: namespace }, input.version));
      }
      if (version.Stable === input.stable) return ok(undefined);
      const current = readJobRow(view, namespace, input.jobId)?.record.Version === version.Version;
      view.put(current ? jobs : jobVersions, { ...version, Stable: input.stable, ModifyIndex: view.index });
      return ok(undefined);
    })
    .map(({ index }) => ({ index }));
}
