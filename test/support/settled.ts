import { setTimeout as pause } from 'node:timers/promises';

/** The active resources of pending work with files, names or connections. */
const realWork: ReadonlySet<string> = new Set([
  'FSReqPromise',
  'FSReqCallback',
  'CloseReq',
  'GetAddrInfoReqWrap',
  'TCPConnectWrap',
]);

/** Consecutive checks without pending work, two milliseconds apart, after which work in turns of the event loop has ended, too. */
const quietLooks = 4;

/**
 * Resolves when no work with files or connections is pending. Call it between two steps of a manual clock, so that work in real time
 * takes no virtual time, however slow the machine is.
 */
export async function settled(): Promise<void> {
  for (let quiet = 0; quiet < quietLooks; quiet += 1) {
    await pause(2);
    if (process.getActiveResourcesInfo().some((resource) => realWork.has(resource))) quiet = -1;
  }
}
