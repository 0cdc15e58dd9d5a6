import type { AllocationUse } from '../cluster/allocation-use.js';
import type { GroupRequirements } from '../feasibility/requirements.js';

/** The job that needs room, and what its evaluation has preempted so far. */
export interface Preemptor {
  readonly wanted: GroupRequirements;
  /** Number of already preempted allocations of the same group as this one. */
  readonly preemptedLike: (use: AllocationUse) => number;
}
