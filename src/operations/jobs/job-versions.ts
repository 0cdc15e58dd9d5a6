import { err, errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import type { PermissionDenied } from '../../access/allows.js';
import type { Principal } from '../../access/principal.js';
import type { JobOfFunction } from '../../functions/errors.js';
import { decideRevert, type RevertRequest, versionNotFound } from '../../jobs/changes/decide-registration.js';
import type { Job, JobVersionTag } from '../../jobs/document/job.js';
import {
  type InvalidRequest,
  invalidRequest,
  type JobNotFound,
  jobNotFound,
  type RevertRefused,
  type TagRefused,
  type VersionNotFound,
} from '../../jobs/errors.js';
import { type JobReference, jobs, jobVersions, namespaceOf } from '../../jobs/job-record.js';
import type { StorageError } from '../../ports/storage.js';
import { unixNanosFromInstant } from '../../shared/instant.js';
import { commit, commitValue } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { refusedForFunction } from '../records/function-jobs.js';
import { readJobRow, readJobVersion, readJobVersions } from '../records/jobs/job-rows.js';
import type { Transaction } from '../write-transaction.js';
import { authoriseVolumes } from './registration/check-registration.js';
import { type RefusedRegistration, type Registered, registerWithin } from './registration/register-job.js';

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
  | RefusedRegistration
  | StorageError;

/** Registers an earlier version's document again, as a new version with that version's source (job interface, revert). */
export function revertJob(
  context: EngineContext,
  caller: Principal,
  input: RevertJobInput,
): ResultAsync<Registered, RevertJobError> {
  const namespace = namespaceOf(input);
  const request: RevertRequest = {
    version: input.version,
    enforcedPriorVersion: input.enforcePriorVersion ?? null,
  };
  return commitValue(context, caller, (tx): Result<Registered, RevertJobError> => {
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
          triggeredBy: 'job-register',
          inheritsFrom: input.version,
        }),
      ),
    );
  });
}

/** The version of a job to tag. */
interface TagJobVersionInput extends JobReference {
  /** 1 to 1000 characters, unique among the versions of the job. */
  readonly name: string;
  /** 0 when absent; not together with `latest`. */
  readonly version?: number;
  /** Tags the current version. */
  readonly latest?: boolean;
  /** For people. */
  readonly description?: string;
}

/** A tag as it was set, and the index of the write. */
export interface TaggedVersion extends JobVersionTag {
  readonly index: number;
}

/** Errors of `tagJobVersion`. */
type TagJobVersionError = InvalidRequest | TagRefused | VersionNotFound | StorageError;

const maximumNameLength = 1000;
const maximumDescriptionLength = 10_000;

/** Tags a version, which protects it from pruning (job interface, version tags). A version has at most one tag. */
export function tagJobVersion(
  context: EngineContext,
  caller: Principal,
  input: TagJobVersionInput,
): ResultAsync<TaggedVersion, TagJobVersionError> {
  const namespace = namespaceOf(input);
  const { jobId, name, version = 0, latest = false, description = '' } = input;
  const fault = faultOfTag(name, description);
  if (fault !== undefined) return errAsync(fault);
  if (latest && version !== 0) {
    return errAsync(refused('version_and_latest', 'cannot specify both a version and the latest'));
  }
  return commit(context, caller, (tx): Result<JobVersionTag, TagJobVersionError> => {
    const versions = readJobVersions(tx, namespace, jobId).map((row) => row.record);
    const target = latest ? versions[0] : versions.find((each) => each.Version === version);
    if (target === undefined) return err(versionNotFound({ ID: jobId, Namespace: namespace }, version));
    const holder = versions.find((each) => each.VersionTag?.Name === name);
    if (holder !== undefined && holder !== target) {
      return err(refused('taken', `tag ${JSON.stringify(name)} already exists on version ${holder.Version}`));
    }
    const tag = { Name: name, Description: description, TaggedTime: unixNanosFromInstant(tx.now) };
    putTag(tx, versions, target, tag);
    return ok(tag);
  }).map(({ index, value }) => ({ ...value, index }));
}

/** Removes a tag from its version. */
export function untagJobVersion(
  context: EngineContext,
  caller: Principal,
  input: JobReference & { readonly name: string },
): ResultAsync<{ readonly index: number }, TagJobVersionError> {
  const namespace = namespaceOf(input);
  return commit(context, caller, (tx): Result<void, TagJobVersionError> => {
    const versions = readJobVersions(tx, namespace, input.jobId).map((row) => row.record);
    const target = versions.find((each) => each.VersionTag?.Name === input.name);
    if (target === undefined) {
      return err(refused('not_found', `tag ${JSON.stringify(input.name.slice(0, 128))} not found`));
    }
    putTag(tx, versions, target, null);
    return ok(undefined);
  }).map(({ index }) => ({ index }));
}

function putTag(tx: Transaction, versions: readonly Job[], target: Job, tag: JobVersionTag | null): void {
  tx.put(target === versions[0] ? jobs : jobVersions, { ...target, VersionTag: tag, ModifyIndex: tx.index });
}

function faultOfTag(name: string, description: string): InvalidRequest | undefined {
  if (name === '' || name.length > maximumNameLength) {
    return invalidRequest('Name', `a tag's name has 1 to ${maximumNameLength} characters`);
  }
  return description.length > maximumDescriptionLength
    ? invalidRequest('Description', `a tag's description has at most ${maximumDescriptionLength} characters`)
    : undefined;
}

function refused(reason: TagRefused['reason'], message: string): TagRefused {
  return { type: 'tag_refused', reason, message };
}

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
): ResultAsync<{ readonly index: number }, VersionNotFound | JobOfFunction | StorageError> {
  const namespace = namespaceOf(input);
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
