import type { ReadView, Row, TableName } from '../../ports/storage.js';
import type { Key, Table } from '../../shared/table.js';
import type { Transaction } from '../write-transaction.js';

/**
 * What follows from changed rows, in the write that changes them. It depends on the changes and the rows alone, so that no operation can
 * forget it, or apply it twice.
 */
export interface Reaction {
  /** It runs in writes that change rows of these. */
  readonly tables: readonly TableName[];
  readonly react: (tx: Transaction, changes: Changes) => void;
}

/** A row before and after a write; undefined where it does not exist. */
export interface RowChange<R> {
  readonly before: R | undefined;
  readonly after: R | undefined;
  /** The row afterwards; the one before when it was removed. */
  readonly row: R;
}

/** The changed rows of the tables that reactions depend on. */
export interface Changes {
  /** The changed rows of a table, in the order of their first change. Rows that exist neither before nor after are left out. */
  of<R>(table: Table<R>): readonly RowChange<R>[];
  /** A row as it is now. One that the write has changed is not parsed again. */
  latest<R>(view: ReadView, table: Table<R>, key: Key): R | undefined;
  /** Index of the last change before this write of a table that it changes. */
  indexBefore(table: TableName): number | undefined;
}

/** A change as it is recorded. */
export interface StoredChange extends RowChange<unknown> {
  readonly table: string;
  readonly key: Key;
  /** The row before. */
  readonly stored: Row<unknown> | undefined;
  /** Index of the last change. */
  readonly index: number;
  /** It exists neither before nor after. */
  readonly isVoid: boolean;
}
