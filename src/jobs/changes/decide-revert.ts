import { err, ok, type Result } from 'neverthrow';
import type { Job } from '../document/job.js';
import type { RevertRefused, VersionNotFound } from '../errors.js';

/** The version that is registered again. */
export interface RevertRequest {
  readonly version: number;
  /** Check-and-set: the required current version; null without the check. */
  readonly enforcedPriorVersion: number | null;
}

/**
 * The document to register for a revert (job interface, revert): the target version without its stability and tag. It is then
 * registered like any other.
 */
export function decideRevert(
  current: Job,
  target: Job | undefined,
  request: RevertRequest,
): Result<Job, RevertRefused | VersionNotFound> {
  const { version, enforcedPriorVersion } = request;
  if (version === current.Version) {
    return refuse('same_version', `can't revert to current version ${version}`);
  }
  if (target === undefined) return err(versionNotFound(current, version));
  if (enforcedPriorVersion !== null && enforcedPriorVersion !== current.Version) {
    return refuse(
      'prior_version',
      `Current job has version ${current.Version}; enforcing version ${enforcedPriorVersion}`,
    );
  }
  return ok({ ...target, Stable: false, VersionTag: null });
}

export function versionNotFound(job: Pick<Job, 'ID' | 'Namespace'>, version: number): VersionNotFound {
  return {
    type: 'version_not_found',
    version,
    message: `job "${job.ID}" in namespace "${job.Namespace}" at version ${version} not found`,
  };
}

function refuse(reason: RevertRefused['reason'], message: string): Result<never, RevertRefused> {
  return err({ type: 'revert_refused', reason, message });
}
