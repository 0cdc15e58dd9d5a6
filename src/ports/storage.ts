import type { Result, ResultAsync } from 'neverthrow';
import type { MetricFamily } from '../metrics/instruments.js';
import type { Instant } from '../shared/instant.js';
import type { Key, Table, TableName } from '../shared/table.js';

export type { TableName } from '../shared/table.js';

/** A stored record with the indexes of its writes. Rows are immutable: a later write makes another row. */
export interface Row<R> {
  /** The record, parsed at the first access. Treat it as read-only. */
  readonly record: R;
  /** The record's JSON text exactly as stored, so that it can be passed on without parsing and serialising it. */
  readonly text: string;
  /** Index of the write that inserted this primary key (the latest insertion, if it was removed in between). */
  readonly createIndex: number;
  /** Index of the last write that put it. */
  readonly modifyIndex: number;
}

/** What to list: the rows that are within both `prefix` (with or without `textPrefix`) and the range `from`/`to`. */
export interface ListQuery {
  /** Name of an index of the table; the primary key when absent. */
  readonly index?: string;
  /** Only keys that begin with these parts. */
  readonly prefix?: Key;
  /** Only keys whose next part after `prefix` begins with this string. */
  readonly textPrefix?: string;
  /** First key of the range, inclusive. A shorter tuple sorts before all its extensions. */
  readonly from?: Key;
  /** End of the range, exclusive. */
  readonly to?: Key;
  /** Descending order. The range still selects the same rows. */
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
   * Reserves and returns a further index for the rows that the rest of the work puts. To clients these appear to be written
   * later; readers still see all of the write or nothing.
   */
  nextIndex(): number;
  /** Inserts or replaces by primary key. */
  put<R>(table: Table<R>, record: R): void;
  /** Removes by primary key; false when there was none. */
  remove<R>(table: Table<R>, key: Key): boolean;
}

/** The outcome of a committed write. */
export interface Written<T> {
  /** The value returned by the work. */
  readonly value: T;
  /** The last index of this write; when the work changed nothing, the index before it. */
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

/** The state of a store as such, whatever is in it. */
export interface StoreFigures {
  readonly families: readonly MetricFamily[];
  /** Sentences that explain figures, with names and numbers of sessions but no contents: for operators only. */
  readonly notes: readonly string[];
}

/**
 * An ordered table store with one monotonic write index. The work functions are synchronous and decide only by what they
 * read from the view: an adapter may run them again (after a conflict) and may commit several waiting writes together.
 * Each write has its own indexes (one, unless the work reserves more) and fails alone.
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
   * Resolves when a committed write with an index greater than `after` has changed one of the tables (immediately when it
   * already has), or when the signal aborts, the store closes, or it has lost writes that were confirmed. The value is the highest index of those
   * tables at that time, which is not greater than `after` in the last two cases.
   * Sees the writes of other processes on the same store.
   */
  waitForChange(tables: readonly TableName[], after: number, signal: AbortSignal): Promise<number>;
  /**
   * Wall time by the store's clock, in milliseconds since 1970, for stores that several hosts share: engines take it instead of their
   * hosts' wall time, so that due times mean the same to all. Continues while the store cannot be reached. Absent when the host's clock counts.
   */
  now?(): Instant;
  /**
   * Overwrites all data that earlier writes removed or replaced, wherever the medium still holds it, and resolves when none is
   * left. May take as long as copying the store; reads and writes continue or wait meanwhile. Absent when the store has no
   * medium.
   */
  overwriteRemoved?(): ResultAsync<void, StorageError>;
  /** Sizes and counts of the store for operators. May take a second. Absent when there are none. */
  figures?(): ResultAsync<StoreFigures, StorageError>;
  /** Finishes the writes already accepted and releases the store. Later calls answer `closed`. Safe to call twice. */
  close(): Promise<void>;
}
