import type { Result, ResultAsync } from 'neverthrow';
import type { Key, Table, TableName } from '../shared/table.js';

export type { TableName } from '../shared/table.js';

/** A stored record with the write indexes that made it. Rows are immutable: a later write makes another row. */
export interface Row<R> {
  /** The record, parsed at the first access. Treat it as read-only. */
  readonly record: R;
  /** The record's JSON text exactly as stored, so that a reader who only relays it neither parses nor prints. */
  readonly text: string;
  /** The write index that first stored this primary key (again after a removal). */
  readonly createIndex: number;
  /** The write index that last stored it. */
  readonly modifyIndex: number;
}

/** What to list: the rows that are within both `prefix` (with or without `textPrefix`) and the range `from`/`to`. */
export interface ListQuery {
  /** Name of an index of the table; the primary key when absent. */
  readonly index?: string;
  /** Only keys that begin with these parts. */
  readonly prefix?: Key;
  /** Only keys whose next part after `prefix` is a string that begins with this string. */
  readonly textPrefix?: string;
  /** First key of the range, included. A shorter tuple stands before all its extensions. */
  readonly from?: Key;
  /** End of the range, excluded. */
  readonly to?: Key;
  /** Last first. The range means the same rows, in the opposite order. */
  readonly reverse?: boolean;
  /** At most this many rows; all when absent. */
  readonly limit?: number;
}

/** Reads on one snapshot: nothing that commits later is visible. */
export interface ReadView {
  /** Index of the last write that this snapshot contains; at least 1. */
  readonly index: number;
  /** The row with this primary key; undefined when there is none. */
  get<R>(table: Table<R>, key: Key): Row<R> | undefined;
  /** The matching rows, in the order of the primary key or of the index. */
  list<R>(table: Table<R>, query?: ListQuery): Row<R>[];
  /** Index of the last write that put or removed a row of the table; at least 1. */
  tableIndex(table: TableName): number;
}

/** Reads and changes inside one write. It sees its own changes. */
export interface WriteView extends ReadView {
  /** The index that this write takes when it commits. Records that carry their own index copy it from here. */
  readonly index: number;
  /**
   * Takes one more index for the rows that the rest of the work puts, and gives it. For clients it looks as if they had been written
   * later; readers see all of the write or nothing.
   */
  nextIndex(): number;
  /** Inserts or replaces by primary key. */
  put<R>(table: Table<R>, record: R): void;
  /** Removes by primary key; false when there was none. */
  remove<R>(table: Table<R>, key: Key): boolean;
}

/** What a committed write gives back. */
export interface Written<T> {
  /** What the work gave. */
  readonly value: T;
  /** The last index that this write took; the index before it when the work changed nothing. */
  readonly index: number;
  /** Whether the work put or removed any row. */
  readonly changed: boolean;
}

/** The store failed, not the caller: disk full, file damaged, closed. Nothing of the write is visible. */
export interface StorageError {
  readonly type: 'storage_failed';
  /**
   * `busy`: another process held the store for too long. `too_new`: a later version of the package has written it.
   * `invalid_record`: a record cannot be kept as JSON.
   */
  readonly reason: 'closed' | 'busy' | 'full' | 'corrupt' | 'too_new' | 'invalid_record' | 'io';
  /** Fit for an operator's log; holds no record contents. */
  readonly message: string;
}

/**
 * An ordered table store with one monotonic write index. The work functions are synchronous and decide only by what they
 * read from the view: an adapter may run them again (after a conflict) and may commit several waiting writes together,
 * each with own indexes (one, unless the work takes more), one failing alone.
 */
export interface Storage {
  /** Runs `work` on one snapshot. */
  read<T>(work: (view: ReadView) => T): ResultAsync<T, StorageError>;
  /**
   * Runs `work` in one serialisable transaction. An `err` from the work, or an exception, rolls everything back.
   * Resolves only when the write is durable by the adapter's stated promise.
   */
  write<T, E>(work: (view: WriteView) => Result<T, E>): ResultAsync<Written<T>, E | StorageError>;
  /**
   * Resolves when a committed write with an index greater than `after` has changed one of the tables (at once when it
   * already has), or when the signal aborts or the store closes; gives the highest index of those tables at that time.
   * Sees the writes of other processes on the same store.
   */
  waitForChange(tables: readonly TableName[], after: number, signal: AbortSignal): Promise<number>;
  /**
   * Overwrites everything that writes before this call have removed or replaced, wherever the medium still holds it, and resolves when
   * nothing of it is left there. May take as long as to copy the store; reads and writes continue or wait meanwhile. Absent when the store
   * keeps nothing on a medium.
   */
  overwriteRemoved?(): ResultAsync<void, StorageError>;
  /** Finishes the writes already accepted and releases the store. Later calls answer `closed`. Safe to call twice. */
  close(): Promise<void>;
}
