import type { Allocation } from '../allocation.js';
import type { SchedulingResult } from './outcome.js';

/** Allocations of a plan that are written together. */
export interface PlanPart {
  readonly allocations: readonly Allocation[];
  /** Deployments and evaluations for later come with it. */
  readonly first: boolean;
  /** The evaluation ends with it. */
  readonly last: boolean;
}

/** All of a plan. */
export function wholeOf({ allocations }: SchedulingResult): PlanPart {
  return { allocations, first: true, last: true };
}

/**
 * A plan in parts of about `size` allocations, each of which leaves the job in a state that an evaluation can go on from. An allocation and
 * its successor are written together; else the order is that of the decisions, so that each allocation finds the room that it was
 * decided on: first what needs no room. A plan that preempts allocations of other jobs stays whole.
 */
export function partsOf(result: SchedulingResult, size: number): readonly PlanPart[] {
  const { allocations, preemptions } = result;
  if (preemptions.length > 0 || allocations.length <= size) return [wholeOf(result)];
  const parts: Allocation[][] = [];
  for (const unit of unitsOf(allocations)) {
    const current = parts.at(-1);
    if (current !== undefined && current.length + unit.length <= size) current.push(...unit);
    else parts.push([...unit]);
  }
  return parts.map((own, at) => ({ allocations: own, first: at === 0, last: at === parts.length - 1 }));
}

/** Allocations that have to be written together, in the order of their last ones. */
function unitsOf(allocations: readonly Allocation[]): readonly (readonly Allocation[])[] {
  const byId = new Map(allocations.map((allocation) => [allocation.ID, allocation]));
  const units: (readonly Allocation[])[] = [];
  for (const allocation of allocations) {
    const { NextAllocation: next, PreviousAllocation: previous } = allocation;
    if (next !== undefined && byId.has(next)) continue;
    const before = previous === undefined ? undefined : byId.get(previous);
    units.push(before === undefined || before.NextAllocation !== allocation.ID ? [allocation] : [before, allocation]);
  }
  return units;
}
