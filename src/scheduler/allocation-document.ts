import { zeroResources } from '../jobs/document/resources.js';
import type { RunOutcome } from '../jobs/runs/run-outcome.js';
import type { Allocation } from './allocation.js';
import { type ResourceSum, type ResourceSums, resourceSums } from './resource-sums.js';

/** Members of a stored allocation that the interface does not have: copies of the job's, for decisions, and what alerts quote. */
type OwnMember = 'JobType' | 'JobVersion' | 'JobCreateIndex' | 'JobPriority' | 'MigrateParallel' | 'FailureOutput';

/** A whole allocation as the job interface shows it, with the older forms of its resources. */
export interface AllocationDocument extends Omit<Allocation, OwnMember>, ResourceSums {
  readonly SharedResources: ResourceSum;
  /** How it ended; absent while its node has not finished with it, and where only Nomad's own members are shown. */
  readonly Outcome?: RunOutcome;
}

/** Members of the document that the stored allocation does not have, or not always. */
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

/** Present from the first report on. Allocations use the host's network, so it only contains the name servers of the group. */
function networkStatus({
  NetworkStatus,
  TaskStates,
  AllocatedResources,
}: Allocation): Pick<Allocation, 'NetworkStatus'> {
  if (NetworkStatus !== undefined || TaskStates === undefined) return {};
  const DNS = AllocatedResources.Shared.Networks?.[0]?.DNS ?? null;
  return { NetworkStatus: { InterfaceName: '', Address: '', AddressIPv6: '', DNS } };
}
