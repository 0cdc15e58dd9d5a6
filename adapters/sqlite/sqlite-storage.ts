import { statSync } from 'node:fs';
import type { Result } from 'neverthrow';
import { err, ok, ResultAsync } from 'neverthrow';
import type { ReadView, Storage, StorageError, WriteView, Written } from '../../src/ports/storage.js';
import type { Table } from '../../src/shared/table.js';
import { sqliteTables } from './sqlite-catalog.js';
import { sqliteChanges } from './sqlite-changes.js';
import { groupCommit } from './sqlite-group-commit.js';
import { isBusy, loadDriver, type SqliteDriver, type SqliteHandle, storageErrorFrom, textOf } from './sqlite-handle.js';
import { migrate, refuseFile } from './sqlite-schema.js';
import {
  ADOPTION_LIMIT,
  contradiction,
  type ReadOutcome,
  type ReadWork,
  sqliteTransactions,
  type Transactions,
} from './sqlite-transactions.js';

export interface SqliteStorageOptions {
  /**
   * What an acknowledged write survives. `'full'`, the default: a crash of the process, of the system, and a power cut.
   * `'relaxed'`: a crash of the process; a power cut may take the last writes with it, never their order. Five times as
   * many single writes a second.
   */
  readonly durability?: 'full' | 'relaxed';
  /** How long, in milliseconds, a write waits while another process writes, before it fails as `busy`; 10 s when absent. */
  readonly busyMs?: number;
  /** Which driver opens a path; when absent Node's own, else better-sqlite3. */
  readonly driver?: SqliteDriver;
  /** Whether opening a path checks every page of the file; when absent, only for files up to 32 MiB. */
  readonly checkPages?: boolean;
}

const BUSY_MS = 10_000;
const CHECKED_BYTES = 32 * 1024 * 1024;
/** A first look may meet another process that recovers the file after a crash, which takes milliseconds. */
const PROBE_BUSY_MS = 1000;
/** SQLite waits this long for a lock, blocking the process; longer waits happen outside of it. */
const BLOCKING_MS = 5;

/**
 * A durable store in one SQLite file, which several processes of one machine may share. Give a path, or a connection of
 * your own (better-sqlite3, node:sqlite or alike): the store then lives in tables named `signalbox_…` beside yours, sets
 * the connection to write-ahead logging and the asked durability, and leaves it open at `close`. Fails with `too_new` for
 * a file of a later version and with `corrupt` for a damaged one, and changes neither.
 */
export function sqliteStorage(
  pathOrHandle: string | SqliteHandle,
  options: SqliteStorageOptions = {},
): ResultAsync<Storage, StorageError> {
  return new ResultAsync(openStorage(pathOrHandle, options));
}

async function openStorage(
  pathOrHandle: string | SqliteHandle,
  options: SqliteStorageOptions,
): Promise<Result<Storage, StorageError>> {
  const owned = typeof pathOrHandle === 'string';
  let handle: SqliteHandle;
  if (owned) {
    const opened = await openPath(pathOrHandle, options);
    if (opened.isErr()) return err(opened.error);
    handle = opened.value;
  } else {
    handle = pathOrHandle;
  }
  const failure = refuseFile(handle, false) ?? (await prepare(handle, owned, options));
  if (failure !== undefined) {
    if (owned) handle.close();
    return err(failure);
  }
  return ok(storageOver(handle, owned, options));
}

/** Looks at the file through a read-only connection first, so that a refused file stays as it is. */
async function openPath(path: string, options: SqliteStorageOptions): Promise<Result<SqliteHandle, StorageError>> {
  const open = await loadDriver(options.driver);
  if (typeof open !== 'function') return err(open);
  try {
    const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    if (bytes > 0) {
      const reader = open(path, true);
      reader.exec(`PRAGMA busy_timeout = ${PROBE_BUSY_MS}`);
      const refused = refuseFile(reader, options.checkPages ?? bytes <= CHECKED_BYTES);
      reader.close();
      if (refused !== undefined) return err(refused);
    }
    return ok(open(path, false));
  } catch (thrown) {
    return err(openError(thrown));
  }
}

/** Sets the connection up and brings the layout up to date; waits while another process does the same. */
async function prepare(
  handle: SqliteHandle,
  owned: boolean,
  options: SqliteStorageOptions,
): Promise<StorageError | undefined> {
  const deadline = performance.now() + (options.busyMs ?? BUSY_MS);
  for (;;) {
    try {
      if (owned) handle.exec(`PRAGMA busy_timeout = ${BLOCKING_MS}`);
      handle.exec('PRAGMA journal_mode = WAL');
      handle.exec(`PRAGMA synchronous = ${options.durability === 'relaxed' ? 'NORMAL' : 'FULL'}`);
      handle.exec('PRAGMA temp_store = MEMORY');
      // 16 MiB at most. SQLite's own 2 MiB is too little for a busy queue beside everything else.
      handle.exec('PRAGMA cache_size = -16384');
      migrate(handle);
      return undefined;
    } catch (thrown) {
      if (!isBusy(thrown) || performance.now() >= deadline) return openError(thrown);
      await new Promise((resolve) => setTimeout(resolve, BLOCKING_MS));
    }
  }
}

function storageOver(handle: SqliteHandle, owned: boolean, options: SqliteStorageOptions): Storage {
  const tables = sqliteTables(handle);
  const transactions = sqliteTransactions(handle, tables);
  const changes = sqliteChanges(walPathOf(handle), changedElsewhere);
  const busyMs = options.busyMs ?? BUSY_MS;
  const commits = groupCommit(transactions, busyMs, (changed) => changes.wake(changed));
  /** Table indexes as of the last look for foreign commits. */
  let seen = new Map<string, number>();
  let closing: Promise<void> | undefined;
  let open = true;

  /** Looks at the file; when that fails, what is known stays: a waiting caller learns of the failure at its next read. */
  function look(): void {
    try {
      if (open && !tables.isCurrent()) transactions.refresh();
    } catch (thrown) {
      if (storageErrorFrom(thrown) === undefined) throw thrown;
    }
  }

  function changedElsewhere(): string[] {
    look();
    const now = new Map(Array.from(tables.current().tables, ([name, table]) => [name, table.changedAt]));
    const changed = [...now.keys()].filter((name) => now.get(name) !== seen.get(name));
    seen = now;
    return changed;
  }

  function highestIndex(names: readonly string[]): number {
    const known = tables.current().tables;
    return names.reduce((highest, name) => Math.max(highest, known.get(name)?.changedAt ?? 1), 1);
  }

  function read(work: ReadWork, tries = 0): Result<unknown, unknown> | Promise<Result<unknown, unknown>> {
    if (!open) return err(closedError());
    const outcome = readOnce(transactions, work);
    if ('thrown' in outcome) throw outcome.thrown;
    if ('unbound' in outcome) return readPrepared(work, outcome.unbound, tries);
    const { result } = outcome;
    return isBusyFailure(result) && tries * BLOCKING_MS < busyMs ? readAfterPause(work, tries) : result;
  }

  /** Readers wait for nobody but for the one process that recovers the file after a crash. */
  async function readAfterPause(work: ReadWork, tries: number): Promise<Result<unknown, unknown>> {
    await new Promise((resolve) => setTimeout(resolve, BLOCKING_MS));
    return read(work, tries + 1);
  }

  /** Prepares a table in a write, as any use in a write does, and reads again. */
  async function readPrepared(work: ReadWork, unbound: Table<unknown>, tries: number) {
    if (closing !== undefined) return err(closedError());
    if (tries >= ADOPTION_LIMIT) throw contradiction(unbound);
    const prepared = await commits.submit((view) => ok(view.list(unbound, { limit: 0 })));
    return prepared.isErr() ? prepared : read(work, tries + 1);
  }

  async function closeStorage(): Promise<void> {
    await commits.drained();
    open = false;
    changes.close();
    if (owned) handle.close();
  }

  return {
    read<T>(work: (view: ReadView) => T) {
      // From the microtask queue, as in every adapter: never inside another work function.
      const result =
        closing === undefined ? Promise.resolve().then(() => read(work)) : Promise.resolve(err(closedError()));
      return new ResultAsync(result as Promise<Result<T, StorageError>>);
    },

    write<T, E>(work: (view: WriteView) => Result<T, E>) {
      const result = closing === undefined ? commits.submit(work) : Promise.resolve(err(closedError()));
      return new ResultAsync(result as Promise<Result<Written<T>, E | StorageError>>);
    },

    async waitForChange(watched, after, signal) {
      const names = watched.map((table) => table.name);
      if (open) changes.observe();
      look();
      while (closing === undefined && !signal.aborted && highestIndex(names) <= after)
        await changes.wait(names, signal);
      return highestIndex(names);
    },

    close() {
      closing ??= closeStorage();
      return closing;
    },
  };
}

function readOnce(transactions: Transactions, work: ReadWork): ReadOutcome {
  try {
    return transactions.read(work);
  } catch (thrown) {
    const error = storageErrorFrom(thrown);
    return error === undefined ? { thrown } : { result: err(error) };
  }
}

function isBusyFailure(result: Result<unknown, unknown>): boolean {
  return result.isErr() && (result.error as StorageError).reason === 'busy';
}

/** The write-ahead log that other processes write to; none for a store in memory. */
function walPathOf(handle: SqliteHandle): string | undefined {
  const databases = handle.prepare('PRAGMA database_list').all() as { name: string; file: string | null }[];
  const file = databases.find((database) => database.name === 'main')?.file;
  return file ? `${file}-wal` : undefined;
}

function openError(thrown: unknown): StorageError {
  return storageErrorFrom(thrown) ?? { type: 'storage_failed', reason: 'io', message: `SQLite: ${textOf(thrown)}.` };
}

function closedError(): StorageError {
  return { type: 'storage_failed', reason: 'closed', message: 'The store is closed.' };
}
