import type { Allocation } from '../allocation.js';
import { byIdInSteps, lookedAtInStep, type Steps } from '../steps.js';
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
 * decided on: first what needs no room. A plan that preempts allocations of other jobs stays whole. Yields now and then.
 */
export function* partsInSteps(result: SchedulingResult, size: number): Steps<readonly PlanPart[]> {
  const { allocations, preemptions } = result;
  if (preemptions.length > 0 || allocations.length <= size) return [wholeOf(result)];
  const byId = yield* byIdInSteps(allocations);
  const parts: Allocation[][] = [];
  for (const [at, allocation] of allocations.entries()) {
    if (at % lookedAtInStep === 0) yield;
    const unit = unitOf(allocation, byId);
    const current = parts.at(-1);
    if (current !== undefined && current.length + unit.length <= size) current.push(...unit);
    else if (unit.length > 0) parts.push([...unit]);
  }
  return parts.map((own, at) => ({ allocations: own, first: at === 0, last: at === parts.length - 1 }));
}

/** Allocations that have to be written together, at the place of the last one; empty for those before it. */
function unitOf(allocation: Allocation, byId: ReadonlyMap<string, Allocation>): readonly Allocation[] {
  const { NextAllocation: next, PreviousAllocation: previous } = allocation;
  if (next !== undefined && byId.has(next)) return [];
  const before = previous === undefined ? undefined : byId.get(previous);
  return before === undefined || before.NextAllocation !== allocation.ID ? [allocation] : [before, allocation];
}
