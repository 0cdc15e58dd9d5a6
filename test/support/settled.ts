import { setTimeout as pause } from 'node:timers/promises';

/** What the process waits for when it works with files, names or connections. */
const realWork: ReadonlySet<string> = new Set([
  'FSReqPromise',
  'FSReqCallback',
  'CloseReq',
  'GetAddrInfoReqWrap',
  'TCPConnectWrap',
]);

/** Looks without real work, two milliseconds apart, after which none follows: also what goes on in turns of the event loop is over then. */
const quietLooks = 4;

/**
 * Resolves when nothing is done with files or connections any more. Between two steps of a manual clock: work that takes real time takes
 * none of the virtual time then, however slow the machine is.
 */
export async function settled(): Promise<void> {
  for (let quiet = 0; quiet < quietLooks; quiet += 1) {
    await pause(2);
    if (process.getActiveResourcesInfo().some((resource) => realWork.has(resource))) quiet = -1;
  }
}
