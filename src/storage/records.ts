import type { Row } from '../ports/storage.js';
import type { Key, KeyPart, Table } from '../shared/table.js';
import { DamagedRowError, UnstorableError } from './failures.js';
import { encodeEntry, encodeKey, unitOrdered } from './keys.js';

/** A table whose record type does not matter. */
export type AnyTable = Table<unknown>;

/** A row with its sort keys, so that they can be compared without parsing it. */
export interface KeyedRow extends Row<unknown> {
  /** The encoded primary key. */
  readonly rowKey: string;
  /**
   * Position of the row in the order of an index, or of the primary key when `index` is undefined; compares by `<`.
   * Undefined when the index leaves the row out.
   */
  sortKey(table: AnyTable, index: string | undefined): string | undefined;
}

/** A row as a store keeps it: the record as JSON text, and its encoded primary key. */
export interface RowText {
  readonly text: string;
  readonly createIndex: number;
  readonly modifyIndex: number;
  readonly rowKey: string;
}

/** The encoded keys in the indexes that the table declares, in that order; undefined where the row is left out. */
export type Entries = readonly (string | undefined)[];

/** An index with its name, as `indexesOf` lists them. */
export interface NamedIndex {
  readonly name: string;
  readonly version: number;
  readonly key: (record: unknown) => Key | undefined;
  readonly lazy: number | undefined;
}

const knownIndexes = new WeakMap<AnyTable, readonly NamedIndex[]>();

/** The declared indexes in the order in which `Entries` holds them. */
export function indexesOf(table: AnyTable): readonly NamedIndex[] {
  let indexes = knownIndexes.get(table);
  if (indexes === undefined) {
    indexes = Object.entries(table.indexes).map(([name, { key, version, lazy }]) => ({ name, version, key, lazy }));
    knownIndexes.set(table, indexes);
  }
  return indexes;
}

/** Position of an index in `Entries`. */
export function indexPosition(table: AnyTable, name: string): number {
  const position = indexesOf(table).findIndex((index) => index.name === name);
  if (position < 0) throw new UnstorableError(`Table ${table.name} declares no index ${name}.`);
  return position;
}

/** The encoded primary key. */
export function rowKeyOf(table: AnyTable, key: Key): string {
  return encodeKey(key) ?? unkeyable(table, 'primary key', key);
}

/** The encoded keys of a record in all declared indexes. */
export function entriesOf(table: AnyTable, record: unknown): Entries {
  return indexesOf(table).map((index) => entryOf(table, index, record));
}

/** The encoded key of a record in one index; undefined when it is left out. */
export function entryOf(table: AnyTable, index: NamedIndex, record: unknown): string | undefined {
  const key = index.key(record);
  return key === undefined ? undefined : (encodeKey(key) ?? unkeyable(table, 'index key', key));
}

/** `KeyedRow.sortKey` from encoded keys; `entry` is undefined for the primary key. */
export function sortKeyFrom(rowKey: string, entry: string | undefined): string {
  return unitOrdered(entry === undefined ? rowKey : encodeEntry(entry, rowKey));
}

/** The JSON text by JSON's own rules: undefined members are dropped, NaN becomes null, values without a JSON form are rejected. */
export function printRecord(table: AnyTable, record: unknown): string {
  let text: string | undefined;
  try {
    text = printed(table, record);
  } catch {
    text = undefined;
  }
  if (text === undefined) {
    throw new UnstorableError(`A record for table ${table.name} is not JSON: circular, BigInt or undefined.`);
  }
  return text;
}

function printed(table: AnyTable, record: unknown): string | undefined {
  const member = table.hints.shares?.(record as never);
  const value = member === undefined ? undefined : (record as Readonly<Record<string, unknown>>)[member];
  if (member === undefined || typeof value !== 'object' || value === null) return JSON.stringify(record);
  return printedAround(record as object, member, value) ?? JSON.stringify(record);
}

/** Caches the JSON text of values that records share. Values of records are immutable. */
const sharedTexts = new WeakMap<object, string>();

/**
 * The JSON text of a record whose member has this value. In a memory store all records with the value share its text. Undefined when
 * its position in the text is uncertain: quotes within strings are escaped, so only a member of this name can look like it.
 */
function printedAround(record: object, member: string, value: object): string | undefined {
  const place = `${JSON.stringify(member)}:null`;
  const frame = JSON.stringify({ ...record, [member]: null });
  const at = frame.indexOf(place);
  if (at < 0 || frame.includes(place, at + 1)) return undefined;
  let text = sharedTexts.get(value);
  if (text === undefined) {
    text = JSON.stringify(value);
    sharedTexts.set(value, text);
  }
  return frame.slice(0, at + place.length - 'null'.length) + text + frame.slice(at + place.length);
}

/** Parses a stored record. */
export function parseRecord(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new DamagedRowError('A stored record is not JSON. The store is damaged: restore it from a backup.');
  }
}

function unkeyable(table: AnyTable, what: string, key: readonly KeyPart[]): never {
  const part = key.findIndex((each) => encodeKey([each]) === undefined);
  throw new UnstorableError(
    `Part ${part + 1} of a ${what} of table ${table.name} must be a string, finite number, boolean or null.`,
  );
}
