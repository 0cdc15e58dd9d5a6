import { type AnyTable, type KeyedRow, parseRecord, type RowText } from '../../src/storage/records.js';

/** Keeps the parsed values of recently read rows within a budget, counted in characters of their text. */
export interface ParsedRows {
  admit(row: StoredRow): void;
  /** Drops a replaced or removed row, which nobody reads again. */
  release(row: StoredRow): void;
}

/**
 * The store keeps JSON strings: with a hundred thousand parsed documents every full garbage collection takes hundreds of milliseconds,
 * with strings almost no time. Two generations: when the young one is full, the values of the old one are dropped (and parsed
 * again when needed) and the young one becomes the old one. A hit changes nothing.
 */
export function parsedRows(budget: number): ParsedRows {
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
export interface RowOwner {
  readonly recent: ParsedRows;
  sortKeyOf(row: StoredRow, table: AnyTable, index: string | undefined): string | undefined;
}

/**
 * A row of the store. A class, so that the getter is shared on the prototype: a closure for each row would double the memory of
 * small rows.
 */
export class StoredRow implements KeyedRow {
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
