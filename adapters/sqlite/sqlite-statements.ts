import type { ListQuery } from '../../src/ports/storage.js';
import type { KeyBounds } from '../../src/storage/records.js';
import { asLists, type SqliteHandle, type SqliteStatement, type SqliteValue, select } from './sqlite-handle.js';
import { type Found, KEYED_COLUMNS, LISTED_COLUMNS, numberFromBound, numberOfKey } from './sqlite-rows.js';

interface Scan<Bound> {
  all(lower: Bound, upper: Bound, limit: number): Found[];
}

/** Statements over a range of an order: for readers, and with the additional columns that a writer needs. */
export interface Scans<Bound = string> {
  readonly forward: Scan<Bound>;
  readonly backward: Scan<Bound>;
  readonly keyedForward: Scan<Bound>;
  readonly keyedBackward: Scan<Bound>;
}

/** Statements that name rows by their encoded keys. */
export interface KeyStatements {
  readonly find: { get(rowKey: string): Found | null | undefined };
  readonly insert: { run(rowKey: string, ...values: SqliteValue[]): ReturnType<SqliteStatement['run']> };
  readonly scans: Scans;
}

function findBy(handle: SqliteHandle, rows: string, column: string) {
  const sql = `SELECT ${KEYED_COLUMNS} FROM ${rows} AS r WHERE ${column} = ?`;
  return asLists(select<Found | null | undefined>(handle, sql));
}

/** The rows of a table with an index over their keys. */
export function statementsByPlace(handle: SqliteHandle, rows: string): KeyStatements {
  return {
    find: findBy(handle, rows, 'r.place'),
    insert: handle.prepare(
      `INSERT INTO ${rows} (place, created, modified, entries, doc, doc_sum, key_sum) VALUES (?, ?, ?, ?, ?, ?, ?)`,
    ),
    scans: scansOver(handle, `${rows} AS r`, 'r.place'),
  };
}

/** The rows of a numbered table. */
export function statementsByNumber(handle: SqliteHandle, rows: string): KeyStatements {
  const insert = handle.prepare(
    `INSERT INTO ${rows} (rid, place, created, modified, entries, doc, doc_sum, key_sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const find = findBy(handle, rows, 'r.rid');
  const scans = scansOver(handle, `${rows} AS r`, 'r.rid');
  const betweenNumbers = (scan: Scan<number>): Scan<string> => ({
    all: (lower, upper, limit) => scan.all(numberFromBound(lower), numberFromBound(upper), limit),
  });
  return {
    find: { get: (rowKey) => find.get(numberOfKey(rowKey)) },
    insert: { run: (rowKey, ...values) => insert.run(numberOfKey(rowKey), rowKey, ...values) },
    scans: {
      forward: betweenNumbers(scans.forward),
      backward: betweenNumbers(scans.backward),
      keyedForward: betweenNumbers(scans.keyedForward),
      keyedBackward: betweenNumbers(scans.keyedBackward),
    },
  };
}

/** Scans over the rows `r` of a source in the order of a column of it. */
export function scansOver(handle: SqliteHandle, from: string, column: string): Scans<string | number> {
  return scansBy((columns, order) =>
    asLists(
      select(
        handle,
        `SELECT ${columns} FROM ${from} WHERE ${column} >= ? AND ${column} < ? ORDER BY ${column}${order}`,
      ),
    ),
  );
}

/** Scans whose statements are prepared by this function, from the columns and the end of the source: the direction and the limit. */
export function scansBy<B>(prepare: (columns: string, order: string) => Scan<B>): Scans<B> {
  // SQLite reads a plain parameter of LIMIT during compilation and compiles the statement again for every bound value. As
  // an operand of an addition it does not, and the scan takes a quarter of the time.
  const scan = (columns: string, direction: string): Scan<B> =>
    lazily(() => prepare(columns, `${direction} LIMIT (? + 0)`));
  return {
    forward: scan(LISTED_COLUMNS, ''),
    backward: scan(LISTED_COLUMNS, ' DESC'),
    keyedForward: scan(KEYED_COLUMNS, ''),
    keyedBackward: scan(KEYED_COLUMNS, ' DESC'),
  };
}

/** Most orders use one or two of the four statements, so each is prepared at its first use. */
function lazily<B>(prepare: () => Scan<B>): Scan<B> {
  let prepared: Scan<B> | undefined;
  return {
    all(lower, upper, limit) {
      prepared ??= prepare();
      return prepared.all(lower, upper, limit);
    },
  };
}

/** The transaction statements of a store. */
export function transactionStatements(handle: SqliteHandle) {
  return {
    begin: handle.prepare('BEGIN'),
    beginWrite: handle.prepare('BEGIN IMMEDIATE'),
    commit: handle.prepare('COMMIT'),
    rollback: handle.prepare('ROLLBACK'),
    savepoint: handle.prepare('SAVEPOINT signalbox_prepare'),
    release: handle.prepare('RELEASE signalbox_prepare'),
    rollbackTo: handle.prepare('ROLLBACK TO signalbox_prepare'),
    noteChange: handle.prepare('UPDATE signalbox_tables SET noted_at = ? WHERE name = ?'),
  };
}

/** Runs a scan over the rows within the bounds. */
export function scanned(scan: Scan<string>, query: ListQuery, bounds: KeyBounds): Found[] {
  return scan.all(bounds.lower, bounds.upper, rowLimit(query.limit));
}

/** In SQLite a negative limit means no limit. */
function rowLimit(limit: number | undefined): number {
  if (limit === undefined || limit >= Number.MAX_SAFE_INTEGER) return -1;
  return limit > 0 ? Math.ceil(limit) : 0;
}
