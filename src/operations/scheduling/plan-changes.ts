import type { ReadView } from '../../ports/storage.js';
import { type Allocation, allocations } from '../../scheduler/allocation.js';
import { withAllocation } from '../../scheduler/deployment/count-allocations.js';
import { type Deployment, deployments } from '../../scheduler/deployment/deployment.js';
import type { SchedulingResult } from '../../scheduler/plan/outcome.js';
import { isPreempted } from '../../scheduler/plan/plan-parts.js';
import { unixNanosFromInstant } from '../../shared/instant.js';
import type { AllocationChange } from '../records/deployments/follow-deployments.js';
import type { Transaction } from '../write-transaction.js';

/** Created and changed deployments, and deployments whose counts the changed allocations change, with their new counts. */
export function countedDeployments(
  tx: Transaction,
  uncounted: readonly Deployment[],
  changes: readonly AllocationChange[],
): readonly Deployment[] {
  const counted = new Map(uncounted.map((deployment) => [deployment.ID, deployment]));
  const stamps = { ModifyIndex: tx.index, ModifyTime: unixNanosFromInstant(tx.now) };
  for (const { before, after } of changes) {
    if (after.DeploymentID === undefined) continue;
    const was = counted.get(after.DeploymentID) ?? tx.get(deployments, [after.DeploymentID])?.record;
    const is = was && withAllocation(was, before, after);
    if (is !== undefined && is !== was) counted.set(is.ID, { ...is, ...stamps });
  }
  return [...counted.values()];
}

/** The previous state of every changed allocation. Those of other jobs were preempted, and may have changed since the plan was decided. */
export function changesOf(
  view: ReadView,
  result: SchedulingResult,
  existing: ReadonlyMap<string, Allocation>,
): AllocationChange[] {
  return result.allocations.flatMap((after) => {
    const own = existing.get(after.ID);
    if (own !== undefined) return [{ before: own, after: withOwnTracker(after, own) }];
    const known = view.get(allocations, [after.ID])?.record;
    if (!isPreempted(after))
      return [{ before: known, after: known === undefined ? after : withOwnTracker(after, known) }];
    return known === undefined ? [] : [{ before: known, after: preemptedAs(after, known) }];
  });
}

function preemptedAs(after: Allocation, known: Allocation): Allocation {
  const { DesiredStatus, DesiredDescription, PreemptedByAllocation, ModifyIndex, AllocModifyIndex, ModifyTime } = after;
  const eviction = { DesiredStatus, ModifyIndex, AllocModifyIndex, ModifyTime };
  return {
    ...known,
    ...eviction,
    ...(DesiredDescription === undefined ? {} : { DesiredDescription }),
    ...(PreemptedByAllocation === undefined ? {} : { PreemptedByAllocation }),
  };
}

/** An allocation that is being replaced keeps its stored tracker: its replacement's tracker has the event. */
function withOwnTracker(after: Allocation, before: Allocation): Allocation {
  if (after.NextAllocation === before.NextAllocation || after.RescheduleTracker === before.RescheduleTracker)
    return after;
  const { RescheduleTracker: _, ...replaced } = after;
  return before.RescheduleTracker === undefined
    ? replaced
    : { ...replaced, RescheduleTracker: before.RescheduleTracker };
}
