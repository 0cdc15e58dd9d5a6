import {
  type AnyTable,
  encodeEntry,
  entryOf,
  indexesOf,
  type KeyBounds,
  type NamedIndex,
  PAST_ALL_KEYS,
  parseRecord,
  unitOrdered,
} from '../../src/storage/records.js';
import { allowLateRows, type LateRows, lateEntering } from './late-entries.js';
import { type SqliteHandle, type SqliteQuery, type SqliteStatement, select } from './sqlite-handle.js';
import { parseEntries, printEntries, sumOfKeys } from './sqlite-rows.js';

/*
 * For each table of the core: signalbox_rows_<id> holds the rows in a rowid table (long documents in a WITHOUT ROWID table
 * would make its key tree deep and every list slow), and signalbox_entries_<id> holds one narrow, sorted list of entries for
 * each version of each index. A row also keeps its own entries, so that replacing it needs no parse of the old document.
 *
 * Programs that declare different versions of an index may share a file. Each maintains the entries of the versions that it
 * declares, removes the rows that it changes from the others, and records them in signalbox_behind. A program that declares
 * such a version brings it up to date before using it. A version that lacks many rows is dropped.
 */

/** The record of a table in the file. */
export interface KeptTable {
  readonly id: number;
  /** Ids of the kept indexes by name and version. */
  readonly indexes: ReadonlyMap<string, number>;
  /** Indexes, of any table, that lack the entries of some rows. */
  readonly behind: ReadonlySet<number>;
}

/** An index of another program that lacks more rows than this is cheaper to rebuild, and probably unused. */
const farBehind = 5000;

/** Inserts and deletes entries of indexes, with statements that are prepared at their first use. */
export class EntryStatements {
  /** Ids of the indexes that the file keeps. A row may still name one that was dropped. */
  kept: ReadonlySet<number> = new Set();
  /** How often the entries of an index were changed. */
  changes = 0;
  /** Of the indexes that may have late rows. */
  late: ReadonlyMap<number, LateRows> = new Map();
  readonly #handle: SqliteHandle;
  readonly #inserts = new Map<number, SqliteStatement>();
  readonly #removals = new Map<number, SqliteStatement>();
  readonly #entering = new Map<number, (late: LateRows) => void>();
  /** By index: no entry, of late rows neither, sorts below this string (see `unitOrdered`) … */
  readonly #starts = new Map<number, string>();
  /** … or at or above this one. */
  readonly #ends = new Map<number, string>();

  constructor(handle: SqliteHandle) {
    this.#handle = handle;
  }

  /** Whether the index is known to have no entry within the bounds. Most lists of a queue are of indexes with nothing in them. */
  hasNone(index: number, { lower, upper }: KeyBounds): boolean {
    const start = this.#starts.get(index);
    if (start !== undefined && unitOrdered(upper) <= start) return true;
    const end = this.#ends.get(index);
    return end !== undefined && unitOrdered(lower) >= end;
  }

  /** A scan has found no entry between the bounds, other than in `first` and after it. */
  found(index: number, { lower, upper }: KeyBounds, first?: string): void {
    if (lower === '') {
      const start = first ?? unitOrdered(upper);
      if (start > (this.#starts.get(index) ?? '')) this.#starts.set(index, start);
    } else if (upper === PAST_ALL_KEYS && first === undefined) this.#ends.set(index, unitOrdered(lower));
  }

  /** Call when another process may have changed the indexes, or a transaction has failed. */
  forget(): void {
    this.#starts.clear();
    this.#ends.clear();
  }

  /** Late rows are not entered yet. */
  insert(index: number, entry: string, rid: number): void {
    this.#noteAdded(index, unitOrdered(entry));
    const late = this.#lateFor(index, rid);
    if (late !== undefined) {
      late.waiting += 1;
      return;
    }
    this.changes += 1;
    let statement = this.#inserts.get(index);
    if (statement === undefined) {
      statement = this.#handle.prepare(`INSERT INTO signalbox_entries_${index} (entry, rid) VALUES (?, ?)`);
      this.#inserts.set(index, statement);
    }
    statement.run(entry, rid);
  }

  #lateFor(index: number, rid: number): LateRows | undefined {
    const late = this.late.get(index);
    return late !== undefined && rid > late.enteredTo ? late : undefined;
  }

  #noteAdded(index: number, key: string): void {
    const start = this.#starts.get(index);
    if (start !== undefined && key < start) this.#starts.set(index, key);
    const end = this.#ends.get(index);
    if (end !== undefined && key >= end) this.#ends.delete(index);
  }

  /** A late row has no entry yet. */
  remove(index: number, entry: string, rid: number): void {
    if (!this.kept.has(index) || this.#lateFor(index, rid) !== undefined) return;
    this.changes += 1;
    let statement = this.#removals.get(index);
    if (statement === undefined) {
      statement = this.#handle.prepare(`DELETE FROM signalbox_entries_${index} WHERE entry = ?`);
      this.#removals.set(index, statement);
    }
    statement.run(entry);
  }

  /** Enters the late rows of an index when their maximum is reached. */
  enterLate(index: number, lateAtMost: number): void {
    const late = this.late.get(index);
    if (late === undefined || late.waiting < Math.max(1, lateAtMost)) return;
    let enter = this.#entering.get(index);
    if (enter === undefined) {
      enter = lateEntering(this.#handle, index, late.tableId);
      this.#entering.set(index, enter);
    }
    enter(late);
  }
}

export function versionedName(name: string, version: number): string {
  return JSON.stringify([name, version]);
}

/**
 * Creates what the definition needs and the file lacks. New indexes are behind by all rows. The column `place` holds the row key; its
 * name is part of the file format. The rows of a numbered table have their key for `rid`, and no index over `place`; a file
 * that had the table before keeps it as it was. A table that grows has changed at the greater of `noted_at` and the change of
 * its newest row, so that a write which adds rows need not change the list of tables.
 */
export function declareTable(handle: SqliteHandle, table: AnyTable): void {
  const { grows = false, numbered = false } = table.hints;
  handle
    .prepare(
      `INSERT INTO signalbox_tables (name, noted_at, generation, growing, numbered) VALUES (?, 1, 1, ?, ?)
       ON CONFLICT DO NOTHING`,
    )
    .run(table.name, Number(grows), Number(numbered));
  if (grows) handle.prepare('UPDATE signalbox_tables SET growing = 1 WHERE name = ? AND growing = 0').run(table.name);
  const { id, isNumbered } = select<{ id: number; isNumbered: number }>(
    handle,
    'SELECT id, numbered AS isNumbered FROM signalbox_tables WHERE name = ?',
  ).get(table.name);
  createRowsTable(handle, id, isNumbered === 1);
  for (const index of indexesOf(table)) declareIndex(handle, id, index);
}

export function createRowsTable(handle: SqliteHandle, id: number, isNumbered: boolean): void {
  handle.exec(
    `CREATE TABLE IF NOT EXISTS signalbox_rows_${id} (
       rid INTEGER PRIMARY KEY,
       place TEXT NOT NULL ${isNumbered ? '' : 'UNIQUE'},
       created INTEGER NOT NULL,
       modified INTEGER NOT NULL,
       entries TEXT NOT NULL,
       doc TEXT NOT NULL,
       doc_sum INTEGER NOT NULL,
       key_sum INTEGER NOT NULL
     )`,
  );
}

function declareIndex(handle: SqliteHandle, tableId: number, { name, version, lazy }: NamedIndex): void {
  const known = select<{ id: number; enteredTo: number | null } | null | undefined>(
    handle,
    'SELECT id, entered_to AS enteredTo FROM signalbox_indexes WHERE table_id = ? AND name = ? AND version = ?',
  ).get(tableId, name, version);
  if (known && (lazy === undefined || known.enteredTo !== null)) return;
  const id = known ? known.id : addIndex(handle, tableId, name, version);
  if (lazy !== undefined) allowLateRows(handle, tableId, id);
  newGeneration(handle, tableId);
}

/** The index of the last change of a table's newest row; 1 without rows. */
export function newestChange(handle: SqliteHandle, tableId: number): number {
  return newestRow(handle, tableId).get()?.modified ?? 1;
}

export type NewestChange = { readonly rid: number; readonly modified: number };

export function newestRow(handle: SqliteHandle, tableId: number): SqliteQuery<NewestChange | undefined> {
  return select(handle, `SELECT rid, modified FROM signalbox_rows_${tableId} ORDER BY rid DESC LIMIT 1`);
}

/** All rows are behind. */
export function addIndex(handle: SqliteHandle, tableId: number, name: string, version: number): number {
  // IDs are never reused: rows may still contain entries under the ID of a dropped index.
  const { lastInsertRowid: id } = handle
    .prepare('INSERT INTO signalbox_indexes (table_id, name, version) VALUES (?, ?, ?)')
    .run(tableId, name, version);
  handle.exec(
    `CREATE TABLE signalbox_entries_${id} (entry TEXT PRIMARY KEY, rid INTEGER NOT NULL) WITHOUT ROWID;
     INSERT INTO signalbox_behind (index_id, rid) SELECT ${id}, rid FROM signalbox_rows_${tableId}`,
  );
  return Number(id);
}

function dropIndex(handle: SqliteHandle, id: number): void {
  const find = select<{ tableId: number }>(handle, 'SELECT table_id AS tableId FROM signalbox_indexes WHERE id = ?');
  const { tableId } = find.get(id);
  handle.exec(`DROP TABLE signalbox_entries_${id}`);
  handle.prepare('DELETE FROM signalbox_behind WHERE index_id = ?').run(id);
  handle.prepare('DELETE FROM signalbox_indexes WHERE id = ?').run(id);
  newGeneration(handle, tableId);
}

function newGeneration(handle: SqliteHandle, tableId: number): void {
  handle.prepare('UPDATE signalbox_tables SET generation = generation + 1 WHERE id = ?').run(tableId);
}

/** Records rows that an index lacks from now on, and drops the index if there are too many. */
export function fallBehind(handle: SqliteHandle, index: number, rows: readonly number[]): void {
  const note = handle.prepare('INSERT OR IGNORE INTO signalbox_behind (index_id, rid) VALUES (?, ?)');
  for (const rid of rows) note.run(index, rid);
  const count = 'SELECT count(*) AS n FROM signalbox_behind WHERE index_id = ?';
  if (select<{ n: number }>(handle, count).get(index).n > farBehind) dropIndex(handle, index);
}

/** Enters the rows that the declared indexes lack. */
export function bringUpToDate(handle: SqliteHandle, table: AnyTable, kept: KeptTable, entries: EntryStatements): void {
  const done = handle.prepare('DELETE FROM signalbox_behind WHERE index_id = ?');
  for (const index of indexesOf(table)) {
    const id = kept.indexes.get(versionedName(index.name, index.version));
    if (id === undefined || !kept.behind.has(id)) continue;
    for (const row of rowsBehind(handle, kept.id, id)) {
      const known = parseEntries(row.entries);
      // A row that was written since by a program that declares the index already has its entry.
      const key = known.has(id) ? undefined : entryOf(table, index, parseRecord(row.doc));
      if (key === undefined) continue;
      const more = new Map([...known, [id, key]]);
      const printed = printEntries(
        more,
        [...more.keys()].toSorted((one, other) => one - other),
      );
      row.update(printed, sumOfKeys(row.rowKey, printed));
      entries.insert(id, encodeEntry(key, row.rowKey), row.rid);
    }
    done.run(id);
  }
}

interface RowBehind {
  readonly rid: number;
  readonly rowKey: string;
  readonly entries: string;
  readonly doc: string;
  update(entries: string, keySum: number): void;
}

function* rowsBehind(handle: SqliteHandle, tableId: number, index: number): Generator<RowBehind> {
  const rows = `signalbox_rows_${tableId}`;
  const page = select<Omit<RowBehind, 'update'>>(
    handle,
    `SELECT b.rid, r.place AS rowKey, r.entries, r.doc FROM signalbox_behind AS b JOIN ${rows} AS r ON r.rid = b.rid
     WHERE b.index_id = ? AND b.rid > ? ORDER BY b.rid LIMIT 256`,
  );
  const update = handle.prepare(`UPDATE ${rows} SET entries = ?, key_sum = ? WHERE rid = ?`);
  for (let last = -1; ; ) {
    const found = page.all(index, last);
    if (found.length === 0) return;
    for (const row of found) {
      last = row.rid;
      yield { ...row, update: (entries, keySum) => void update.run(entries, keySum, row.rid) };
    }
  }
}
