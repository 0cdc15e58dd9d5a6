import {
  type AnyTable,
  entriesOf,
  indexPosition,
  type KeyedRow,
  type NamedIndex,
  parseRecord,
  sortKeyFrom,
} from '../../src/storage/records.js';

/** Name of an order of a table's rows: of the primary key, or of one version of an index. */
export type OrderName = string;

export const byPrimaryKey: OrderName = '';

export function orderName(index: Pick<NamedIndex, 'name' | 'version'>): OrderName {
  return `${index.name}@${index.version}`;
}

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

/** A row as the server gives it. */
export interface FetchedRow {
  readonly rowKey: string;
  readonly createIndex: number;
  readonly modifyIndex: number;
  readonly text: string;
}

export class ReplicaRow implements KeyedRow {
  readonly rowKey: string;
  readonly createIndex: number;
  readonly modifyIndex: number;
  readonly text: string;
  #record: unknown;

  constructor({ rowKey, createIndex, modifyIndex, text }: FetchedRow) {
    this.rowKey = rowKey;
    this.createIndex = createIndex;
    this.modifyIndex = modifyIndex;
    this.text = text;
  }

  get record(): unknown {
    this.#record ??= parseRecord(this.text);
    return this.#record;
  }

  sortKey(table: AnyTable, index: string | undefined): string | undefined {
    if (index === undefined) return sortKeyFrom(this.rowKey, undefined);
    const entry = entriesOf(table, this.record)[indexPosition(table, index)];
    return entry === undefined ? undefined : sortKeyFrom(this.rowKey, entry);
  }
}

/** Content up to this many characters travels with a batch, so that others need not fetch it. */
const smallText = 512;

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

function parseRow(printed: PrintedRow): RowChange {
  if (printed.length === 1) return { key: printed[0], after: undefined };
  const [key, createIndex, modifyIndex, entries, text] = printed;
  const row = text === null ? undefined : new ReplicaRow({ rowKey: key, text, createIndex, modifyIndex });
  return { key, after: { entries, row } };
}
