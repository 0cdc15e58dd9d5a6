import type { Allocation } from '../allocation.js';
import { without } from './intents.js';

/** The allocations of one group, divided by what is to happen to them; each is in one list at most. */
export interface GroupSets {
  /** They count towards what the group wants. */
  readonly untainted: readonly Allocation[];
  readonly migrating: readonly Allocation[];
  readonly lost: readonly Allocation[];
  readonly disconnecting: readonly Allocation[];
  /** They are replaced now, by the reschedule policy. */
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
