import type { Job } from '../document/job.js';

type Kept = Pick<Job, 'Version' | 'Stable' | 'VersionTag'>;

/**
 * Which of a job's earlier versions go when a version is added (job interface, versions): at most `tracked` untagged
 * versions stay, the current one included, and the oldest goes first, except the newest stable one: it is what a failed
 * update falls back to. Tagged versions always stay, and so do those that an allocation still runs (`isInUse`). `versions` holds all
 * versions, newest first, the current one in front.
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
