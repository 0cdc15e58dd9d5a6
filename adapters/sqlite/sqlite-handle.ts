import type { StorageError } from '../../src/ports/storage.js';
import { messageOf } from '../../src/shared/values.js';

/** A parameter or column value of this adapter. */
export type SqliteValue = string | number | null;

/** The part of a prepared statement that the adapter uses; better-sqlite3, node:sqlite and bun:sqlite all have it. */
export interface SqliteStatement {
  run(...values: SqliteValue[]): { readonly lastInsertRowid: number | bigint };
  get(...values: SqliteValue[]): unknown;
  all(...values: SqliteValue[]): unknown[];
}

/** The part of a database connection that the adapter uses. */
export interface SqliteHandle {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
  close(): unknown;
}

/** A statement with the type of its rows. It includes undefined if `get` may find none; bun:sqlite returns null then. */
export interface SqliteQuery<R> extends SqliteStatement {
  get(...values: SqliteValue[]): R;
  all(...values: SqliteValue[]): NonNullable<R>[];
}

/** The type is what the SQL selects: drivers return untyped rows. */
export function select<R>(handle: SqliteHandle, sql: string): SqliteQuery<R> {
  return handle.prepare(sql) as SqliteQuery<R>;
}

/** Makes a statement return its rows as lists of columns, if the driver supports it: no object and no names for each row. */
export function asLists<S extends SqliteStatement>(
  statement: S & { raw?(on: boolean): unknown; setReturnArrays?(on: boolean): unknown },
): S {
  // better-sqlite3 calls it `raw`, newer versions of node:sqlite `setReturnArrays`.
  if (typeof statement.raw === 'function') statement.raw(true);
  else if (typeof statement.setReturnArrays === 'function') statement.setReturnArrays(true);
  return statement;
}

/** Node's own SQLite, or the package better-sqlite3. */
export type SqliteDriver = 'node:sqlite' | 'better-sqlite3';

/** Opens a file with one of the drivers. Throws the driver's own error. */
export type OpenFile = (path: string, readOnly: boolean) => SqliteHandle;

interface NodeSqlite {
  readonly DatabaseSync: new (path: string, options: { readOnly: boolean }) => SqliteHandle;
}

/** The named driver, else the default one: Node's own if it exists (Node 22.13 and later), else better-sqlite3. */
export function driverOf(wanted: SqliteDriver | undefined): SqliteDriver {
  return wanted ?? (builtinSqlite() === undefined ? 'better-sqlite3' : 'node:sqlite');
}

/** Loads the driver that `driverOf` names. */
export async function loadDriver(wanted: SqliteDriver | undefined): Promise<OpenFile | StorageError> {
  if (driverOf(wanted) === 'node:sqlite') {
    const builtin = builtinSqlite();
    if (builtin === undefined) return driverError('This Node has no node:sqlite: use Node 22.13 or later.');
    return (path, readOnly) => new builtin.DatabaseSync(path, { readOnly });
  }
  try {
    const { default: BetterSqlite } = await import('better-sqlite3');
    return (path, readOnly) => new BetterSqlite(path, { readonly: readOnly });
  } catch (thrown) {
    return driverError(
      `No SQLite driver: use Node 22.13 or later, or install better-sqlite3 (loading it failed: ${messageOf(thrown)}).`,
    );
  }
}

function builtinSqlite(): NodeSqlite | undefined {
  return process.getBuiltinModule?.('node:sqlite') as NodeSqlite | undefined;
}

/** The port's error for a driver's error; `undefined` for other values. */
export function storageErrorFrom(thrown: unknown): StorageError | undefined {
  const code = resultCode(thrown);
  if (code === undefined) return undefined;
  return {
    type: 'storage_failed',
    reason: reasonOf(code),
    message: `SQLite: ${messageOf(thrown)} (result code ${code}).`,
  };
}

/** A plain SQL error. On the store's own tables it means that they are not in the store's format. */
export function isSqlError(thrown: unknown): boolean {
  return resultCode(thrown) === SQL_ERROR;
}

/** SQLite or its medium has failed, whatever the statement was: locked, full, damaged, not readable, not enough memory. */
export function isStoreFault(thrown: unknown): boolean {
  const code = resultCode(thrown);
  return code !== undefined && storeFaults.has(code);
}

/** The connection is read-only, but the file must be recovered first. */
export function isReadOnlyRefusal(thrown: unknown): boolean {
  return resultCode(thrown) === READ_ONLY;
}

const SQL_ERROR = 1;
const BUSY = 5;
const LOCKED = 6;
const NO_MEMORY = 7;
const READ_ONLY = 8;
const IO_ERROR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const PROTOCOL = 15;
const NO_DATABASE = 26;

const storeFaults: ReadonlySet<number> = new Set([
  BUSY,
  LOCKED,
  NO_MEMORY,
  READ_ONLY,
  IO_ERROR,
  CORRUPT,
  FULL,
  CANNOT_OPEN,
  PROTOCOL,
  NO_DATABASE,
]);

/** SQLite's primary result codes by the names that better-sqlite3 uses, as far as they are needed here. */
const CODES: Readonly<Record<string, number>> = {
  SQLITE_ERROR: SQL_ERROR,
  SQLITE_BUSY: BUSY,
  SQLITE_LOCKED: LOCKED,
  SQLITE_READONLY: READ_ONLY,
  SQLITE_NOMEM: NO_MEMORY,
  SQLITE_IOERR: IO_ERROR,
  SQLITE_CORRUPT: CORRUPT,
  SQLITE_FULL: FULL,
  SQLITE_CANTOPEN: CANNOT_OPEN,
  SQLITE_PROTOCOL: PROTOCOL,
  SQLITE_NOTADB: NO_DATABASE,
};

/** node:sqlite has a numeric `errcode`, bun a numeric `errno`, better-sqlite3 a `code` such as `SQLITE_BUSY_SNAPSHOT`. */
function resultCode(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const { code, errcode, errno }: Error & { code?: unknown; errcode?: unknown; errno?: unknown } = thrown;
  if (typeof code !== 'string' || !/^(SQLITE_|ERR_SQLITE_ERROR$)/.test(code)) return undefined;
  if (typeof errcode === 'number') return errcode & 0xff;
  if (typeof errno === 'number') return errno & 0xff;
  return CODES[code.split('_', 2).join('_')] ?? 1;
}

function reasonOf(code: number): StorageError['reason'] {
  if (code === BUSY || code === LOCKED) return 'busy';
  if (code === FULL) return 'full';
  if (code === CORRUPT || code === NO_DATABASE) return 'corrupt';
  return 'io';
}

function driverError(message: string): StorageError {
  return { type: 'storage_failed', reason: 'io', message };
}
