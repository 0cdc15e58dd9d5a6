export { type HostOutcome, type HostRows, type HostStatements, HostTransactionError } from './host-rows.js';
export type { SqliteDriver, SqliteHandle, SqliteStatement, SqliteValue } from './sqlite-handle.js';
export { type SqliteStorage, type SqliteStorageOptions, sqliteStorage } from './sqlite-storage.js';
