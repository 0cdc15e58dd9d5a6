import type { Allocation } from '../allocation.js';
import { byIdInSteps, examinedPerStep, type Steps } from '../steps.js';
import type { SchedulingResult } from './outcome.js';

/** Allocations of a plan that are written together. */
export interface PlanPart {
  readonly allocations: readonly Allocation[];
  /** Whether deployments and delayed evaluations are part of this write. */
  readonly first: boolean;
  /** Whether the evaluation ends with this write. */
  readonly last: boolean;
}

/** The whole plan. */
export function wholeOf({ allocations }: SchedulingResult): PlanPart {
  return { allocations, first: true, last: true };
}

/**
 * Splits a plan into parts of about `size` allocations, each of which leaves the job in a state that an evaluation can continue from. An allocation
 * and its replacement are written together; otherwise the order is that of the decisions, so that each allocation finds the room that it was
 * decided on: first changes that need no room. Preempted allocations are written with the one they made room for. Yields now and then.
 */
export function* partsInSteps(result: SchedulingResult, size: number): Steps<readonly PlanPart[]> {
  const { allocations } = result;
  if (allocations.length <= size) return [wholeOf(result)];
  const byId = yield* byIdInSteps(allocations);
  const parts: Allocation[][] = [];
  for (const [at, allocation] of allocations.entries()) {
    if (at % examinedPerStep === 0) yield;
    const unit = unitOf(allocation, byId);
    const current = parts.at(-1);
    if (current !== undefined && current.length + unit.length <= size) current.push(...unit);
    else if (unit.length > 0) parts.push([...unit]);
  }
  return parts.map((own, at) => ({ allocations: own, first: at === 0, last: at === parts.length - 1 }));
}

/** Allocations that must be written together, at the position of the placed one; empty for the others. */
function unitOf(allocation: Allocation, byId: ReadonlyMap<string, Allocation>): readonly Allocation[] {
  const { ID, NextAllocation, PreviousAllocation, PreemptedByAllocation, PreemptedAllocations = [] } = allocation;
  if (NextAllocation !== undefined && byId.has(NextAllocation)) return [];
  if (isPreempted(allocation) && PreemptedByAllocation !== undefined && byId.has(PreemptedByAllocation)) return [];
  const victims = PreemptedAllocations.flatMap((id) => {
    const victim = byId.get(id);
    return victim?.PreemptedByAllocation === ID ? [victim] : [];
  });
  const before = PreviousAllocation === undefined ? undefined : byId.get(PreviousAllocation);
  return [...victims, ...(before?.NextAllocation === ID ? [before] : []), allocation];
}

/** Whether it was preempted for an allocation of another job. */
export function isPreempted({ DesiredStatus }: Pick<Allocation, 'DesiredStatus'>): boolean {
  return DesiredStatus === 'evict';
}
