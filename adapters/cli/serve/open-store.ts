import { okAsync, type ResultAsync } from 'neverthrow';
import type { Storage, StorageError } from '../../../src/index.js';

/** The store that the options name. SQLite and its driver are loaded only when they are used. */
export async function openStore(path: string | null): Promise<ResultAsync<Storage, StorageError>> {
  if (path === null) {
    const { memoryStorage } = await import('../../memory/index.js');
    return okAsync(memoryStorage());
  }
  const { sqliteStorage } = await import('../../sqlite/index.js');
  return sqliteStorage(path);
}
