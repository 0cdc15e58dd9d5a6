import type { ReadView, Storage } from '../../src/ports/storage.js';
import { rehearsalOver } from '../../src/storage/views.js';

/**
 * The same storage, but it runs the work function of each write this many additional times and discards their changes before the
 * committed run. Any store may do that (after a conflict, in a group commit). Reads, and each write before that, also run once on a store
 * that seems to be empty: so does a store that does not know yet what a work needs. With this storage, a test finds work functions that
 * keep state outside the store.
 */
export function rerunning(storage: Storage, times: number | ((write: number) => number) = 1): Storage {
  let writes = 0;
  return {
    read: (work) =>
      storage.read((view) => {
        inVain(() => work(emptyView(view)));
        return work(view);
      }),
    write: (work) => {
      writes += 1;
      const vain = typeof times === 'number' ? times : times(writes);
      return storage.write((view) => {
        for (let run = 0; run < vain; run += 1) {
          const rehearsal = rehearsalOver(() => (run === 0 ? emptyView(view) : view));
          inVain(() => work(rehearsal));
          rehearsal.end();
        }
        return work(view);
      });
    },
    waitForChange: (tables, after, signal) => storage.waitForChange(tables, after, signal),
    close: () => storage.close(),
  };
}

/** As stores do that have to read rows first: who asks for the index of a table and for its rows, and may keep them, is interrupted. */
function emptyView(view: ReadView): ReadView {
  const asked = new Set<string>();
  const missed = new Set<string>();
  const both = (name: string): void => {
    if (asked.has(name) && missed.has(name)) throw new Error('interrupted');
  };
  const miss = (name: string): void => {
    if (view.tableIndex({ name }) === 1) return;
    missed.add(name);
    both(name);
  };
  return {
    index: view.index,
    get: (table) => {
      miss(table.name);
      return undefined;
    },
    list: (table) => {
      miss(table.name);
      return [];
    },
    tableIndex: (table) => {
      asked.add(table.name);
      both(table.name);
      return view.tableIndex(table);
    },
  };
}

/** A discarded run: the one that counts has the same exception and reports it, or has none. */
function inVain(run: () => unknown): void {
  try {
    run();
  } catch {
    // See above.
  }
}
