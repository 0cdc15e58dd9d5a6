import { type Allocation, isClientTerminal } from '../../scheduler/allocation.js';
import { type DrainedAllocation, drainedAllocation } from '../../scheduler/nodes/decide-drain.js';

/** The members of an allocation that drains use, and whether its node has finished with it. */
export interface KnownAllocation extends DrainedAllocation {
  readonly over: boolean;
}

export function knownAllocation(allocation: Allocation): KnownAllocation {
  return { ...drainedAllocation(allocation), over: isClientTerminal(allocation) };
}

/** Whether drains decide the same for both. */
export function isSameAllocation(before: KnownAllocation | undefined, after: KnownAllocation | undefined): boolean {
  if (before === undefined || after === undefined) return before === after;
  return before.leaves === after.leaves && before.runsSince === after.runsSince;
}

export function jobKey({ Namespace, JobID }: Pick<Allocation, 'Namespace' | 'JobID'>): string {
  return `${Namespace}\u0000${JobID}`;
}
