import type { Instant } from '../../shared/instant.js';
import type { Allocation, ClientStatus } from '../allocation.js';

/** An allocation that should end. */
export interface StopIntent {
  readonly allocation: Allocation;
  readonly description: string;
  /** Set by the scheduler only for allocations whose node cannot report any more. */
  readonly clientStatus?: Extract<ClientStatus, 'lost'>;
}

/** A wanted allocation. */
export interface PlaceIntent {
  readonly name: string;
  readonly previous: Allocation | null;
  /** Counts against the reschedule policy. */
  readonly reschedule: boolean;
  /** Stopped if, and only if, the placement succeeds. */
  readonly replaces: StopIntent | null;
  /** The only node that will do; null lets the ranking choose. */
  readonly nodeId: string | null;
}

/** A failed allocation that gets its replacement later. */
export interface LaterIntent {
  readonly allocation: Allocation;
  readonly at: Instant;
}

/** What one group needs so that its allocations become what the job wants. */
export interface GroupIntents {
  readonly stop: readonly StopIntent[];
  /** Allocations that go on under the new job version as they are. */
  readonly inPlace: readonly Allocation[];
  readonly place: readonly PlaceIntent[];
  readonly later: readonly LaterIntent[];
}

export const descriptions = {
  notNeeded: 'The allocation is not needed because the job changed',
  lost: 'The allocation was lost because its node is down',
  migrating: 'The allocation is moving to another node',
  updating: 'The allocation is replaced by one of the new job version',
  rescheduled: 'The allocation failed and was rescheduled',
} as const;
