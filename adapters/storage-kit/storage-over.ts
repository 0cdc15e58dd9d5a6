import { err, ok, type Result, ResultAsync } from 'neverthrow';
import type { ReadView, Storage, StorageError, WriteView, Written } from '../../src/ports/storage.js';
import { closedFailure } from '../../src/storage/failures.js';
import type { Snapshot } from '../../src/storage/overlay.js';
import type { AnyTable } from '../../src/storage/records.js';
import { contradiction, type Outcome, type ReadWork, runRead, type TransactionStore } from './batches.js';
import { type Waiters, waiters } from './waiters.js';
import { type WriteQueueOptions, writeQueue } from './write-queue.js';

/** What an adapter gives to become a storage: synchronous transactions over its own medium. */
export interface Store extends TransactionStore {
  /** Runs on one snapshot, and gives what the run gives. May run it again on a later snapshot. */
  read(run: (snapshot: Snapshot) => ReadOutcome): ReadOutcome;
  /** The index of the last change of a table, as far as this process knows; 1 for a table without any. */
  changedAt(table: string): number;
  /** Someone waits: looks for commits of other processes now, and from now on wakes who waits for their tables. */
  observe(waiting: Waiters): void;
  /** Releases the medium; nothing is called afterwards. */
  close(): void;
}

export type ReadOutcome = ReturnType<typeof runRead>;

export type StorageOverOptions = Pick<WriteQueueOptions, 'schedule' | 'busyMs'>;

/** How often a read of this process may meet tables that have to be prepared first. */
const preparationLimit = 200;
/** A busy store is asked again after so many milliseconds. */
const busyPauseMs = 5;

/**
 * A storage over a store: views and their end, the queue of writes, waiting for changes, closing. What is left to the adapter
 * is its medium: a snapshot to find and scan rows in, and a way to commit changed rows.
 */
export function storageOver(store: Store, options: StorageOverOptions): Storage {
  const waiting = waiters();
  const queue = writeQueue(store, { ...options, onCommit: (changed) => waiting.wake(changed) });
  let closing: Promise<void> | undefined;
  let open = true;

  function read(work: ReadWork, tries: number): Result<unknown, unknown> | Promise<Result<unknown, unknown>> {
    if (!open) return err(closedFailure());
    const outcome = readOnce(store, work);
    if ('unprepared' in outcome) return readPrepared(work, outcome.unprepared, tries);
    if ('thrown' in outcome) throw outcome.thrown;
    const isBusy = outcome.result.isErr() && (outcome.result.error as StorageError).reason === 'busy';
    return isBusy && tries * busyPauseMs < options.busyMs ? readAfterPause(work, tries) : outcome.result;
  }

  async function readAfterPause(work: ReadWork, tries: number): Promise<Result<unknown, unknown>> {
    await new Promise((resolve) => setTimeout(resolve, busyPauseMs));
    return read(work, tries + 1);
  }

  /** Prepares a table in a write, as any use in a write does, and reads again. */
  async function readPrepared(work: ReadWork, table: AnyTable, tries: number): Promise<Result<unknown, unknown>> {
    if (closing !== undefined) return err(closedFailure());
    if (tries >= preparationLimit) throw contradiction(table);
    const prepared = await queue.submit((view) => ok(view.list(table, { limit: 0 })));
    return prepared.isErr() ? prepared : read(work, tries + 1);
  }

  function highestIndex(names: readonly string[]): number {
    return names.reduce((highest, name) => Math.max(highest, store.changedAt(name)), 1);
  }

  async function finish(): Promise<void> {
    await queue.drained();
    open = false;
    store.close();
    waiting.releaseAll();
  }

  return {
    read<T>(work: (view: ReadView) => T) {
      // From the microtask queue: never inside another work function.
      const result =
        closing === undefined ? Promise.resolve().then(() => read(work, 0)) : Promise.resolve(err(closedFailure()));
      return new ResultAsync(result as Promise<Result<T, StorageError>>);
    },

    write<T, E>(work: (view: WriteView) => Result<T, E>) {
      const result = closing === undefined ? queue.submit(work) : Promise.resolve(err(closedFailure()));
      return new ResultAsync(result as Promise<Result<Written<T>, E | StorageError>>);
    },

    async waitForChange(tables, after, signal) {
      const names = tables.map((table) => table.name);
      if (open) store.observe(waiting);
      while (closing === undefined && !signal.aborted && highestIndex(names) <= after)
        await waiting.wait(names, signal);
      return highestIndex(names);
    },

    close() {
      closing ??= finish();
      return closing;
    },
  };
}

function readOnce(store: Store, work: ReadWork): ReadOutcome {
  try {
    return store.read((snapshot) => runRead(snapshot, work, (thrown) => store.failureOf(thrown)));
  } catch (thrown) {
    const error = store.failureOf(thrown);
    return error === undefined ? ({ thrown } satisfies Outcome) : { result: err(error) };
  }
}
