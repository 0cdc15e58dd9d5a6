import type { AllocationUse } from '../cluster/allocation-use.js';
import { addCapacity, type Capacity, subtractCapacity } from '../cluster/capacity.js';
import type { NodeState } from '../cluster/cluster.js';
import type { GroupRequirements } from '../feasibility/requirements.js';

/** The job that needs room, and what its evaluation has preempted so far. */
export interface Preemptor {
  readonly wanted: GroupRequirements;
  /** Number of already preempted allocations of the same group as this one. */
  readonly preemptedLike: (use: AllocationUse) => number;
}

/** Added to the distance for each allocation of a group above its migrate limit. */
const penaltyBeyondParallel = 50;

/**
 * Allocations that make room for `asked`: the lowest priority first, within one priority the one closest in size to the
 * missing amount. Allocations that turn out to be unnecessary are kept. Undefined when all of them together are not enough.
 */
export function victimsForRoom(
  preemptor: Preemptor,
  { capacity, used }: NodeState,
  asked: Capacity,
  candidates: readonly AllocationUse[],
): readonly AllocationUse[] | undefined {
  const free = subtractCapacity(capacity, used);
  const chosen: AllocationUse[] = [];
  let room = free;
  let needed = asked;
  for (const level of byPriority(candidates)) {
    while (level.length > 0 && !covers(room, asked)) {
      const next = takeClosest(preemptor, level, needed);
      chosen.push(next);
      room = addCapacity(room, next);
      needed = subtractCapacity(needed, next);
    }
  }
  return covers(room, asked) ? neededOf(chosen, free, asked) : undefined;
}

/** Those whose size differs most from the request first, until enough is free. */
function neededOf(chosen: readonly AllocationUse[], free: Capacity, asked: Capacity): AllocationUse[] {
  const farthest = [...chosen].sort((left, right) => distance(asked, right) - distance(asked, left));
  const needed: AllocationUse[] = [];
  let room = free;
  for (const use of farthest) {
    needed.push(use);
    room = addCapacity(room, use);
    if (covers(room, asked)) break;
  }
  return needed;
}

/** Lists of equal priority, lowest first; within one, ordered by ID. */
export function byPriority(uses: readonly AllocationUse[]): AllocationUse[][] {
  const levels = new Map<number, AllocationUse[]>();
  for (const use of uses) {
    const level = levels.get(use.priority);
    if (level === undefined) levels.set(use.priority, [use]);
    else level.push(use);
  }
  const sorted = [...levels.entries()].sort(([left], [right]) => left - right).map(([, level]) => level);
  for (const level of sorted) level.sort((left, right) => (left.id < right.id ? -1 : 1));
  return sorted;
}

function takeClosest(preemptor: Preemptor, level: AllocationUse[], needed: Capacity): AllocationUse {
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (const [at, use] of level.entries()) {
    const far = distance(needed, use) + parallelPenalty(use, preemptor.preemptedLike(use));
    if (far < least) {
      best = at;
      least = far;
    }
  }
  return level.splice(best, 1)[0] as AllocationUse;
}

function parallelPenalty({ parallel }: AllocationUse, preempted: number): number {
  return parallel > 0 && preempted >= parallel ? (preempted + 1 - parallel) * penaltyBeyondParallel : 0;
}

/** Distance in size; each dimension is relative to the requested amount. */
function distance(asked: Capacity, use: Capacity): number {
  const part = (of: keyof Capacity): number => (asked[of] > 0 ? (asked[of] - use[of]) / asked[of] : 0);
  return Math.hypot(part('memory'), part('cpu'), part('disk'));
}

function covers(room: Capacity, asked: Capacity): boolean {
  return room.cpu >= asked.cpu && room.memory >= asked.memory && room.disk >= asked.disk;
}
