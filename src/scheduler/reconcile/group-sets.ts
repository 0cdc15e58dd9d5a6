import type { Allocation } from '../allocation.js';
import { without } from './intents.js';

/** The allocations of one group, divided by their treatment; each is in at most one list. */
export interface GroupSets {
  /** Allocations that count towards the group's count. */
  readonly untainted: readonly Allocation[];
  readonly migrating: readonly Allocation[];
  readonly lost: readonly Allocation[];
  readonly disconnecting: readonly Allocation[];
  /** Allocations that are replaced now, by the reschedule policy. */
  readonly replacedNow: readonly Allocation[];
}

export function withoutFrom(sets: GroupSets, removed: readonly Allocation[]): GroupSets {
  return {
    untainted: without(sets.untainted, removed),
    migrating: without(sets.migrating, removed),
    lost: without(sets.lost, removed),
    disconnecting: without(sets.disconnecting, removed),
    replacedNow: without(sets.replacedNow, removed),
  };
}
