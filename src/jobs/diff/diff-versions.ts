import { err, ok, type Result } from 'neverthrow';
import type { Job } from '../document/job.js';
import { jobDiff } from './diff-jobs.js';
import type { JobDiff } from './job-diff.js';

/** How the versions of a job are compared: each with the previous one, or all with one. */
export type VersionBase =
  | { readonly by: 'predecessor' }
  | { readonly by: 'version'; readonly version: number }
  /** The version that has this tag. */
  | { readonly by: 'tag'; readonly tag: string };

/** The version to compare with does not exist or is no longer kept. */
export interface VersionBaseNotFound {
  readonly type: 'version_base_not_found';
  readonly message: string;
}

/**
 * The contextual diffs of a job's versions, which come newest first (job interface, versions). Compared with their
 * previous versions there is one diff fewer than versions; compared with one version there is one for each, that of the base
 * with the type `None`.
 */
export function diffVersions(versions: readonly Job[], base: VersionBase): Result<JobDiff[], VersionBaseNotFound> {
  return baseOf(versions, base).map((from) =>
    from === undefined
      ? versions.slice(0, -1).map((next, at) => versionDiff(versions[at + 1] ?? next, next))
      : versions.map((next) => versionDiff(from, next)),
  );
}

/** Submitter and tag of a version are not part of the job, so they are not compared. */
function versionDiff(from: Job, next: Job): JobDiff {
  const { NomadTokenID, VersionTag } = next;
  return jobDiff({ ...from, NomadTokenID, VersionTag }, next, { contextual: true, complete: true });
}

/** The version that all are compared with; undefined for comparisons with the previous version, and without versions. */
export function baseOf(versions: readonly Job[], base: VersionBase): Result<Job | undefined, VersionBaseNotFound> {
  if (base.by === 'predecessor' || versions.length === 0) return ok(undefined);
  const from = versions.find((job) =>
    base.by === 'tag' ? job.VersionTag?.Name === base.tag : job.Version === base.version,
  );
  return from === undefined ? err(notFound(base)) : ok(from);
}

function notFound(base: Exclude<VersionBase, { by: 'predecessor' }>): VersionBaseNotFound {
  const message = base.by === 'tag' ? `tag ${JSON.stringify(base.tag)} not found` : `version ${base.version} not found`;
  return { type: 'version_base_not_found', message };
}
