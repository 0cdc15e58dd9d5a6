import type { Instant } from '../shared/instant.js';
import type { Table } from '../shared/table.js';

/** A record with the write indexes that made it. */
export interface RecordContents {
  readonly createIndex: number;
  readonly modifyIndex: number;
  readonly record: unknown;
}

/** The records of one table. */
export interface TableContents {
  readonly table: Table<unknown>;
  /** Index of the last write that put or removed a row of the table. */
  readonly index: number;
  readonly rows: readonly RecordContents[];
}

/** What a store held at one moment. */
export interface StoreContents {
  /** The wall time at that moment. */
  readonly at: Instant;
  /** Index of the last write that it contains. */
  readonly index: number;
  readonly tables: readonly TableContents[];
}
