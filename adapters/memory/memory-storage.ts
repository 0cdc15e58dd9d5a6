import { checkOptions } from '../../src/options/check-options.js';
import { amount, anything, optional } from '../../src/options/option-kinds.js';
import type { Storage } from '../../src/ports/storage.js';
import type { Snapshot } from '../../src/storage/overlay.js';
import type { StoreContents } from '../../src/storage/store-contents.js';
import { type Store, storageOver } from '../storage-kit/index.js';
import { parsedRows } from './memory-row.js';
import { MemoryTable } from './memory-table.js';

/** The initial content and the cache size of a store in memory. */
export interface MemoryStorageOptions {
  /**
   * Size of the cache of parsed values, in characters of the stored JSON; default: 64 million. A larger cache makes repeated reads of
   * many rows faster and full garbage collections slower.
   */
  readonly parsedBudget?: number;
  /** The initial content; empty when absent. Later writes continue its indexes. */
  readonly contents?: StoreContents;
}

/**
 * A store in the memory of this process, for tests, examples and single processes without durable state. It has the same rules
 * as the durable adapters and passes the same conformance suite. Its data ends with the process. An exception of a work
 * function rolls the write back and rejects the promise: it is a defect of the caller, not a failure of the store.
 */
export function memoryStorage(options: MemoryStorageOptions = {}): Storage {
  checkOptions<MemoryStorageOptions>('memoryStorage', options, {
    parsedBudget: optional(amount),
    contents: optional(anything),
  });
  return storageOver(memoryStore(options), { schedule: queueMicrotask, busyMs: 0 });
}

function memoryStore({ parsedBudget = 64_000_000, contents }: MemoryStorageOptions): Store {
  const tables = new Map<string, MemoryTable>();
  const recent = parsedRows(parsedBudget);
  let index = contents?.index ?? 1;

  const tableOf = (name: string): MemoryTable => {
    let table = tables.get(name);
    if (table === undefined) {
      table = new MemoryTable(recent);
      tables.set(name, table);
    }
    return table;
  };
  for (const held of contents?.tables ?? []) tableOf(held.table.name).fill(held);

  const changedAt = (name: string): number => tables.get(name)?.changedAt ?? 1;
  const snapshot: Snapshot = {
    get index() {
      return index;
    },
    find: (table, _key, rowKey) => tableOf(table.name).find(table, rowKey),
    scan: (table, query, bounds) => tableOf(table.name).scan(table, query, bounds),
    tableIndex: changedAt,
  };

  return {
    read: (run) => run(snapshot),
    begin: () => snapshot,
    prepare: () => undefined,
    commit(changes) {
      for (const name of changes.changedTables) {
        const table = tableOf(name);
        for (const change of changes.changesOf(name)) table.change(change);
        table.changedAt = changes.tableIndex(name);
      }
      index = changes.index;
    },
    rollBack: () => undefined,
    failureOf: () => undefined,
    changedAt,
    observe: () => undefined,
    close: () => undefined,
  };
}
