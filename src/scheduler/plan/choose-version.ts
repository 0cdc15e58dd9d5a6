import type { Job } from '../../jobs/document/job.js';
import type { TaskGroup } from '../../jobs/document/task-group.js';
import type { Deployment } from '../deployment/deployment.js';
import { isDeployed } from '../reconcile/group-deployment.js';
import type { PlaceIntent } from '../reconcile/intents.js';

/** The version that a new allocation runs, and the deployment that it belongs to. */
export interface ChosenVersion {
  readonly job: Job;
  readonly group: TaskGroup;
  readonly deploymentId: string | undefined;
}

interface VersionsOfJob {
  readonly job: Job;
  readonly versions: ReadonlyMap<number, Job>;
  readonly deployments: readonly Deployment[];
}

/**
 * The version for an allocation that is placed while canaries are being checked: the newest promoted one, but none older than
 * that of the allocation it replaces. Undefined for the current version.
 */
export function acceptedVersion(
  { group, previous }: Pick<PlaceIntent, 'group' | 'previous'>,
  { job, versions, deployments }: VersionsOfJob,
): ChosenVersion | undefined {
  const oldest = previous?.JobVersion ?? 0;
  const ofJob = deployments.filter(({ JobCreateIndex }) => JobCreateIndex === job.CreateIndex);
  const newestFirst = [...ofJob].sort((left, right) => right.JobVersion - left.JobVersion);
  const accepted = newestFirst.find(({ TaskGroups }) => {
    const state = Object.hasOwn(TaskGroups, group.Name) ? TaskGroups[group.Name] : undefined;
    return state !== undefined && (state.Promoted || state.DesiredCanaries === 0);
  });
  if (accepted !== undefined)
    return versionWith(versions, accepted.JobVersion, { group, oldest, deploymentId: accepted.ID });
  const undeployed = versionWith(versions, oldest, { group, oldest, deploymentId: undefined });
  return undeployed === undefined || isDeployed(undeployed.group) ? undefined : undeployed;
}

function versionWith(
  versions: ReadonlyMap<number, Job>,
  version: number,
  wanted: { readonly group: TaskGroup; readonly oldest: number; readonly deploymentId: string | undefined },
): ChosenVersion | undefined {
  const job = version < wanted.oldest ? undefined : versions.get(version);
  const group = job?.TaskGroups.find(({ Name }) => Name === wanted.group.Name);
  return job === undefined || group === undefined ? undefined : { job, group, deploymentId: wanted.deploymentId };
}
