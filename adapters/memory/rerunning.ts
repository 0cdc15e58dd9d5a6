import type { Storage } from '../../src/ports/storage.js';
import { rehearsalOf } from '../../src/storage/views.js';

/**
 * The same storage, which runs each write's work so many times in vain, on changes that are thrown away, before the run that
 * counts. A store may do that at any time (after a conflict, in a group commit), and under this one a test finds the work that
 * keeps something outside of the store and does not expect it.
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
          const rehearsal = rehearsalOf(view);
          try {
            forget(work(rehearsal));
          } catch {
            // The run that counts meets the same exception and answers with it.
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

/** What a run in vain comes to decides nothing. */
function forget(_result: unknown): void {}
