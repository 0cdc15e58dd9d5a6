import { crc32 } from 'node:zlib';
import type { Row } from '../../src/ports/storage.js';
import {
  type AnyTable,
  DamagedRowError,
  encodeKey,
  type KeyedRow,
  parseRecord,
  type RowText,
  sortKeyFrom,
} from '../../src/storage/records.js';

/*
 * Tables whose keys are whole numbers: the number is SQLite's own row number, so that rows need no index over their keys.
 * Everything outside of these statements continues working with encoded keys.
 */

const digits = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';
/** By character; 64 for what is no digit. */
const valueOfDigit = new Uint8Array(128).fill(64);
for (const [value, digit] of Array.from(digits).entries()) valueOfDigit[digit.charCodeAt(0)] = value;
const numberMark = 'n'.charCodeAt(0);
const encodedLength = 12;
const bits = new DataView(new ArrayBuffer(8));

/** The number of an encoded single-number key. Throws for other keys, which the table cannot have. */
export function numberOfKey(rowKey: string): number {
  const number = numberFrom(rowKey);
  if (number === undefined || !Number.isSafeInteger(number) || number < 0) {
    throw new Error('A key of this table must be one non-negative integer.');
  }
  return number;
}

/** Above every number of a key. */
const pastAllNumbers = 2 ** 53;

/** The least whole number whose encoded key is not less than the string, which may be any bound of a query. */
export function numberFromBound(text: string): number {
  const exact = numberFrom(text);
  if (exact !== undefined) return Math.max(0, Math.ceil(Math.min(exact, pastAllNumbers)));
  // Encoded numbers begin with n: any other string, such as that of an unbounded query, sorts before or after all of them.
  if (text < 'n') return 0;
  if (text >= 'o') return pastAllNumbers;
  let [least, most] = [0, pastAllNumbers];
  while (least < most) {
    const middle = least + Math.floor((most - least) / 2);
    if ((encodeKey([middle]) ?? '') < text) least = middle + 1;
    else most = middle;
  }
  return least;
}

/** The number that a string encodes, if it is one number and nothing else; see `encodeKey`. */
function numberFrom(text: string): number | undefined {
  if (text.length !== encodedLength || text.charCodeAt(0) !== numberMark) return undefined;
  let high = 0;
  let low = 0;
  for (let place = 1; place < encodedLength; place += 1) {
    const value = valueOfDigit[text.charCodeAt(place)] ?? 64;
    if (value === 64) return undefined;
    // The sixth digit has the last four bits of the upper half and the first two of the lower one.
    if (place < 6) high = (high << 6) | value;
    else if (place > 6) low = (low << 6) | value;
    else {
      high = (high << 4) | (value >>> 2);
      low = value & 3;
    }
  }
  const isPositive = high >>> 31 === 1;
  bits.setUint32(0, isPositive ? high & 0x7fffffff : ~high >>> 0);
  bits.setUint32(4, isPositive ? low >>> 0 : ~low >>> 0);
  return bits.getFloat64(0);
}
/** The columns of a row `r` that a reader needs, and those that a writer needs. */
export const LISTED_COLUMNS = 'r.created, r.modified, r.doc, r.doc_sum, r.place';
export const KEYED_COLUMNS = 'r.created, r.modified, r.doc, r.doc_sum, r.place, r.rid, r.entries';

type ListedColumns = readonly [created: number, modified: number, doc: string, sum: number, rowKey: string];
type KeyedColumns = readonly [...ListedColumns, rid: number, entries: string];

/** A row as selected: a list of columns where the driver can give one, which is cheaper, else an object. */
export type Found = readonly unknown[] | Readonly<Record<string, unknown>>;

/** Encoded index keys by index ID, as a row keeps them. */
export type EntryTexts = ReadonlyMap<number, string>;

/** The entries as JSON. Equal entries have equal strings: `ids` are in ascending order. */
export function printEntries(entries: EntryTexts, ids: readonly number[]): string {
  let printed = '{';
  for (const id of ids) {
    const entry = entries.get(id);
    if (entry === undefined) continue;
    printed += printed === '{' ? '"' : ',"';
    printed += `${id}":${escaped.test(entry) ? JSON.stringify(entry) : `"${entry}"`}`;
  }
  return `${printed}}`;
}

/** What JSON escapes, of the characters of encoded keys: they have no control characters and no lone surrogates. */
const escaped = /["\\]/;

export function parseEntries(text: string): EntryTexts {
  const entries = new Map<number, string>();
  if (text === '{}') return entries;
  for (const [id, entry] of Object.entries<string>(JSON.parse(text))) entries.set(Number(id), entry);
  return entries;
}

/** Covers the document and the writes that created and changed it. */
export function sumOfDocument(doc: string, created: number, modified: number): number {
  return crc32(doc, (created * 31 + modified) >>> 0);
}

/** Covers the keys of a row; checked when a file is opened. */
export function sumOfKeys(rowKey: string, entries: string): number {
  return crc32(rowKey + entries);
}

/** A row as read. A class because the lazy getter then lives once, on the prototype. */
export class SqliteRow implements Row<unknown> {
  private parsed: unknown = undefined;

  constructor(
    readonly text: string,
    readonly createIndex: number,
    readonly modifyIndex: number,
  ) {}

  get record(): unknown {
    if (this.parsed === undefined) this.parsed = parseRecord(this.text);
    return this.parsed;
  }
}

/** Finds the ID of an index of a declared table. */
export interface IndexIds {
  indexId(table: AnyTable, index: string): number;
}

/** Where a row lies: its number, and its entries as they are stored, also parsed if they are known so. */
interface RowPlace {
  readonly rid: number;
  readonly entries: string;
  readonly entryTexts?: EntryTexts;
}

/** A row as a write reads it. */
export class SqliteKeyedRow extends SqliteRow implements KeyedRow {
  readonly rowKey: string;
  readonly rid: number;
  /** The printed entries. */
  readonly entries: string;
  private parsedEntries: EntryTexts | undefined;

  constructor(
    stored: RowText,
    { rid, entries, entryTexts }: RowPlace,
    private readonly indexes: IndexIds,
  ) {
    super(stored.text, stored.createIndex, stored.modifyIndex);
    this.rowKey = stored.rowKey;
    this.rid = rid;
    this.entries = entries;
    this.parsedEntries = entryTexts;
  }

  get entryTexts(): EntryTexts {
    this.parsedEntries ??= parseEntries(this.entries);
    return this.parsedEntries;
  }

  sortKey(table: AnyTable, index: string | undefined): string | undefined {
    if (index === undefined) return sortKeyFrom(this.rowKey, undefined);
    const entry = this.entryTexts.get(this.indexes.indexId(table, index));
    return entry === undefined ? undefined : sortKeyFrom(this.rowKey, entry);
  }
}

/** The row of selected columns, or the known row if it is the same; throws if its checksum is wrong. */
export function listedRowFrom(found: Found, known: KnownRows<SqliteRow>): SqliteRow {
  const [created, modified, doc, sum, rowKey] = columnsOf<ListedColumns>(found);
  const before = known.get(rowKey);
  if (before?.modifyIndex === modified && before.createIndex === created) return before;
  checkSum(created, modified, doc, sum);
  const row = new SqliteRow(doc, created, modified);
  known.offer(rowKey, row);
  return row;
}

/** Rows of a table as they were read or written before, by their keys. */
interface KnownRows<R> {
  get(rowKey: string): R | undefined;
  offer(rowKey: string, row: R): void;
}

/** The same for the columns that a writer needs. */
export function keyedRowFrom(found: Found, indexes: IndexIds, known?: KnownRows<SqliteKeyedRow>): SqliteKeyedRow {
  const [created, modified, doc, sum, rowKey, rid, entries] = columnsOf<KeyedColumns>(found);
  const before = known?.get(rowKey);
  if (before?.modifyIndex === modified && before.createIndex === created) return before;
  checkSum(created, modified, doc, sum);
  const stored = { text: doc, createIndex: created, modifyIndex: modified, rowKey };
  const row = new SqliteKeyedRow(stored, { rid, entries }, indexes);
  known?.offer(rowKey, row);
  return row;
}

export function columnsOf<C extends readonly unknown[]>(found: Found): C {
  const columns: readonly unknown[] = Array.isArray(found) ? found : Object.values(found);
  return columns as C;
}

function checkSum(created: number, modified: number, doc: string, sum: number): void {
  if (sumOfDocument(doc, created, modified) === sum) return;
  throw new DamagedRowError('The checksum of a stored record is wrong. The file is damaged: restore it from a backup.');
}
