/** One part of a key. Parts of different types order as null < false < true < numbers < strings; strings by code point. */
export type KeyPart = string | number | boolean | null;

/** A key is a tuple; tuples order part by part, and a tuple orders before every longer tuple that begins with it. */
export type Key = readonly KeyPart[];

/** A secondary index: a key computed from the record. `undefined` leaves the record out of the index. */
export interface IndexDefinition<R> {
  /**
   * Must be raised by every change that gives any record another key. Stores keep an index until its version changes, so
   * a change of `key`, or of anything that it calls, without a new version leaves wrong entries.
   */
  readonly version: number;
  /** Must depend on the record only. */
  key(record: R): Key | undefined;
  /**
   * For an index that is rarely read and often extended: this many of the newest rows may be missing from the stored index.
   * Lists include them all the same, but take longer.
   */
  readonly lazy?: number;
}

/** Usage hints that a store may exploit. They do not affect what is stored and found. */
export interface TableHints {
  /** Nearly every write adds rows: the table's last change can be determined from its newest row. */
  readonly grows?: boolean;
  /** Every key is one whole number from 0 up. */
  readonly numbered?: boolean;
  /**
   * The member whose value many records share as the same object, if any: its JSON text is built once and cached
   * with the value.
   */
  readonly shares?: (record: never) => string | undefined;
}

/**
 * A table as the core declares it and every storage adapter stores it: records are JSON values, found by primary key and
 * in the order of the primary key or of an index. Rows of an index with equal keys are ordered by primary key.
 */
export interface Table<R> {
  /** Letters, digits and underscores; unique in a store. */
  readonly name: string;
  /** The primary key of a record. Must depend on the record only. */
  key(record: R): Key;
  /** Secondary indexes, by name. */
  readonly indexes: Readonly<Record<string, IndexDefinition<R>>>;
  /** How the table is used. */
  readonly hints: TableHints;
}

/** Any table, where only its name matters. */
export interface TableName {
  /** Unique in a store. */
  readonly name: string;
}

/** Declares a table; exists so that the record type is written once and the definition is inferred. */
export function table<R>(
  name: string,
  key: (record: R) => Key,
  indexes: Readonly<Record<string, IndexDefinition<R>>> = {},
  hints: TableHints = {},
): Table<R> {
  return { name, key, indexes, hints };
}
