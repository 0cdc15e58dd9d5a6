import { crc32 } from 'node:zlib';
import type { Row } from '../../src/ports/storage.js';
import { DamagedRowError } from '../../src/storage/failures.js';
import { type AnyTable, type KeyedRow, parseRecord, type RowText, sortKeyFrom } from '../../src/storage/records.js';

/** The columns of a row `r` that a reader needs, and those that a writer needs. */
export const LISTED_COLUMNS = 'r.created, r.modified, r.doc, r.doc_sum, r.place';
export const KEYED_COLUMNS = 'r.created, r.modified, r.doc, r.doc_sum, r.place, r.rid, r.entries';

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
  for (const [id, entry] of Object.entries(JSON.parse(text) as Record<string, string>)) entries.set(Number(id), entry);
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
  const [created, modified, doc, sum, rowKey] = columnsOf(found) as [number, number, string, number, string];
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
  const [created, modified, doc, sum, rowKey, rid, entries] = columnsOf(found) as [
    number,
    number,
    string,
    number,
    string,
    number,
    string,
  ];
  const before = known?.get(rowKey);
  if (before?.modifyIndex === modified && before.createIndex === created) return before;
  checkSum(created, modified, doc, sum);
  const stored = { text: doc, createIndex: created, modifyIndex: modified, rowKey };
  const row = new SqliteKeyedRow(stored, { rid, entries }, indexes);
  known?.offer(rowKey, row);
  return row;
}

export function columnsOf(found: Found): readonly unknown[] {
  return Array.isArray(found) ? found : Object.values(found);
}

function checkSum(created: number, modified: number, doc: string, sum: number): void {
  if (sumOfDocument(doc, created, modified) === sum) return;
  throw new DamagedRowError('The checksum of a stored record is wrong. The file is damaged: restore it from a backup.');
}
