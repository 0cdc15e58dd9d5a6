import { setImmediate } from 'node:timers';

/**
 * Calls of `setImmediate` queued by clocks of this module. Several clocks may wait at once; their calls do not count as work
 * for each other.
 */
let ownHops = 0;

/** Number of rounds to wait where the queue of the event loop cannot be inspected. */
const blindRounds = 16;

/** Calls back after one turn of the event loop: after what is queued now, and after all promise callbacks. */
export function hop(callback: () => void): void {
  ownHops += 1;
  setImmediate(() => {
    ownHops -= 1;
    callback();
  });
}

/** Whether a `setImmediate` of other code is still queued. */
export function othersAreQueued(round: number): boolean {
  if (typeof process.getActiveResourcesInfo !== 'function') return round < blindRounds;
  let queued = 0;
  for (const resource of process.getActiveResourcesInfo()) if (resource === 'Immediate') queued += 1;
  return queued > ownHops;
}
