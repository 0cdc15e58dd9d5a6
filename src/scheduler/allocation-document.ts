import { zeroResources } from '../jobs/document/resources.js';
import type { RunOutcome } from '../jobs/runs/run-outcome.js';
import { type ResourceSum, type ResourceSums, resourceSums } from './allocated-resources.js';
import type { Allocation } from './allocation.js';

/** Members of a stored allocation that the interface does not show: copies from the job that decisions use, and the output that alerts quote. */
type OwnMember = 'JobType' | 'JobVersion' | 'JobCreateIndex' | 'JobPriority' | 'MigrateParallel' | 'FailureOutput';

/** A full allocation as the job interface shows it, including the legacy forms of its resources. */
export interface AllocationDocument extends Omit<Allocation, OwnMember>, ResourceSums {
  readonly SharedResources: ResourceSum;
  /** How it ended; absent until its node has finished with it, and in answers limited to Nomad's own members. */
  readonly Outcome?: RunOutcome;
}

/** Members of the document that a stored allocation lacks, or lacks at times. */
export const derivedMembers = ['Resources', 'SharedResources', 'TaskResources', 'NetworkStatus'] as const;

export function allocationDocument(allocation: Allocation): AllocationDocument {
  const { JobType, JobVersion, JobCreateIndex, JobPriority, MigrateParallel, FailureOutput, ...shown } = allocation;
  const { DiskMB, Networks } = allocation.AllocatedResources.Shared;
  return {
    ...shown,
    ...networkStatus(allocation),
    ...resourceSums(allocation.AllocatedResources),
    SharedResources: { ...zeroResources, DiskMB, Networks: Networks ?? null },
  };
}

/** Present from the first report on. Allocations use the host's network, so it contains only the group's DNS settings. */
function networkStatus({
  NetworkStatus,
  TaskStates,
  AllocatedResources,
}: Allocation): Pick<Allocation, 'NetworkStatus'> {
  if (NetworkStatus !== undefined || TaskStates === undefined) return {};
  const DNS = AllocatedResources.Shared.Networks?.[0]?.DNS ?? null;
  return { NetworkStatus: { InterfaceName: '', Address: '', AddressIPv6: '', DNS } };
}
