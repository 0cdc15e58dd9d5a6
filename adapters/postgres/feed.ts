import type { Overlay, PendingRow } from '../../src/storage/overlay.js';
import { type AnyTable, entryOf, type KeyedRow } from '../../src/storage/records.js';
import type { Catalog, Definition } from './catalog.js';
import { type OrderName, type Replica, ReplicaRow } from './replica.js';

/** A batch of the chain: what one commit has changed. */
export interface Batch {
  readonly seq: number;
  readonly id: string;
  /** The last index that it contains. */
  readonly last: number;
  readonly tables: readonly ChangedTable[];
}

export interface ChangedTable {
  readonly name: string;
  /** Index of the last write that changed it. */
  readonly index: number;
  /** The orders whose entries are listed. */
  readonly orders: readonly OrderName[];
  readonly rows: readonly RowChange[];
}

export interface RowChange {
  /** The encoded primary key. */
  readonly key: string;
  /** Undefined for a row that was removed. */
  readonly after: RowAfter | undefined;
}

interface RowAfter {
  /** The encoded index keys, in the order of `ChangedTable.orders`. */
  readonly entries: readonly (string | null | undefined)[];
  /** The row, if its content is known here. */
  readonly row: KeyedRow | undefined;
}

/** Content up to this many characters travels with a batch, so that others need not fetch it. */
const smallText = 512;

/** What a transaction has changed, as the batch after `tip`. */
export function batchOf(changes: Overlay, tip: Replica['tip'], id: string, catalog: Catalog): Batch {
  const tables = changes.changedTables.map((name): ChangedTable => {
    const { definitions } = catalog.table(name);
    const rows = [...changes.changesOf(name)].map(({ rowKey, table, after }): RowChange => {
      if (after === undefined) return { key: rowKey, after };
      const entries = [...definitions.values()].map((definition) => entryBy(definition, table, after));
      return { key: rowKey, after: { entries, row: after } };
    });
    return { name, index: changes.tableIndex(name), orders: [...definitions.keys()], rows };
  });
  return { seq: tip.seq + 1, id, last: changes.index, tables };
}

function entryBy(definition: Definition, table: AnyTable, row: PendingRow): string | undefined {
  if (definition.table === table) return row.entries[definition.position];
  return entryOf(definition.table, definition.index, row.record);
}

/** As it is stored: one array for a table, and one for each row. */
type PrintedRow = readonly [string] | readonly [string, number, number, readonly (string | null)[], string | null];
type PrintedTable = readonly [string, number, readonly OrderName[], readonly PrintedRow[]];

export function printTables(tables: readonly ChangedTable[]): string {
  return JSON.stringify(
    tables.map(({ name, index, orders, rows }) => [name, index, orders, rows.map(printRow)] satisfies PrintedTable),
  );
}

function printRow({ key, after }: RowChange): PrintedRow {
  if (after?.row === undefined) return [key];
  const { createIndex, modifyIndex, text } = after.row;
  const entries = after.entries.map((entry) => entry ?? null);
  return [key, createIndex, modifyIndex, entries, text.length <= smallText ? text : null];
}

export function parseTables(text: string): ChangedTable[] {
  return (JSON.parse(text) as PrintedTable[]).map(([name, index, orders, rows]) => ({
    name,
    index,
    orders,
    rows: rows.map(parseRow),
  }));
}

function parseRow([key, createIndex, modifyIndex, entries, text]: PrintedRow): RowChange {
  if (entries === undefined) return { key, after: undefined };
  const row = typeof text === 'string' ? { rowKey: key, text, ...{ createIndex, modifyIndex } as Indexes } : undefined;
  return { key, after: { entries, row: row === undefined ? undefined : new ReplicaRow(row) } };
}

interface Indexes {
  readonly createIndex: number;
  readonly modifyIndex: number;
}
