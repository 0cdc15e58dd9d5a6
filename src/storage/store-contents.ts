import type { Instant } from '../shared/instant.js';
import type { Table } from '../shared/table.js';

/** A record with the indexes of the writes that created and changed it. */
export interface RecordContents {
  /** Index of the write that created the row. */
  readonly createIndex: number;
  /** Index of the write that last changed it. */
  readonly modifyIndex: number;
  /** As the table declares it. */
  readonly record: unknown;
}

/** The records of one table. */
export interface TableContents {
  readonly table: Table<unknown>;
  /** Index of the last write that put or removed a row of the table. */
  readonly index: number;
  /** In the order of their keys. */
  readonly rows: readonly RecordContents[];
}

/** The contents of a store at one time. */
export interface StoreContents {
  /** The wall time at that time. */
  readonly at: Instant;
  /** Index of the last write that it contains. */
  readonly index: number;
  readonly tables: readonly TableContents[];
}
