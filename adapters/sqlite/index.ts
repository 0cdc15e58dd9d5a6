export type { SqliteDriver, SqliteHandle, SqliteStatement, SqliteValue } from './sqlite-handle.js';
export { type SqliteStorageOptions, sqliteStorage } from './sqlite-storage.js';
