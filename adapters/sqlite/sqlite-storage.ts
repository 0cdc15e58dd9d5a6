import { closeSync, openSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { err, ok, okAsync, type Result, ResultAsync } from 'neverthrow';
import { checkArgument, checkOptions, type OptionTable } from '../../src/options/check-options.js';
import { either, flag, milliseconds, oneOf, optional, port, text } from '../../src/options/option-kinds.js';
import type { Storage, StorageError, StoreFigures } from '../../src/ports/storage.js';
import { messageOf } from '../../src/shared/values.js';
import { storageFailure } from '../../src/storage/records.js';
import { storageOver } from '../storage-kit/index.js';
import { checkpointsByCommits, threadedCheckpoints } from './checkpoints.js';
import { alongside, type HostRows } from './host-rows.js';
import { pooledSyncs, syncsByCommits } from './log-syncs.js';
import {
  driverOf,
  loadDriver,
  type OpenFile,
  type SqliteDriver,
  type SqliteHandle,
  select,
  storageErrorFrom,
} from './sqlite-handle.js';
import { migrate, refuseFile } from './sqlite-schema.js';
import { SqliteStore } from './sqlite-store.js';

/** How a file is opened, and the durability of its writes. */
export interface SqliteStorageOptions {
  /**
   * What an acknowledged write survives. `'full'` (the default): a crash of the process or the system, and a power failure.
   * `'relaxed'`: a crash of the process; a power failure may lose the last writes, but keeps their order. Five times as many single
   * writes per second.
   */
  readonly durability?: 'full' | 'relaxed';
  /** Milliseconds that a write waits for another process's write before it fails as `busy`; default: 10 s. */
  readonly busyMs?: number;
  /** The driver that opens a path; default: Node's own if available, else better-sqlite3. */
  readonly driver?: SqliteDriver;
  /**
   * Whether opening a path reads and checks the whole file: the structure of its pages, the checksum of every row, the entries
   * of every index. Default: only for files up to 32 MiB, which takes a fraction of a second. In larger files, damage is found when a
   * row is read: every read checks the row.
   */
  readonly checkPages?: boolean;
}

/** A store in one SQLite file. */
export interface SqliteStorage extends Storage {
  /**
   * The storage for one write that is committed together with your own rows in the same file, both or neither: what `alongside` of
   * `engine.transaction` uses.
   *
   * ```ts
   * await engine.transaction((tx) => {
   *   tx.alongside((sql) => sql.run('INSERT INTO orders (id) VALUES (?)', order.id));
   *   return tx.as(principal).jobs.dispatch('invoice');
   * });
   * ```
   *
   * If the operation is refused, `rows` does not run. If `rows` throws, the operation is rolled back and its promise rejects with
   * that exception, also with one of SQLite, such as a violated constraint. A failure of the file itself, such as a full disk, is the
   * operation's `storage_failed`. The promise rejects with a `HostTransactionError` if `rows` is asynchronous, tries to end the
   * transaction or accesses the store's tables, or if the operation writes a second time.
   */
  alongside(rows: HostRows): Storage;
}

const connection = port('an open connection', 'prepare', 'exec', 'close');
const optionTable: OptionTable<SqliteStorageOptions> = {
  durability: optional(oneOf('full', 'relaxed')),
  busyMs: optional(milliseconds),
  driver: optional(oneOf('node:sqlite', 'better-sqlite3')),
  checkPages: optional(flag),
};

const defaultBusyMs = 10_000;
const checkedBytes = 32 * 1024 * 1024;
/** SQLite waits this long for a lock, blocking the process; longer waits happen outside of it. */
const blockingMs = 5;

/**
 * A durable store in one SQLite file, which several processes of one machine may share. Pass a path or an open connection
 * (better-sqlite3, node:sqlite or similar). With a connection, the store uses tables named `signalbox_…` beside yours, sets the
 * connection to write-ahead logging and the requested durability, and leaves it open at `close`. With a path, the write-ahead
 * log is synced in Node's thread pool and copied into the file in a thread, which starts when there is enough to do; when the disk does not
 * confirm a sync, all later calls are `storage_failed`, and the store has to be opened again. A new file is readable and writable only
 * by its owner. Throws a TypeError for mistyped arguments. Fails with `too_new` for a file of a later version and with `corrupt` for
 * a damaged one, and changes neither.
 */
export function sqliteStorage(
  pathOrHandle: string | SqliteHandle,
  options: SqliteStorageOptions = {},
): ResultAsync<SqliteStorage, StorageError> {
  checkArgument('sqliteStorage', 'pathOrHandle', pathOrHandle, either(text, connection));
  checkOptions('sqliteStorage', options, optionTable);
  return new ResultAsync(openStorage(pathOrHandle, options));
}

async function openStorage(
  pathOrHandle: string | SqliteHandle,
  options: SqliteStorageOptions,
): Promise<Result<SqliteStorage, StorageError>> {
  const owned = typeof pathOrHandle === 'string';
  let handle: SqliteHandle;
  if (owned) {
    const opened = await openPath(pathOrHandle, options);
    if (opened.isErr()) return err(opened.error);
    handle = opened.value;
  } else {
    handle = pathOrHandle;
  }
  const failure = await whileBusy(options, () => refuseFile(handle, false) ?? setUp(handle, options));
  if (failure !== undefined) {
    if (owned) handle.close();
    return err(failure);
  }
  const path = pathOf(handle);
  const isThreaded = owned && path !== undefined;
  const checkpoints = isThreaded
    ? threadedCheckpoints({ handle, path, driver: driverOf(options.driver) })
    : checkpointsByCommits(handle);
  const syncs = isThreaded && options.durability !== 'relaxed' ? pooledSyncs(handle, path) : syncsByCommits;
  const store = new SqliteStore(handle, { path, checkpoints, syncs, ownsHandle: owned });
  const storage = storageOver(store, { schedule: setImmediate, busyMs: options.busyMs ?? defaultBusyMs });
  return ok({
    ...storage,
    ...(path === undefined ? {} : { figures: () => okAsync(fileFigures(path)) }),
    alongside: (rows) => alongside(storage, store.host, rows),
  });
}

/** Checks the file through a read-only connection first, so that a refused file is not changed. */
async function openPath(path: string, options: SqliteStorageOptions): Promise<Result<SqliteHandle, StorageError>> {
  const open = await loadDriver(options.driver);
  if (typeof open !== 'function') return err(open);
  try {
    const refused = await whileBusy(options, () => lookAt(path, open, options));
    if (refused !== undefined) return err(refused);
    const handle = open(path, false);
    handle.exec(`PRAGMA busy_timeout = ${blockingMs}`);
    return ok(handle);
  } catch (thrown) {
    return err(openError(thrown));
  }
}

/** The reason why the file is refused, or undefined. A file that does not exist is created. Throws the driver's error. */
function lookAt(path: string, open: OpenFile, options: SqliteStorageOptions): StorageError | undefined {
  const misplaced = placeFault(path);
  if (misplaced !== undefined) return storageFailure('io', misplaced);
  const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (bytes === 0) {
    makePrivate(path);
    return undefined;
  }
  const reader = open(path, true);
  try {
    reader.exec(`PRAGMA busy_timeout = ${blockingMs}`);
    return refuseFile(reader, options.checkPages ?? bytes <= checkedBytes);
  } finally {
    reader.close();
  }
}

/** Explains a path that cannot be opened, with a remedy; SQLite itself only reports an I/O error. */
function placeFault(path: string): string | undefined {
  if (!isOfFileSystem(path)) return undefined;
  const present = statSync(path, { throwIfNoEntry: false });
  if (present?.isDirectory() === true)
    return `${path} is a folder: name a file in it, such as ${join(path, 'signalbox.db')}.`;
  if (present !== undefined && !present.isFile()) return `${path} is not a regular file: name a regular or a new file.`;
  const folder = dirname(path);
  if (statSync(folder, { throwIfNoEntry: false }) === undefined)
    return `The folder ${folder} does not exist: create it, or name a file in another one.`;
  return undefined;
}

/**
 * Creates the file for its owner only. SQLite creates the files beside it (log, shared memory, journal) with the same
 * permissions.
 */
function makePrivate(path: string): void {
  if (isOfFileSystem(path)) closeSync(openSync(path, 'a', 0o600));
}

/** Whether the path names a file: others are stores in memory and URIs. */
function isOfFileSystem(path: string): boolean {
  return path !== '' && !path.startsWith(':') && !path.startsWith('file:');
}

/** Retries while another process has the file locked, for example to create, recover or close it, for up to `busyMs`. */
async function whileBusy(
  options: SqliteStorageOptions,
  attempt: () => StorageError | undefined,
): Promise<StorageError | undefined> {
  const deadline = performance.now() + (options.busyMs ?? defaultBusyMs);
  for (;;) {
    const failure = attempt();
    if (failure?.reason !== 'busy' || performance.now() >= deadline) return failure;
    await new Promise((resolve) => setTimeout(resolve, blockingMs));
  }
}

/** Sets the connection up and brings the layout up to date. */
function setUp(handle: SqliteHandle, options: SqliteStorageOptions): StorageError | undefined {
  try {
    handle.exec('PRAGMA journal_mode = WAL');
    handle.exec(`PRAGMA synchronous = ${options.durability === 'relaxed' ? 'NORMAL' : 'FULL'}`);
    handle.exec('PRAGMA temp_store = MEMORY');
    // Overwrites removed and replaced content with zeros. FAST would leave the content of freed pages.
    handle.exec('PRAGMA secure_delete = ON');
    // 16 MiB at most. SQLite's own 2 MiB is too little for a busy queue beside everything else.
    handle.exec('PRAGMA cache_size = -16384');
    migrate(handle);
    return undefined;
  } catch (thrown) {
    return openError(thrown);
  }
}

function fileFigures(path: string): StoreFigures {
  const bytes = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const measured = [
    { labels: { part: 'file' }, value: bytes(path) },
    { labels: { part: 'log' }, value: bytes(`${path}-wal`) },
  ];
  return { families: [{ name: 'signalbox.store.size', measured }], notes: [] };
}

/** The absolute path of the file; undefined for a store in memory. */
function pathOf(handle: SqliteHandle): string | undefined {
  const databases = select<{ name: string; file: string | null }>(handle, 'PRAGMA database_list').all();
  return databases.find((database) => database.name === 'main')?.file || undefined;
}

function openError(thrown: unknown): StorageError {
  return storageErrorFrom(thrown) ?? storageFailure('io', `SQLite: ${messageOf(thrown)}.`);
}
