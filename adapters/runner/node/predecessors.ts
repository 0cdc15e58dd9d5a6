import type { AllocationActor } from '../allocation/allocation-actor.js';
import type { Predecessors } from '../disk/disk-succession.js';
import type { FinishedAllocations } from './finished-allocations.js';
import { endLeft, type Premises } from './unwanted-tasks.js';

/** The allocations of a node, by what its agent knows of them. */
interface Present {
  readonly actors: ReadonlyMap<string, Pick<AllocationActor, 'isDone'>>;
  readonly untaken: Pick<ReadonlyMap<string, unknown>, 'has'>;
  readonly finished: FinishedAllocations;
}

/** What the successors of disks have to know of the allocations before them. */
export function predecessors(premises: Premises, { actors, untaken, finished }: Present): Predecessors {
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
