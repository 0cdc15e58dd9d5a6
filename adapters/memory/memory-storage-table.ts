import { encodeEntry, encodeKey, unitOrdered } from '../../src/shared/key-encoding.js';
import type { Key, Table } from '../../src/shared/table.js';
import type { StoredRow } from './memory-storage-row.js';
import { type SortedValues, sortedValues } from './memory-storage-sorted.js';

/** One table's rows: by key for point reads, in key order and in index order for lists. */
export interface MemoryTable {
  readonly name: string;
  readonly rows: Map<string, StoredRow>;
  readonly order: SortedValues<StoredRow>;
  /** Only grows: the positions are those of `StoredRow.entries`. An index that was defined anew gets a new position. */
  readonly indexes: MemoryIndex[];
  readonly indexByName: Map<string, number>;
  /** Index of the last write that changed the table. */
  changedAt: number;
}

interface MemoryIndex {
  readonly key: (record: unknown) => Key | undefined;
  readonly order: SortedValues<StoredRow>;
}

/** Thrown inside a work function for a record or key that cannot be stored; the storage turns it into its error. */
export class UnstorableError extends Error {}

export function memoryTable(name: string): MemoryTable {
  return { name, rows: new Map(), order: sortedValues(), indexes: [], indexByName: new Map(), changedAt: 1 };
}

/**
 * Makes the table keep every index of a definition. Rows that are there already enter a new index. The same name with
 * other source text is another index: the newest definition is the one that lists read.
 */
export function adoptIndexes<R>(table: MemoryTable, definition: Table<R>): void {
  for (const [name, index] of Object.entries(definition.indexes)) {
    const known = table.indexByName.get(name);
    if (known !== undefined && String(table.indexes[known]?.key) === String(index.key)) continue;
    const added: MemoryIndex = { key: index.key as MemoryIndex['key'], order: sortedValues() };
    // All entries before any change: a definition that fails on a stored record must not leave half an index.
    const entries = Array.from(table.rows.values(), (row) => entryOf(table, added, row.record, row.place));
    table.indexByName.set(name, table.indexes.length);
    table.indexes.push(added);
    let position = 0;
    for (const row of table.rows.values()) {
      const entry = entries[position++];
      row.entries.push(entry);
      if (entry !== undefined) added.order.set(entry, row);
    }
  }
}

/** The place of a record in the table, from its primary key. */
export function placeOf(table: MemoryTable, key: Key): string {
  const encoded = encodeKey(key);
  if (encoded === undefined) throw new UnstorableError(unkeyable(table.name, 'primary key'));
  return unitOrdered(encoded);
}

/** The places of a record in all indexes of its table. */
export function entriesOf(table: MemoryTable, record: unknown, place: string): (string | undefined)[] {
  return table.indexes.map((index) => entryOf(table, index, record, place));
}

/** Puts `after` where `before` was. Either may be absent; both together are one row's replacement. */
export function replaceRow(table: MemoryTable, before: StoredRow | undefined, after: StoredRow | undefined): void {
  if (before !== undefined) leaveIndexes(table, before, after);
  if (after !== undefined) {
    table.rows.set(after.place, after);
    table.order.set(after.place, after);
    enterIndexes(table, after);
  } else if (before !== undefined) {
    table.rows.delete(before.place);
    table.order.remove(before.place);
  }
}

function enterIndexes(table: MemoryTable, row: StoredRow): void {
  table.indexes.forEach((index, position) => {
    // A row that was put before the index was declared does not know its place yet.
    if (position >= row.entries.length) row.entries.push(entryOf(table, index, row.record, row.place));
    const entry = row.entries[position];
    if (entry !== undefined) index.order.set(entry, row);
  });
}

function leaveIndexes(table: MemoryTable, before: StoredRow, after: StoredRow | undefined): void {
  table.indexes.forEach((index, position) => {
    const entry = before.entries[position];
    if (entry !== undefined && entry !== after?.entries[position]) index.order.remove(entry);
  });
}

function entryOf(table: MemoryTable, index: MemoryIndex, record: unknown, place: string): string | undefined {
  const key = index.key(record);
  if (key === undefined) return undefined;
  const encoded = encodeKey(key);
  if (encoded === undefined) throw new UnstorableError(unkeyable(table.name, 'index key'));
  return encodeEntry(unitOrdered(encoded), place);
}

function unkeyable(table: string, what: string): string {
  return `A ${what} of table ${table} holds a part that is no text, finite number, boolean or null.`;
}
