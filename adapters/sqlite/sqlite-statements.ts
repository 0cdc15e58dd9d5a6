import type { ListQuery } from '../../src/ports/storage.js';
import type { KeyBounds } from '../../src/storage/records.js';
import { asLists, type SqliteHandle, type SqliteStatement } from './sqlite-handle.js';
import {
  betweenNumbers,
  byNumber,
  type Found,
  insertedByNumber,
  KEYED_COLUMNS,
  LISTED_COLUMNS,
} from './sqlite-rows.js';

/** Statements over a range of an order: for readers, and with the additional columns that a writer needs. */
export interface Scans {
  readonly forward: SqliteStatement;
  readonly backward: SqliteStatement;
  readonly keyedForward: SqliteStatement;
  readonly keyedBackward: SqliteStatement;
}

/** Statements that name rows by their encoded keys. */
export interface KeyStatements {
  readonly find: Pick<SqliteStatement, 'get'>;
  readonly insert: Pick<SqliteStatement, 'run'>;
  readonly scans: Scans;
}

/** The rows of a table with an index over their keys. */
export function statementsByPlace(handle: SqliteHandle, rows: string): KeyStatements {
  return {
    find: asLists(handle.prepare(`SELECT ${KEYED_COLUMNS} FROM ${rows} AS r WHERE r.place = ?`)),
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
  const scans = scansOver(handle, `${rows} AS r`, 'r.rid');
  return {
    find: byNumber(asLists(handle.prepare(`SELECT ${KEYED_COLUMNS} FROM ${rows} AS r WHERE r.rid = ?`))),
    insert: insertedByNumber(insert),
    scans: {
      forward: betweenNumbers(scans.forward),
      backward: betweenNumbers(scans.backward),
      keyedForward: betweenNumbers(scans.keyedForward),
      keyedBackward: betweenNumbers(scans.keyedBackward),
    },
  };
}

/** Scans over the rows `r` of a source in the order of a column of it. */
export function scansOver(handle: SqliteHandle, from: string, column: string): Scans {
  return scansBy((columns, order) =>
    asLists(
      handle.prepare(
        `SELECT ${columns} FROM ${from} WHERE ${column} >= ? AND ${column} < ? ORDER BY ${column}${order}`,
      ),
    ),
  );
}

/** Scans whose statements are prepared by this function, from the columns and the end of the source: the direction and the limit. */
export function scansBy(prepare: (columns: string, order: string) => SqliteStatement): Scans {
  // SQLite reads a plain parameter of LIMIT during compilation and compiles the statement again for every bound value. As
  // an operand of an addition it does not, and the scan takes a quarter of the time.
  const scan = (columns: string, direction: string): SqliteStatement =>
    lazily(() => prepare(columns, `${direction} LIMIT (? + 0)`));
  return {
    forward: scan(LISTED_COLUMNS, ''),
    backward: scan(LISTED_COLUMNS, ' DESC'),
    keyedForward: scan(KEYED_COLUMNS, ''),
    keyedBackward: scan(KEYED_COLUMNS, ' DESC'),
  };
}

/** Most orders use one or two of the four statements, so each is prepared at its first use. */
function lazily(prepare: () => SqliteStatement): SqliteStatement {
  let prepared: SqliteStatement | undefined;
  const statement = (): SqliteStatement => {
    prepared ??= prepare();
    return prepared;
  };
  return {
    run: (...values) => statement().run(...values),
    get: (...values) => statement().get(...values),
    all: (...values) => statement().all(...values),
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
export function scanned(scan: SqliteStatement, query: ListQuery, bounds: KeyBounds): Found[] {
  return scan.all(bounds.lower, bounds.upper, rowLimit(query.limit)) as Found[];
}

/** In SQLite a negative limit means no limit. */
function rowLimit(limit: number | undefined): number {
  if (limit === undefined || limit >= Number.MAX_SAFE_INTEGER) return -1;
  return limit > 0 ? Math.ceil(limit) : 0;
}
