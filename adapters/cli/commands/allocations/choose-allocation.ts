import type { AllocationListStub } from '../../../../src/scheduler/index.js';

/** The requested part of a job. */
export interface Wanted {
  readonly group?: string | undefined;
  /** Only allocations that have this task. */
  readonly task?: string | undefined;
}

/** The newest running allocation, else the newest that has started a task, else the newest. */
export function allocationToRead(
  allocations: readonly AllocationListStub[],
  wanted: Wanted,
): AllocationListStub | undefined {
  const newest = newestFirst(allocations, wanted);
  return newest.find(runs) ?? newest.find(({ TaskStates }) => hasStarted(TaskStates)) ?? newest[0];
}

/** The newest running allocation, preferably one in which the task itself is running. */
export function allocationToUse(
  allocations: readonly AllocationListStub[],
  wanted: Wanted,
): AllocationListStub | undefined {
  const running = newestFirst(allocations, wanted).filter(runs);
  const { task } = wanted;
  const ready = running.find(({ TaskStates }) => task === undefined || TaskStates?.[task]?.State === 'running');
  return ready ?? running[0];
}

function newestFirst(allocations: readonly AllocationListStub[], { group, task }: Wanted): AllocationListStub[] {
  return allocations
    .filter(({ TaskGroup }) => group === undefined || TaskGroup === group)
    .filter(({ TaskStates }) => task === undefined || TaskStates === null || Object.hasOwn(TaskStates, task))
    .sort((a, b) => b.CreateIndex - a.CreateIndex || b.ModifyIndex - a.ModifyIndex);
}

function runs({ ClientStatus }: AllocationListStub): boolean {
  return ClientStatus === 'running';
}

function hasStarted(states: AllocationListStub['TaskStates']): boolean {
  return Object.values(states ?? {}).some(({ StartedAt }) => StartedAt !== null);
}
