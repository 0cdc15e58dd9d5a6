import { unixNanosFromInstant, type WriteStamp } from '../../shared/instant.js';
import type { Job } from '../document/job.js';

type Kept = Pick<Job, 'Version' | 'Stable' | 'VersionTag'>;

/**
 * The earlier versions of a job to remove when a version is added (job interface, versions): at most `tracked` untagged
 * versions are kept, including the current one. The oldest is removed first, except the newest stable one, to which a failed
 * update reverts. Tagged versions are always kept, and so are those that an allocation still runs (`isInUse`). `versions` has all
 * versions, newest first, beginning with the current one.
 */
export function prunedVersions(
  versions: readonly Kept[],
  tracked: number,
  isInUse: (version: number) => boolean = () => false,
): number[] {
  const untagged = versions.filter((version) => version.VersionTag === null);
  const surplus = untagged.length - Math.max(tracked, 1);
  if (surplus <= 0) return [];
  const fallback = versions.find((version) => version.Stable)?.Version;
  const removable = untagged
    .filter(({ Version }) => Version !== fallback && Version !== versions[0]?.Version && !isInUse(Version))
    .map((version) => version.Version)
    .reverse();
  return removable.slice(0, surplus);
}

/** A new version without a registered document, for example for a stop: neither stable nor tagged. */
export function nextVersion(current: Job, { index, now }: WriteStamp): Job {
  return {
    ...current,
    Stable: false,
    VersionTag: null,
    Version: current.Version + 1,
    SubmitTime: unixNanosFromInstant(now),
    ModifyIndex: index,
    JobModifyIndex: index,
  };
}
