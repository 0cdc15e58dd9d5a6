import { zeroResources } from '../jobs/document/resources.js';
import type { Allocation } from './allocation.js';
import { type ResourceSum, type ResourceSums, resourceSums } from './resource-sums.js';

/** Members of a stored allocation that the interface does not have: they are copies of the job's, for decisions. */
type OwnMember = 'JobType' | 'JobVersion' | 'JobCreateIndex' | 'JobPriority' | 'MigrateParallel';

/** A whole allocation as the job interface shows it, with the older forms of its resources. */
export interface AllocationDocument extends Omit<Allocation, OwnMember>, ResourceSums {
  readonly SharedResources: ResourceSum;
}

export function allocationDocument(allocation: Allocation): AllocationDocument {
  const { JobType, JobVersion, JobCreateIndex, JobPriority, MigrateParallel, ...shown } = allocation;
  const { DiskMB, Networks } = allocation.AllocatedResources.Shared;
  return {
    ...shown,
    ...resourceSums(allocation.AllocatedResources),
    SharedResources: { ...zeroResources, DiskMB, Networks: Networks ?? null },
  };
}
