import type { Storage } from '../../src/ports/storage.js';
import { rehearsalOver } from '../../src/storage/views.js';

/**
 * The same storage, but it runs the work function of each write this many additional times and discards their changes before the
 * committed run. Any store may do that (after a conflict, in a group commit). With this storage, a test finds work functions that
 * keep state outside the store.
 */
export function rerunning(storage: Storage, times: number | ((write: number) => number) = 1): Storage {
  let writes = 0;
  return {
    read: (work) => storage.read(work),
    write: (work) => {
      writes += 1;
      const vain = typeof times === 'number' ? times : times(writes);
      return storage.write((view) => {
        for (let run = 0; run < vain; run += 1) {
          const rehearsal = rehearsalOver(() => view);
          try {
            forget(work(rehearsal));
          } catch {
            // The run that counts has the same exception and reports it.
          }
          rehearsal.end();
        }
        return work(view);
      });
    },
    waitForChange: (tables, after, signal) => storage.waitForChange(tables, after, signal),
    close: () => storage.close(),
  };
}

/** The result of a discarded run is ignored. */
function forget(_result: unknown): void {}
