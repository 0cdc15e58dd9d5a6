import type { StorageError } from '../../src/ports/storage.js';
import { isSqlError, loadDriver, type SqliteHandle, storageErrorFrom, textOf } from './sqlite-handle.js';

/**
 * Writes a consistent copy of a store to a file that is absent or empty, while servers may work with the store: the copy has what was
 * committed when it began. The store is opened read-only and is not brought to a newer format. Returns the error, if any; the caller
 * removes what was written of the copy.
 */
export async function backUpSqlite(path: string, to: string): Promise<StorageError | undefined> {
  const driver = await loadDriver(undefined);
  if (typeof driver !== 'function') return driver;
  let handle: SqliteHandle | undefined;
  try {
    handle = driver(path, true);
    // A server may just be switching the file to its log.
    handle.exec('PRAGMA busy_timeout = 10000');
    handle.prepare('SELECT format FROM signalbox_store').get();
    handle.exec(`VACUUM INTO '${to.replaceAll("'", "''")}'`);
    return undefined;
  } catch (thrown) {
    if (isSqlError(thrown) && /no such table/.test(textOf(thrown))) {
      return {
        type: 'storage_failed',
        reason: 'corrupt',
        message: 'The file is a SQLite database without a store of Signalbox.',
      };
    }
    return storageErrorFrom(thrown) ?? { type: 'storage_failed', reason: 'io', message: textOf(thrown) };
  } finally {
    handle?.close();
  }
}
