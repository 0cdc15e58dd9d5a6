import { checkOptions } from '../../src/options/check-options.js';
import { amount, anything, optional } from '../../src/options/option-kinds.js';
import type { ListQuery, Storage } from '../../src/ports/storage.js';
import { type Snapshot, SortedValues } from '../../src/storage/overlay.js';
import {
  type AnyTable,
  type Entries,
  entriesOf,
  entryOf,
  indexesOf,
  indexPosition,
  type KeyBounds,
  type KeyedRow,
  type NamedIndex,
  parseRecord,
  printRecord,
  type RowText,
  rowKeyOf,
  sortKeyFrom,
  unitOrdered,
} from '../../src/storage/records.js';
import type { StoreContents, TableContents } from '../../src/storage/store-contents.js';
import { type Store, storageOver } from '../storage-kit/index.js';

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

/** Keeps the parsed values of recently read rows within a budget, counted in characters of their text. */
interface ParsedRows {
  admit(row: StoredRow): void;
  /** Drops a replaced or removed row, which nobody reads again. */
  release(row: StoredRow): void;
}

/**
 * The store keeps JSON strings: with a hundred thousand parsed documents every full garbage collection takes hundreds of milliseconds,
 * with strings almost no time. Two generations: when the young one is full, the values of the old one are dropped (and parsed
 * again when needed) and the young one becomes the old one. A hit changes nothing.
 */
function parsedRows(budget: number): ParsedRows {
  let old = new Set<StoredRow>();
  let young = new Set<StoredRow>();
  let youngSize = 0;
  return {
    admit(row) {
      young.add(row);
      youngSize += row.text.length;
      if (youngSize <= budget / 2) return;
      for (const dropped of old) dropped.forget();
      old = young;
      young = new Set();
      youngSize = 0;
    },
    release(row) {
      if (young.delete(row)) youngSize -= row.text.length;
      else old.delete(row);
    },
  };
}

/** The table of a row, as far as the row needs it. */
interface RowOwner {
  readonly recent: ParsedRows;
  sortKeyOf(row: StoredRow, table: AnyTable, index: string | undefined): string | undefined;
}

/**
 * A row of the store. A class, so that the getter is shared on the prototype: a closure for each row would double the memory of
 * small rows.
 */
class StoredRow implements KeyedRow {
  readonly text: string;
  readonly createIndex: number;
  readonly modifyIndex: number;
  readonly rowKey: string;
  private parsed: unknown = undefined;

  constructor(
    private readonly owner: RowOwner,
    stored: RowText,
    /** Its sort keys in the indexes of its table, by position; `undefined` if an index leaves it out. */
    readonly sortKeys: (string | undefined)[],
  ) {
    this.text = stored.text;
    this.createIndex = stored.createIndex;
    this.modifyIndex = stored.modifyIndex;
    this.rowKey = stored.rowKey;
  }

  get record(): unknown {
    if (this.parsed === undefined) {
      this.parsed = parseRecord(this.text);
      this.owner.recent.admit(this);
    }
    return this.parsed;
  }

  sortKey(table: AnyTable, index: string | undefined): string | undefined {
    return this.owner.sortKeyOf(this, table, index);
  }

  /** Call when the row was removed or replaced in the store; readers that hold it may continue to read it. */
  retire(): void {
    if (this.parsed !== undefined) this.owner.recent.release(this);
  }

  forget(): void {
    this.parsed = undefined;
  }
}

interface MemoryIndex extends NamedIndex {
  readonly order: SortedValues<StoredRow>;
}

/** A row to enter, with its encoded keys in the indexes that its table declares. */
interface EnteredRow extends RowText {
  readonly entries: Entries;
}

interface ChangedRow {
  readonly table: AnyTable;
  readonly rowKey: string;
  /** Undefined for a removal. */
  readonly after: EnteredRow | undefined;
}

/** One table's rows: by key for point reads, in key order and in index order for lists. */
class MemoryTable implements RowOwner {
  /** Index of the last write that changed the table. */
  changedAt = 1;
  readonly #rows = new Map<string, StoredRow>();
  readonly #order = new SortedValues<StoredRow>();
  /** Every version of every index that some definition declares. Only grows: positions are those of `StoredRow.sortKeys`. */
  readonly #indexes: MemoryIndex[] = [];
  /** For each definition the positions of its indexes, in the order in which it declares them. */
  readonly #positions = new WeakMap<AnyTable, readonly number[]>();

  constructor(readonly recent: ParsedRows) {}

  find(table: AnyTable, rowKey: string): StoredRow | undefined {
    this.adopt(table);
    return this.#rows.get(rowKey);
  }

  scan(table: AnyTable, query: ListQuery, bounds: KeyBounds): readonly KeyedRow[] {
    const positions = this.adopt(table);
    const order =
      query.index === undefined
        ? this.#order
        : (this.#indexes[positions[indexPosition(table, query.index)] as number] as MemoryIndex).order;
    const limit = query.limit ?? Number.POSITIVE_INFINITY;
    return order.scan(unitOrdered(bounds.lower), unitOrdered(bounds.upper), query.reverse === true, limit);
  }

  sortKeyOf(row: StoredRow, table: AnyTable, index: string | undefined): string | undefined {
    if (index === undefined) return sortKeyFrom(row.rowKey, undefined);
    return row.sortKeys[this.adopt(table)[indexPosition(table, index)] as number];
  }

  /** Maintains every index of the definition from now on; existing rows are entered in new indexes. */
  adopt(table: AnyTable): readonly number[] {
    const known = this.#positions.get(table);
    if (known !== undefined) return known;
    const positions = indexesOf(table).map((index) => {
      const same = this.#indexes.findIndex(({ name, version }) => name === index.name && version === index.version);
      return same >= 0 ? same : this.#addIndex(table, index);
    });
    this.#positions.set(table, positions);
    return positions;
  }

  /** Enters records, each with the indexes of the writes that made it. */
  fill({ table, index, rows }: TableContents): void {
    this.changedAt = index;
    for (const { record, createIndex, modifyIndex } of rows) {
      const rowKey = rowKeyOf(table, table.key(record));
      const entries = entriesOf(table, record);
      const after = { text: printRecord(table, record), rowKey, entries, createIndex, modifyIndex };
      this.change({ table, rowKey, after });
    }
  }

  /** Applies a committed change: a row that is removed, added, or both (replaced). */
  change({ table, rowKey, after }: ChangedRow): void {
    const before = this.#rows.get(rowKey);
    before?.retire();
    const row = after === undefined ? undefined : this.#rowFrom(table, after);
    this.#enter(before, row);
    const key = sortKeyFrom(rowKey, undefined);
    if (row !== undefined) {
      this.#rows.set(rowKey, row);
      this.#order.set(key, row);
    } else if (before !== undefined) {
      this.#rows.delete(rowKey);
      this.#order.remove(key);
    }
  }

  #enter(before: StoredRow | undefined, row: StoredRow | undefined): void {
    for (let position = 0; position < this.#indexes.length; position += 1) {
      const from = before?.sortKeys[position];
      const to = row?.sortKeys[position];
      if (from === undefined && to === undefined) continue;
      const { order } = this.#indexes[position] as MemoryIndex;
      if (from !== undefined && from !== to) order.remove(from);
      if (to !== undefined) order.set(to, row as StoredRow);
    }
  }

  #rowFrom(table: AnyTable, pending: EnteredRow): StoredRow {
    const { text, rowKey, entries } = pending;
    const own = this.adopt(table);
    const sortKeys = this.#indexes.map((index, position) => {
      const at = own.indexOf(position);
      const entry = at >= 0 ? entries[at] : entryOf(table, index, parseRecord(text));
      return entry === undefined ? undefined : sortKeyFrom(rowKey, entry);
    });
    return new StoredRow(this, pending, sortKeys);
  }

  #addIndex(table: AnyTable, index: NamedIndex): number {
    const order = new SortedValues<StoredRow>();
    // All entries are computed before any change: a definition that fails on a stored record must not leave an incomplete
    // index.
    const rows = [...this.#rows.values()];
    const sortKeys = rows.map((row) => {
      const entry = entryOf(table, index, row.record);
      return entry === undefined ? undefined : sortKeyFrom(row.rowKey, entry);
    });
    rows.forEach((row, at) => {
      const key = sortKeys[at];
      row.sortKeys.push(key);
      if (key !== undefined) order.set(key, row);
    });
    return this.#indexes.push({ ...index, order }) - 1;
  }
}
