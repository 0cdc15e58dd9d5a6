import type { Result } from 'neverthrow';
import { ResultAsync } from 'neverthrow';
import type { Storage, StorageError, WriteView, Written } from '../../src/ports/storage.js';
import {
  assertOfHost,
  assertSynchronous,
  HostTransactionError,
  type StoreOwned,
  usedTwice,
} from '../storage-kit/index.js';
import { isStoreFault, type SqliteHandle, type SqliteValue } from './sqlite-handle.js';

/** The host's statements on its own tables, in the transaction of a write. */
export interface HostStatements {
  /** Runs a statement that changes rows. */
  run(sql: string, ...values: SqliteValue[]): void;
  /** The rows of a query, as returned by the driver. */
  all(sql: string, ...values: SqliteValue[]): unknown[];
}

/** The result of the operation, before it is durable: its value, and the index of its write. */
export interface HostOutcome {
  readonly value: unknown;
  readonly index: number;
}

/**
 * Changes rows of the host, synchronously. Runs after the operation has succeeded, not if it is refused. May run again if the store
 * repeats the transaction; only one run is committed. An exception also rolls the operation back.
 */
export type HostRows = (sql: HostStatements, outcome: HostOutcome) => void;

/** The part of the store that host rows need. */
export interface HostTransactions {
  /** Runs the function in the open write transaction; its changes are rolled back if it throws. */
  within(run: (sql: HostStatements) => unknown): void;
}

/** The storage for one operation that also changes rows of the host: both are committed, or neither. */
export function alongside(storage: Storage, transactions: HostTransactions, rows: HostRows): Storage {
  let used = false;
  return {
    read: (work) => storage.read(work),
    waitForChange: (tables, after, signal) => storage.waitForChange(tables, after, signal),
    close: () => storage.close(),
    write<T, E>(work: (view: WriteView) => Result<T, E>): ResultAsync<Written<T>, E | StorageError> {
      if (used) return refused(usedTwice('alongside'));
      used = true;
      return withOwnErrors((failed) =>
        storage.write((view) =>
          work(view).map((value) => {
            failed(undefined);
            try {
              transactions.within((sql) => rows(sql, { value, index: view.index }));
            } catch (thrown) {
              if (!(thrown instanceof HostTransactionError) && !isStoreFault(thrown)) failed({ thrown });
              throw thrown;
            }
            return value;
          }),
        ),
      );
    },
  };
}

/** What the host's function threw in the last run of the write. */
interface OwnError {
  readonly thrown: unknown;
}

/** A write that rejects with the host's own exception, also if it is one of SQLite: a violated constraint is no failure of the store. */
function withOwnErrors<T, E>(
  write: (failed: (error: OwnError | undefined) => void) => ResultAsync<T, E>,
): ResultAsync<T, E> {
  let own: OwnError | undefined;
  const written = write((error) => {
    own = error;
  });
  return new ResultAsync(
    (async () => {
      const result = await written;
      if (result.isErr() && own !== undefined) throw own.thrown;
      return result;
    })(),
  );
}

function refused<T, E>(message: string): ResultAsync<T, E> {
  return new ResultAsync(Promise.reject(new HostTransactionError(message)));
}

/**
 * Runs the host's function within a savepoint. Calls `ended` with the reason if the transaction is over: the host has ended it, or SQLite has
 * rolled it back, as it may when the disk is full.
 */
export function hostTransactions(handle: SqliteHandle, ended: (reason: unknown) => void): HostTransactions {
  const overBecause = (reason: unknown): unknown => {
    ended(reason);
    return reason;
  };
  const endedByHost = (): HostTransactionError =>
    new HostTransactionError(
      'Your function has ended the transaction of the store: remove its BEGIN, COMMIT and ROLLBACK.',
    );
  return {
    within(run) {
      handle.exec('SAVEPOINT signalbox_host');
      const statements = statementsOn(handle);
      try {
        assertSynchronous(run(statements.sql));
      } catch (thrown) {
        statements.close();
        if (!succeeds(() => handle.exec('ROLLBACK TO signalbox_host; RELEASE signalbox_host')))
          throw overBecause(isStoreFault(thrown) ? thrown : endedByHost());
        throw thrown;
      }
      statements.close();
      if (!succeeds(() => handle.exec('RELEASE signalbox_host'))) throw overBecause(endedByHost());
    },
  };
}

function statementsOn(handle: SqliteHandle): { readonly sql: HostStatements; readonly close: () => void } {
  let open = true;
  const prepare = (text: string) => {
    assertOfHost(text, open, owned);
    return handle.prepare(text);
  };
  return {
    sql: {
      run: (text, ...values) => {
        prepare(text).run(...values);
      },
      all: (text, ...values) => prepare(text).all(...values),
    },
    close: () => {
      open = false;
    },
  };
}

const owned: StoreOwned = {
  verbs: new Set([
    ...['BEGIN', 'COMMIT', 'END', 'ROLLBACK', 'SAVEPOINT', 'RELEASE'],
    ...['PRAGMA', 'ATTACH', 'DETACH', 'VACUUM'],
  ]),
  tables: /signalbox_/i,
  tableNames: 'signalbox_…',
};

function succeeds(step: () => unknown): boolean {
  try {
    step();
    return true;
  } catch {
    return false;
  }
}
