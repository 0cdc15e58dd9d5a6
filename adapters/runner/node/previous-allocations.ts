import type { AllocationActor } from '../allocation/allocation-actor.js';
import type { PreviousAllocations } from '../disk/disk-handover.js';
import type { FinishedAllocations } from './finished-allocations.js';
import { endLeft, type Premises } from './unwanted-tasks.js';

/** The allocations of a node in their different states. */
interface Present {
  readonly actors: ReadonlyMap<string, Pick<AllocationActor, 'isDone'>>;
  readonly untaken: Pick<ReadonlyMap<string, unknown>, 'has'>;
  readonly finished: FinishedAllocations;
}

/** The states of previous allocations, for taking over their disks. */
export function previousAllocations(premises: Premises, { actors, untaken, finished }: Present): PreviousAllocations {
  return {
    standing(id) {
      const actor = actors.get(id);
      if (actor !== undefined) return actor.isDone ? 'over' : 'runs';
      if (untaken.has(id)) return 'runs';
      return premises.memory.has(id) && !finished.isBeingRemoved(id) ? 'over' : 'absent';
    },
    async clear(id, signal) {
      if (!actors.has(id) && !finished.has(id)) await endLeft(premises, id, signal);
    },
    passedOn: () => finished.trim(),
  };
}
