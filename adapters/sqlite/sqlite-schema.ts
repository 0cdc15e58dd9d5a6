import type { StorageError } from '../../src/ports/storage.js';
import { isReadOnlyRefusal, isSqlError, type SqliteHandle, storageErrorFrom, textOf } from './sqlite-handle.js';

/** The layout that this version writes. A file with a higher number belongs to a newer version and is left alone. */
const FORMAT = 1;

/** One step for each format: from the one before it. The first makes the layout in an empty file. */
const STEPS: readonly string[] = [
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
];

/**
 * Why a file may not be opened, or nothing. Reads only; a damaged or foreign file stays byte for byte what it is. A
 * read-only connection cannot say anything of a file that a crash has left in the middle of a change: then nothing.
 */
export function refuseFile(handle: SqliteHandle, checkPages: boolean): StorageError | undefined {
  try {
    const encoding = handle.prepare('PRAGMA encoding').get() as { encoding: string };
    if (encoding.encoding !== 'UTF-8') {
      return refusal('io', `The database's text encoding is ${encoding.encoding}; only UTF-8 keeps keys in order.`);
    }
    const format = formatOf(handle);
    if (format > FORMAT) {
      return refusal('too_new', `The file has format ${format}, this version reads up to ${FORMAT}. Update signalbox.`);
    }
    if (!checkPages) return undefined;
    const check = Object.values(handle.prepare('PRAGMA quick_check(1)').get() as Record<string, string>)[0];
    return check === 'ok' ? undefined : refusal('corrupt', `The file is damaged: ${check}. Restore it from a backup.`);
  } catch (thrown) {
    if (isReadOnlyRefusal(thrown)) return undefined;
    const error = storageErrorFrom(thrown);
    if (error !== undefined && !isSqlError(thrown)) return error;
    return refusal('corrupt', `The file is no store of this program or is damaged: ${textOf(thrown)}.`);
  }
}

/** Brings the layout to the current format, in one transaction. Throws the driver's error. */
export function migrate(handle: SqliteHandle): void {
  if (formatOf(handle) === FORMAT) return;
  handle.exec('BEGIN IMMEDIATE');
  try {
    // Asked again: another process may have done it while this one waited for the lock.
    for (let format = formatOf(handle); format < FORMAT; format++) {
      handle.exec(STEPS[format] as string);
      handle.prepare('UPDATE signalbox_store SET format = ? WHERE id = 1').run(format + 1);
    }
    handle.exec('COMMIT');
  } catch (thrown) {
    handle.exec('ROLLBACK');
    throw thrown;
  }
}

/** The format of a database; 0 when it holds no store yet. */
function formatOf(handle: SqliteHandle): number {
  const found = handle.prepare(
    "SELECT 1 AS found FROM sqlite_master WHERE type = 'table' AND name = 'signalbox_store'",
  );
  if (!found.get()) return 0;
  const row = handle.prepare('SELECT format FROM signalbox_store WHERE id = 1').get() as
    | { format: unknown }
    | undefined;
  if (typeof row?.format !== 'number') throw new Error('its description row is missing');
  return row.format;
}

function refusal(reason: StorageError['reason'], message: string): StorageError {
  return { type: 'storage_failed', reason, message };
}
