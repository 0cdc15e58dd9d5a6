import type { AllocationUse } from '../cluster/allocation-use.js';
import type { GroupRequirements } from '../feasibility/requirements.js';

/** Who asks for room, and what its evaluation has preempted so far. */
export interface Preemptor {
  readonly wanted: GroupRequirements;
  /** Number of allocations of the same group as this one that were preempted already. */
  readonly preemptedLike: (use: AllocationUse) => number;
}
