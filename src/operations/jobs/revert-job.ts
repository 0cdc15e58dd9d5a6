import { err, errAsync, type Result, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import type { JobOfFunction } from '../../functions/errors.js';
import { decideRevert, type RevertRequest } from '../../jobs/changes/decide-revert.js';
import {
  type InvalidJob,
  type JobNotFound,
  jobNotFound,
  type PolicyRefused,
  type QuotaExceeded,
  type RegistrationRefusal,
  type RegistrationsDisabled,
  type RevertRefused,
  type VersionNotFound,
} from '../../jobs/errors.js';
import { type JobReference, namespaceOf } from '../../jobs/job-reference.js';
import type { StorageError } from '../../ports/storage.js';
import { authorise, type PermissionDenied } from '../authorise.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { refusedForFunction } from '../records/function-jobs.js';
import { readJobRow, readJobVersion } from '../records/jobs/job-rows.js';
import { authoriseVolumes } from './registration/authorise-volumes.js';
import { type Registered, registerWithin } from './registration/register-job.js';

/** The job and the version whose document is registered again. */
export interface RevertJobInput extends JobReference {
  /** The version whose document is registered again. */
  readonly version: number;
  /** Check-and-set: the required current version. */
  readonly enforcePriorVersion?: number | null;
}

/** Errors of `revertJob`. */
type RevertJobError =
  | PermissionDenied
  | JobNotFound
  | RevertRefused
  | VersionNotFound
  | InvalidJob
  | PolicyRefused
  | QuotaExceeded
  | RegistrationRefusal
  | RegistrationsDisabled
  | JobOfFunction
  | StorageError;

/** Registers an earlier version's document again, as a new version with that version's source (job interface, revert). */
export function revertJob(
  context: EngineContext,
  caller: Principal,
  input: RevertJobInput,
): ResultAsync<Registered, RevertJobError> {
  const namespace = namespaceOf(input);
  const capabilities = ['submit-job', 'revert-job'] as const;
  const allowed = authorise(caller, namespace, capabilities);
  if (allowed.isErr()) return errAsync(allowed.error);
  const request: RevertRequest = {
    version: input.version,
    enforcedPriorVersion: input.enforcePriorVersion ?? null,
  };
  return commit(context, caller, (tx): Result<Registered, RevertJobError> => {
    const current = readJobRow(tx, namespace, input.jobId)?.record;
    const ofFunction = refusedForFunction(tx, { namespace, jobId: input.jobId }, 'reverted');
    if (ofFunction !== undefined) return err(ofFunction);
    if (current === undefined) return err(jobNotFound(namespace, input.jobId));
    const target = readJobVersion(tx, namespace, input.jobId, input.version)?.record;
    return decideRevert(current, target, request).andThen((document) =>
      authoriseVolumes(caller, document).andThen(() =>
        registerWithin(tx, {
          job: { ...document, NomadTokenID: caller.accessor },
          version: null,
          capabilities,
          triggeredBy: 'job-register',
          inheritsFrom: input.version,
        }),
      ),
    );
  }).map(({ value }) => value);
}
