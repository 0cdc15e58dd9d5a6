export { HostTransactionError } from '../storage-kit/index.js';
export type { HostOutcome, HostRows, HostStatements } from './host-rows.js';
export type { SqliteDriver, SqliteHandle, SqliteStatement, SqliteValue } from './sqlite-handle.js';
export { type SqliteStorage, type SqliteStorageOptions, sqliteStorage } from './sqlite-storage.js';
