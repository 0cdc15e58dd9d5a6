import { err, errAsync, ok, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import { versionNotFound } from '../../jobs/decide-revert.js';
import type { Job, JobVersionTag } from '../../jobs/document/job.js';
import { type InvalidRequest, invalidRequest, type TagRefused, type VersionNotFound } from '../../jobs/errors.js';
import { jobs, jobVersions } from '../../jobs/job-record.js';
import type { StorageError, WriteView } from '../../ports/storage.js';
import { unixNanosFromInstant } from '../../shared/instant.js';
import { authorise, type PermissionDenied } from '../shared/authorise.js';
import type { EngineContext } from '../shared/context.js';
import { readJobVersions } from '../shared/job-store.js';
import { type JobReference, namespaceOf } from './job-reference.js';

export interface TagJobVersionInput extends JobReference {
  readonly name: string;
  /** 0 when absent; not together with `latest`. */
  readonly version?: number;
  /** Tags the current version. */
  readonly latest?: boolean;
  readonly description?: string;
}

export type TagJobVersionError = PermissionDenied | InvalidRequest | TagRefused | VersionNotFound | StorageError;

const maximumNameLength = 1000;
const maximumDescriptionLength = 10_000;

/** Names a version, which keeps it from being pruned (job interface, version tags). A version has one tag at most. */
export function tagJobVersion(
  context: EngineContext,
  caller: Principal,
  input: TagJobVersionInput,
): ResultAsync<JobVersionTag, TagJobVersionError> {
  const namespace = namespaceOf(input);
  const { jobId, name, version = 0, latest = false, description = '' } = input;
  const allowed = authorise(caller, namespace, ['submit-job', 'tag-job-version']);
  if (allowed.isErr()) return errAsync(allowed.error);
  const fault = faultOfTag(name, description);
  if (fault !== undefined) return errAsync(fault);
  if (latest && version !== 0) {
    return errAsync(refused('version_and_latest', 'cannot specify both a version and the latest'));
  }
  const tag: JobVersionTag = {
    Name: name,
    Description: description,
    TaggedTime: unixNanosFromInstant(context.clock.now()),
  };
  return context.storage
    .write<JobVersionTag, TagJobVersionError>((view) => {
      const versions = readJobVersions(view, namespace, jobId).map((row) => row.record);
      const target = latest ? versions[0] : versions.find((each) => each.Version === version);
      if (target === undefined) return err(versionNotFound({ ID: jobId, Namespace: namespace }, version));
      const holder = versions.find((each) => each.VersionTag?.Name === name);
      if (holder !== undefined && holder !== target) {
        return err(refused('taken', `tag ${JSON.stringify(name)} already exists on version ${holder.Version}`));
      }
      putTag(view, versions, target, tag);
      return ok(tag);
    })
    .map(({ value }) => value);
}

/** Takes a name away from the version that has it. */
export function untagJobVersion(
  context: EngineContext,
  caller: Principal,
  input: JobReference & { readonly name: string },
): ResultAsync<void, TagJobVersionError> {
  const namespace = namespaceOf(input);
  const allowed = authorise(caller, namespace, ['submit-job', 'tag-job-version']);
  if (allowed.isErr()) return errAsync(allowed.error);
  return context.storage
    .write<void, TagJobVersionError>((view) => {
      const versions = readJobVersions(view, namespace, input.jobId).map((row) => row.record);
      const target = versions.find((each) => each.VersionTag?.Name === input.name);
      if (target === undefined) {
        return err(refused('not_found', `tag ${JSON.stringify(input.name.slice(0, 128))} not found`));
      }
      putTag(view, versions, target, null);
      return ok(undefined);
    })
    .map(({ value }) => value);
}

function putTag(view: WriteView, versions: readonly Job[], target: Job, tag: JobVersionTag | null): void {
  view.put(target === versions[0] ? jobs : jobVersions, { ...target, VersionTag: tag, ModifyIndex: view.index });
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
