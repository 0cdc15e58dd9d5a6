import type { Row, StorageError } from '../ports/storage.js';
import type { Key, KeyPart, Table } from '../shared/table.js';

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

/*
 * Storage adapters store keys as strings. The encoding is chosen so that plain string order, by code point, is the order that the
 * table contract requires of tuples, and so that the start of a tuple is the start of its encoding. Then one sorted column
 * (UTF-8 bytes compare like code points) answers point reads, prefixes and ranges alike.
 *
 *   part    = 'a' (null) | 'b' (false) | 'c' (true) | 'n' digits | 's' characters ' '
 *   digits  = the 64 bits of a double, made unsigned-comparable, as 11 digits of an ascending 64-letter alphabet
 *
 * Within a string, the end mark (a blank) and all lower characters are written as '!' and a letter, so that a string sorts
 * before its extensions; lone surrogates, which UTF-8 cannot carry, are written after U+D7FF, where they belong in order.
 * The encoding is never decoded: a record computes its keys, but keys never yield a record.
 */

/** The smallest string that is greater than every encoded key. */
export const PAST_ALL_KEYS = 't';
const DIGITS = Array.from('-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz', (c) => c.charCodeAt(0));
const NEEDS_ESCAPE = /[\u0000-\u0021\ud7ff-\udfff]/;

const bits = new DataView(new ArrayBuffer(8));

/** An encoded key range: `lower` is included, `upper` is not. */
export interface KeyBounds {
  readonly lower: string;
  readonly upper: string;
}

/** The part of a list query that selects keys; see `ListQuery` of the storage port. */
interface KeyRange {
  readonly prefix?: Key;
  readonly textPrefix?: string;
  readonly from?: Key;
  readonly to?: Key;
}

/**
 * The order-preserving encoding of a key: well-formed Unicode without control characters. `undefined` for invalid keys:
 * NaN, the infinities, and values of other types. Minus zero is zero, as in JSON.
 */
export function encodeKey(key: Key): string | undefined {
  let text = '';
  for (let i = 0; i < key.length; i++) {
    const part = encodePart(key[i] as KeyPart);
    if (part === undefined) return undefined;
    text += part;
  }
  return text;
}

/** The position of a row in an index: by index key, then by primary key. A shorter index key sorts before its extensions. */
export function encodeEntry(indexKey: string, primaryKey: string): string {
  return `${indexKey} ${primaryKey}`;
}

/** The bounds of a list query, for encoded primary keys and index entries alike; `undefined` for an invalid key. */
export function keyBounds(range: KeyRange): KeyBounds | undefined {
  const bounds = prefixBounds(range);
  if (bounds === undefined) return undefined;
  const from = range.from === undefined ? '' : encodeKey(range.from);
  const to = range.to === undefined ? PAST_ALL_KEYS : encodeKey(range.to);
  if (from === undefined || to === undefined) return undefined;
  return {
    lower: isBefore(bounds.lower, from) ? from : bounds.lower,
    upper: isBefore(to, bounds.upper) ? to : bounds.upper,
  };
}

function prefixBounds({ prefix: key, textPrefix }: KeyRange): KeyBounds | undefined {
  const prefix = encodeKey(key ?? []);
  if (prefix === undefined) return undefined;
  const lower = textPrefix === undefined ? prefix : `${prefix}s${encodeText(textPrefix)}`;
  return { lower, upper: lower === '' ? PAST_ALL_KEYS : afterPrefix(lower) };
}

/**
 * Makes an encoded key comparable with `<`, which compares UTF-16 units: there an emoji sorts before U+FFFF. Most keys
 * are returned unchanged.
 */
export function unitOrdered(encoded: string): string {
  return /[\ud800-\uffff]/.test(encoded) ? encoded.replace(/[\ud800-\uffff]/g, rotateUnit) : encoded;
}

function rotateUnit(unit: string): string {
  const code = unit.charCodeAt(0);
  return String.fromCharCode(code >= 0xe000 ? code - 0x800 : code + 0x2000);
}

function isBefore(a: string, b: string): boolean {
  return unitOrdered(a) < unitOrdered(b);
}

function encodePart(part: KeyPart): string | undefined {
  if (typeof part === 'string') return `s${encodeText(part)} `;
  if (typeof part === 'number') return Number.isFinite(part) ? encodeNumber(part) : undefined;
  if (part === null) return 'a';
  if (part === false) return 'b';
  if (part === true) return 'c';
  return undefined;
}

function encodeText(text: string): string {
  if (!NEEDS_ESCAPE.test(text)) return text;
  let escaped = '';
  for (const character of text) {
    const code = character.codePointAt(0) as number;
    if (code <= 0x21) escaped += `!${String.fromCharCode(0x30 + code)}`;
    else if (code === 0xd7ff) escaped += '\ud7ff0';
    else if (code >= 0xd800 && code <= 0xdfff) escaped += `\ud7ff1${(code - 0xd800).toString(16).padStart(3, '0')}`;
    else escaped += character;
  }
  return escaped;
}

function encodeNumber(value: number): string {
  bits.setFloat64(0, value === 0 ? 0 : value);
  let high = bits.getUint32(0);
  let low = bits.getUint32(4);
  // Doubles sort like their bits when positive, and in reverse when negative.
  if (high >>> 31 === 1) {
    high = ~high >>> 0;
    low = ~low >>> 0;
  } else {
    high = (high | 0x80000000) >>> 0;
  }
  return String.fromCharCode(
    0x6e,
    digit(high >>> 28),
    digit(high >>> 22),
    digit(high >>> 16),
    digit(high >>> 10),
    digit(high >>> 4),
    digit((high << 2) | (low >>> 30)),
    digit(low >>> 24),
    digit(low >>> 18),
    digit(low >>> 12),
    digit(low >>> 6),
    digit(low),
  );
}

function digit(value: number): number {
  return DIGITS[value & 63] as number;
}

/** The smallest string greater than every string that begins with `prefix` (which is not empty and not all U+10FFFF). */
function afterPrefix(prefix: string): string {
  const last = prefix.charCodeAt(prefix.length - 1);
  if (last < 0xd7ff) return prefix.slice(0, -1) + String.fromCharCode(last + 1);
  const characters = Array.from(prefix);
  while (characters.length > 0) {
    const code = (characters.pop() as string).codePointAt(0) as number;
    if (code < 0x10ffff) return characters.join('') + String.fromCodePoint(code === 0xd7ff ? 0xe000 : code + 1);
  }
  return PAST_ALL_KEYS;
}

/**
 * A record, a key or a query that no store accepts. Views throw it through the work function, because a put
 * has no result; the write then fails with `invalid_record`. The message names the table and contains no data of the record.
 */
export class UnstorableError extends Error {}

/**
 * A stored string that is invalid JSON, which only damage can cause. Thrown by a row at its first access, through the work function;
 * the read or write then fails with `corrupt`.
 */
export class DamagedRowError extends Error {}

export function storageFailure(reason: StorageError['reason'], message: string): StorageError {
  return { type: 'storage_failed', reason, message };
}

/** The beginning of the message of a store whose server has been away for as long as callers wait. Loops that meet it log it. */
export const awayMessage = 'The database server has not answered for';

export function closedFailure(): StorageError {
  return storageFailure('closed', 'The store is closed.');
}

/** The port's error for an exception of this folder's views; undefined for any other exception. */
export function failureOfRecord(thrown: unknown): StorageError | undefined {
  if (thrown instanceof UnstorableError) return storageFailure('invalid_record', thrown.message);
  if (thrown instanceof DamagedRowError) return storageFailure('corrupt', thrown.message);
  return undefined;
}
