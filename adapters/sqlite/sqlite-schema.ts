import type { StorageError } from '../../src/ports/storage.js';
import { messageOf } from '../../src/shared/values.js';
import { encodeKey, storageFailure } from '../../src/storage/records.js';
import { isReadOnlyRefusal, isSqlError, type SqliteHandle, select, storageErrorFrom } from './sqlite-handle.js';
import { newestChange } from './sqlite-indexes.js';
import { parseEntries, sumOfDocument, sumOfKeys } from './sqlite-rows.js';

/** The format that this version writes. A file with a higher number belongs to a newer version and is refused. */
const format = 4;

/** One migration per format, from the previous one. The first creates the tables in an empty file. */
const steps: readonly ((handle: SqliteHandle) => void)[] = [
  (handle) => {
    handle.exec(
      `CREATE TABLE signalbox_store (
         id INTEGER PRIMARY KEY CHECK (id = 1),
         format INTEGER NOT NULL
       );
       CREATE TABLE signalbox_tables (
         id INTEGER PRIMARY KEY,
         name TEXT NOT NULL UNIQUE,
         changed_at INTEGER NOT NULL,
         definition TEXT NOT NULL,
         generation INTEGER NOT NULL
       );
       CREATE TABLE signalbox_indexes (
         id INTEGER PRIMARY KEY AUTOINCREMENT,
         table_id INTEGER NOT NULL,
         name TEXT NOT NULL,
         UNIQUE (table_id, name)
       );
       INSERT INTO signalbox_store (id, format) VALUES (1, 1);`,
    );
  },
  addVersionsAndSums,
  addHints,
  addLateRows,
];

/** Indexes have versions, rows have checksums. Existing indexes have no version, so they are built again at their first use. */
function addVersionsAndSums(handle: SqliteHandle): void {
  for (const { id } of select<{ id: number }>(handle, 'SELECT id FROM signalbox_indexes').all()) {
    handle.exec(`DROP TABLE signalbox_entries_${id}`);
  }
  handle.exec(
    `DROP TABLE signalbox_indexes;
     CREATE TABLE signalbox_indexes (
       id INTEGER PRIMARY KEY AUTOINCREMENT,
       table_id INTEGER NOT NULL,
       name TEXT NOT NULL,
       version INTEGER NOT NULL,
       UNIQUE (table_id, name, version)
     );
     CREATE TABLE signalbox_behind (
       index_id INTEGER NOT NULL,
       rid INTEGER NOT NULL,
       PRIMARY KEY (index_id, rid)
     ) WITHOUT ROWID;
     ALTER TABLE signalbox_tables DROP COLUMN definition;`,
  );
  for (const { id } of select<{ id: number }>(handle, 'SELECT id FROM signalbox_tables').all()) {
    const rows = `signalbox_rows_${id}`;
    handle.exec(
      `ALTER TABLE ${rows} ADD COLUMN doc_sum INTEGER NOT NULL DEFAULT 0;
       ALTER TABLE ${rows} ADD COLUMN key_sum INTEGER NOT NULL DEFAULT 0;`,
    );
    const page = select<Omit<CheckedRow, 'entries' | 'doc_sum' | 'key_sum'>>(
      handle,
      `SELECT rid, place AS rowKey, created, modified, doc FROM ${rows} WHERE rid > ? ORDER BY rid LIMIT 256`,
    );
    const update = handle.prepare(`UPDATE ${rows} SET entries = '{}', doc_sum = ?, key_sum = ? WHERE rid = ?`);
    for (const { rid, rowKey, created, modified, doc } of pages(page)) {
      update.run(sumOfDocument(doc, created, modified), sumOfKeys(rowKey, '{}'), rid);
    }
  }
}

/**
 * Tables may be given changed last when their newest row did, and may be numbered (see `declareTable`). The column is
 * renamed so that an older program that has the file open fails instead of taking an old index for the last one.
 */
function addHints(handle: SqliteHandle): void {
  handle.exec(
    `ALTER TABLE signalbox_tables RENAME COLUMN changed_at TO noted_at;
     ALTER TABLE signalbox_tables ADD COLUMN grows INTEGER NOT NULL DEFAULT 0;
     ALTER TABLE signalbox_tables ADD COLUMN numbered INTEGER NOT NULL DEFAULT 0;`,
  );
}

/** Indexes may have late rows. The column is renamed so that an older program that has the file open fails instead of missing them. */
function addLateRows(handle: SqliteHandle): void {
  handle.exec(
    `ALTER TABLE signalbox_tables RENAME COLUMN grows TO growing;
     ALTER TABLE signalbox_indexes ADD COLUMN entered_to INTEGER;`,
  );
}

interface CheckedRow {
  readonly rid: number;
  readonly rowKey: string;
  readonly created: number;
  readonly modified: number;
  readonly entries: string;
  readonly doc: string;
  readonly doc_sum: number;
  readonly key_sum: number;
}

/**
 * The reason why a file may not be opened, or undefined. Only reads: a damaged or foreign file is not changed in any byte. A
 * read-only connection cannot check a file that a crash has left in the middle of a change: then undefined. `thoroughly` reads
 * the whole file: every page's structure, every row's checksums, every index entry of every row.
 */
export function refuseFile(handle: SqliteHandle, thoroughly: boolean): StorageError | undefined {
  try {
    const { encoding } = select<{ encoding: string }>(handle, 'PRAGMA encoding').get();
    if (encoding !== 'UTF-8') {
      return storageFailure('io', `The database's text encoding is ${encoding}; only UTF-8 keeps keys in order.`);
    }
    const found = formatOf(handle);
    if (found > format) {
      return storageFailure(
        'too_new',
        `The file has format ${found}, but this version supports only formats up to ${format}: update Signalbox.`,
      );
    }
    const damage = thoroughly ? damageOf(handle, found === format) : undefined;
    if (damage === undefined) return undefined;
    return storageFailure('corrupt', `The file is damaged: ${damage}. Restore it from a backup.`);
  } catch (thrown) {
    if (isReadOnlyRefusal(thrown)) return undefined;
    const error = storageErrorFrom(thrown);
    if (error !== undefined && !isSqlError(thrown)) return error;
    return storageFailure('corrupt', `The file is not a Signalbox store or is damaged: ${messageOf(thrown)}.`);
  }
}

/** Uses one snapshot, because another process may be writing. */
function damageOf(handle: SqliteHandle, hasSums: boolean): string | undefined {
  handle.exec('BEGIN');
  try {
    const [check] = Object.values(select<Record<string, string>>(handle, 'PRAGMA integrity_check(1)').get());
    if (check !== 'ok') return check;
    return hasSums ? damageOfRows(handle) : undefined;
  } finally {
    handle.exec('COMMIT');
  }
}

/** Checks the content of rows: checksums, and missing or surplus index entries. */
function damageOfRows(handle: SqliteHandle): string | undefined {
  for (const { id, name, noted_at: notedAt, growing, numbered } of keptTables(handle)) {
    const changedAt = growing === 0 ? notedAt : Math.max(notedAt, newestChange(handle, id));
    const page = select<CheckedRow>(
      handle,
      `SELECT rid, place AS rowKey, created, modified, entries, doc, doc_sum, key_sum FROM signalbox_rows_${id}
       WHERE rid > ? ORDER BY rid LIMIT 256`,
    );
    const entries = entryCheck(handle, id);
    for (const row of pages(page)) {
      const sound =
        row.doc_sum === sumOfDocument(row.doc, row.created, row.modified) &&
        row.key_sum === sumOfKeys(row.rowKey, row.entries) &&
        row.modified <= changedAt &&
        (numbered === 0 || encodeKey([row.rid]) === row.rowKey) &&
        entries.holds(row);
      if (!sound) return `a row of table ${name} has a wrong checksum`;
    }
    if (!entries.isComplete()) return `an index of table ${name} has entries of missing rows`;
  }
  return undefined;
}

export interface KeptTableRow {
  readonly id: number;
  readonly name: string;
  readonly noted_at: number;
  readonly growing: number;
  readonly numbered: number;
}

export function keptTables(handle: SqliteHandle): KeptTableRow[] {
  const columns = 'id, name, noted_at, growing, numbered';
  return select<KeptTableRow>(handle, `SELECT ${columns} FROM signalbox_tables ORDER BY name`).all();
}

/** Looks up the entries of rows, and counts them against those of the indexes. */
function entryCheck(handle: SqliteHandle, tableId: number) {
  const indexes = select<{ id: number; enteredTo: number | null }>(
    handle,
    'SELECT id, entered_to AS enteredTo FROM signalbox_indexes WHERE table_id = ?',
  ).all(tableId);
  const checks = new Map(
    indexes.map(({ id, enteredTo }) => [
      id,
      {
        /** Later rows have no entry. */
        last: enteredTo ?? Number.POSITIVE_INFINITY,
        find: handle.prepare(
          // The encoded index key ends with the row key.
          `SELECT 1 AS found FROM signalbox_entries_${id} WHERE entry = ? || ' ' || ? AND rid = ?`,
        ),
        entries: select<{ n: number }>(handle, `SELECT count(*) AS n FROM signalbox_entries_${id}`).get().n,
        seen: 0,
      },
    ]),
  );
  return {
    holds: ({ rid, rowKey, entries }: CheckedRow): boolean =>
      [...parseEntries(entries)].every(([id, key]) => {
        const check = checks.get(id);
        if (check === undefined || rid > check.last) return true;
        check.seen += 1;
        return Boolean(check.find.get(key, rowKey, rid));
      }),
    isComplete: (): boolean => [...checks.values()].every(({ entries, seen }) => entries === seen),
  };
}

function* pages<R extends { readonly rid: number }>(page: { all(last: number): R[] }): Generator<R> {
  for (let last = -1; ; ) {
    const rows = page.all(last);
    if (rows.length === 0) return;
    for (const row of rows) {
      last = row.rid;
      yield row;
    }
  }
}

/** Brings the layout to the current format, in one transaction. Throws the driver's error. */
export function migrate(handle: SqliteHandle): void {
  if (formatOf(handle) === format) return;
  handle.exec('BEGIN IMMEDIATE');
  try {
    // Read again: another process may have migrated the file while this one waited for the lock.
    let found = formatOf(handle);
    for (const step of steps.slice(found)) {
      step(handle);
      found += 1;
      handle.prepare('UPDATE signalbox_store SET format = ? WHERE id = 1').run(found);
    }
    handle.exec('COMMIT');
  } catch (thrown) {
    handle.exec('ROLLBACK');
    throw thrown;
  }
}

/** Why a file that `refuseFile` accepts cannot be read without a migration, or undefined. */
export function refuseUnmigrated(handle: SqliteHandle): StorageError | undefined {
  const found = formatOf(handle);
  if (found === format) return undefined;
  if (found === 0) return storageFailure('io', 'The file contains no Signalbox store.');
  return storageFailure(
    'io',
    `The file has format ${found} of an earlier version: open it once with this version, which brings it to format ${format}.`,
  );
}

/** The format of a database; 0 if it contains no store yet. */
function formatOf(handle: SqliteHandle): number {
  const found = handle.prepare(
    "SELECT 1 AS found FROM sqlite_master WHERE type = 'table' AND name = 'signalbox_store'",
  );
  if (!found.get()) return 0;
  const row = select<{ format: unknown } | undefined>(handle, 'SELECT format FROM signalbox_store WHERE id = 1').get();
  if (typeof row?.format !== 'number') throw new Error('the row of signalbox_store is missing');
  return row.format;
}
