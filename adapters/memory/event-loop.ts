import { setImmediate } from 'node:timers';

/** Hops that clocks of this module have queued. Several clocks may wait at once, and none of them is work to another. */
let ownHops = 0;

/** Where the event loop's queue cannot be looked at, so many rounds are taken to be enough. */
const blindRounds = 16;

/** Calls back after one turn of the event loop: after what is queued now, and after all promise callbacks. */
export function hop(callback: () => void): void {
  ownHops += 1;
  setImmediate(() => {
    ownHops -= 1;
    callback();
  });
}

/** Whether somebody else's `setImmediate` is still queued. */
export function othersAreQueued(round: number): boolean {
  if (typeof process.getActiveResourcesInfo !== 'function') return round < blindRounds;
  let queued = 0;
  for (const resource of process.getActiveResourcesInfo()) if (resource === 'Immediate') queued += 1;
  return queued > ownHops;
}
