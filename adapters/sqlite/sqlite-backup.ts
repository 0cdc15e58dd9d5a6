import { closeSync, fsyncSync, openSync, statSync } from 'node:fs';
import type { StorageError } from '../../src/ports/storage.js';
import { messageOf } from '../../src/shared/values.js';
import { isSqlError, loadDriver, type SqliteHandle, storageErrorFrom } from './sqlite-handle.js';

/**
 * Writes a consistent copy of a store to a missing or empty file while servers may use the store: the copy has everything that was
 * committed at its start. The store is opened read-only and not migrated. Returns the error, if any; the caller
 * removes an incomplete copy.
 */
export async function backUpSqlite(path: string, to: string): Promise<StorageError | undefined> {
  const driver = await loadDriver(undefined);
  if (typeof driver !== 'function') return driver;
  let handle: SqliteHandle | undefined;
  try {
    handle = driver(path, true);
    // A server may be switching the file to write-ahead logging at this time.
    handle.exec('PRAGMA busy_timeout = 10000');
    handle.prepare('SELECT format FROM signalbox_store').get();
    handle.exec(`VACUUM INTO '${to.replaceAll("'", "''")}'`);
    return undefined;
  } catch (thrown) {
    if (isSqlError(thrown) && /no such table/.test(messageOf(thrown))) {
      return {
        type: 'storage_failed',
        reason: 'corrupt',
        message: 'The file is a SQLite database, but contains no Signalbox store.',
      };
    }
    return storageErrorFrom(thrown) ?? { type: 'storage_failed', reason: 'io', message: messageOf(thrown) };
  } finally {
    handle?.close();
  }
}

/** Makes a file, or the entries of a folder, survive a power failure. */
export function syncPath(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } catch (error) {
    // Some systems cannot sync folders.
    if (!statSync(path).isDirectory()) throw error;
  } finally {
    closeSync(file);
  }
}
