import type { ListQuery } from '../../src/ports/storage.js';
import { type KeyBounds, unitOrdered } from '../../src/storage/keys.js';
import {
  type AnyTable,
  type Entries,
  entriesOf,
  entryOf,
  indexesOf,
  indexPosition,
  type KeyedRow,
  type NamedIndex,
  parseRecord,
  printRecord,
  type RowText,
  rowKeyOf,
  sortKeyFrom,
} from '../../src/storage/records.js';
import { type SortedValues, sortedValues } from '../../src/storage/sorted-values.js';
import type { TableContents } from '../../src/storage/store-contents.js';
import { type ParsedRows, type RowOwner, StoredRow } from './memory-row.js';

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
export class MemoryTable implements RowOwner {
  /** Index of the last write that changed the table. */
  changedAt = 1;
  readonly #rows = new Map<string, StoredRow>();
  readonly #order = sortedValues<StoredRow>();
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
    const order = sortedValues<StoredRow>();
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
