import type { TaskGroup } from '../../jobs/document/task-group.js';
import type { Instant } from '../../shared/instant.js';
import type { Allocation } from '../allocation.js';

/** How long to wait for a disconnected allocation, in milliseconds; 0: it is lost at once. */
export function lostAfter(group: TaskGroup | undefined): number {
  return (group?.Disconnect?.LostAfter ?? group?.MaxClientDisconnect ?? 0) / 1_000_000;
}

/** Milliseconds after which a disconnected node stops its allocations itself; undefined: it does not. */
export function stopOnClientAfter(group: TaskGroup | undefined): number | undefined {
  const after = group?.Disconnect?.StopOnClientAfter ?? group?.StopAfterClientDisconnect ?? null;
  return after === null || after === 0 ? undefined : after / 1_000_000;
}

/** Whether a disconnected allocation is replaced while it is waited for. */
export function replacesDisconnected(group: TaskGroup | undefined): boolean {
  return group?.Disconnect?.Replace ?? true;
}

/** Whether the scheduler marked it as disconnected and has not decided about it since. */
export function needsReconnect(allocation: Allocation): boolean {
  const { ClientStatus, AllocStates } = allocation;
  if (AllocStates === undefined) return false;
  if (ClientStatus !== 'unknown' && ClientStatus !== 'running' && ClientStatus !== 'failed') return false;
  return AllocStates.at(-1)?.Value === 'unknown';
}

/** When it was last marked as disconnected; undefined when never. */
export function lastUnknown({ AllocStates }: Pick<Allocation, 'AllocStates'>): Instant | undefined {
  return timeOf(AllocStates, 'unknown');
}

/** When it was last marked as lost; undefined when never. */
export function lastLost({ AllocStates }: Pick<Allocation, 'AllocStates'>): Instant | undefined {
  return timeOf(AllocStates, 'lost');
}

/** Whether the wait for it is over. */
export function isExpired(allocation: Allocation, group: TaskGroup | undefined, now: Instant): boolean {
  if (allocation.ClientStatus !== 'unknown') return false;
  const since = lastUnknown(allocation);
  return since !== undefined && since + lostAfter(group) <= now;
}

function timeOf(states: Allocation['AllocStates'], value: string): Instant | undefined {
  const state = states?.findLast((change) => change.Value === value);
  return state === undefined ? undefined : Date.parse(state.Time);
}
