import { err, ok, type Result, ResultAsync } from 'neverthrow';
import type { ReadView, Storage, StorageError, WriteView, Written } from '../../src/ports/storage.js';
import type { Snapshot } from '../../src/storage/overlay.js';
import { type AnyTable, closedFailure } from '../../src/storage/records.js';
import {
  contradiction,
  type Outcome,
  type ReadWork,
  runRead,
  type TransactionStore,
  type WriteQueue,
  type WriteQueueOptions,
  writeQueue,
} from './write-queue.js';

/** The part of a storage that an adapter implements: synchronous transactions over its medium. */
export interface Store extends TransactionStore {
  /** Runs on one snapshot and returns the result of the run. May run it again on a later snapshot. */
  read(run: (snapshot: Snapshot) => ReadOutcome): ReadOutcome;
  /** The index of the last change of a table, as far as this process knows; 1 for a table without any. */
  changedAt(table: string): number;
  /** Called when a waiter is added: looks for commits of other processes, and from now on wakes the waiters of their tables. */
  observe(waiting: Waiters): void;
  /** See `Storage.overwriteRemoved`. Rejects with an exception of the medium. */
  overwriteRemoved?(): Promise<void>;
  /** Releases the medium; nothing is called afterwards. Resolves when others may use it. */
  close(): void | Promise<void>;
}

export type ReadOutcome = ReturnType<typeof runRead>;

/** Reads start after one turn of the microtask queue. */
const settled = Promise.resolve();
/** How often a read may be repeated because tables have to be prepared first. */
const preparationLimit = 200;
/** A busy store is tried again after this many milliseconds. */
const busyPauseMs = 5;

/**
 * A storage over a store: views and their end, the queue of writes, waiting for changes, closing. The adapter provides only its
 * medium: a snapshot in which rows are found and scanned, and a way to commit changed rows.
 */
export function storageOver(store: Store, options: Pick<WriteQueueOptions, 'schedule' | 'busyMs'>): Storage {
  const waiting = waiters();
  const queue = writeQueue(store, { ...options, onCommit: (changed) => waiting.wake(changed) });
  const life: StoreLife = { open: true, closing: undefined };
  const reads = new Reads(store, queue, life, options.busyMs);

  function highestIndex(names: readonly string[]): number {
    return names.reduce((highest, name) => Math.max(highest, store.changedAt(name)), 1);
  }

  async function finish(): Promise<void> {
    await queue.drained();
    life.open = false;
    const closed = store.close();
    waiting.releaseAll();
    await closed;
  }

  async function overwritten(): Promise<Result<void, StorageError>> {
    if (life.closing !== undefined) return err(closedFailure());
    try {
      await store.overwriteRemoved?.();
      return ok(undefined);
    } catch (thrown) {
      const error = store.failureOf(thrown);
      if (error === undefined) throw thrown;
      return err(error);
    }
  }

  return {
    read<T>(work: (view: ReadView) => T) {
      // From the microtask queue: never inside another work function.
      const result =
        life.closing === undefined ? settled.then(() => reads.read(work, 0)) : Promise.resolve(err(closedFailure()));
      return new ResultAsync(result as Promise<Result<T, StorageError>>);
    },

    write<T, E>(work: (view: WriteView) => Result<T, E>) {
      const result = life.closing === undefined ? queue.submit(work) : Promise.resolve(err(closedFailure()));
      return new ResultAsync(result as Promise<Result<Written<T>, E | StorageError>>);
    },

    async waitForChange(tables, after, signal) {
      const names = tables.map((table) => table.name);
      if (life.open) store.observe(waiting);
      while (life.closing === undefined && !signal.aborted && highestIndex(names) <= after)
        await waiting.wait(names, signal);
      return highestIndex(names);
    },

    ...(store.overwriteRemoved && { overwriteRemoved: () => new ResultAsync(overwritten()) }),

    close() {
      life.closing ??= finish();
      return life.closing;
    },
  };
}

/** While the store is `open`, accepted work can be completed; once it is `closing`, no new work is accepted. */
interface StoreLife {
  open: boolean;
  closing: Promise<void> | undefined;
}

/** Reads, preparing tables first if necessary, and waits for a busy store. */
class Reads {
  readonly #store: Store;
  readonly #queue: WriteQueue;
  readonly #life: StoreLife;
  readonly #busyMs: number;

  constructor(store: Store, queue: WriteQueue, life: StoreLife, busyMs: number) {
    this.#store = store;
    this.#queue = queue;
    this.#life = life;
    this.#busyMs = busyMs;
  }

  read(work: ReadWork, tries: number): Result<unknown, unknown> | Promise<Result<unknown, unknown>> {
    if (!this.#life.open) return err(closedFailure());
    const outcome = readOnce(this.#store, work);
    if ('unprepared' in outcome) return this.#readPrepared(work, outcome.unprepared, tries);
    if ('thrown' in outcome) throw outcome.thrown;
    const isBusy = outcome.result.isErr() && (outcome.result.error as StorageError).reason === 'busy';
    if (isBusy && tries * busyPauseMs < this.#busyMs) return this.#readAfterPause(work, tries);
    return this.#queue.syncing === undefined ? this.#unlessLost(outcome.result) : this.#readDurable(outcome.result);
  }

  /** Waits until commits that the read has seen are durable: a power failure could still undo them. */
  async #readDurable(result: Result<unknown, unknown>): Promise<Result<unknown, unknown>> {
    await this.#queue.syncing;
    return this.#unlessLost(result);
  }

  #unlessLost(result: Result<unknown, unknown>): Result<unknown, unknown> {
    return this.#queue.lost === undefined ? result : err(this.#queue.lost);
  }

  async #readAfterPause(work: ReadWork, tries: number): Promise<Result<unknown, unknown>> {
    await new Promise((resolve) => setTimeout(resolve, busyPauseMs));
    return this.read(work, tries + 1);
  }

  /** Prepares a table in a write, as any use in a write does, and reads again. */
  async #readPrepared(work: ReadWork, table: AnyTable, tries: number): Promise<Result<unknown, unknown>> {
    if (this.#life.closing !== undefined) return err(closedFailure());
    if (tries >= preparationLimit) throw contradiction(table);
    const prepared = await this.#queue.submit((view) => ok(view.list(table, { limit: 0 })));
    return prepared.isErr() ? prepared : this.read(work, tries + 1);
  }
}

function readOnce(store: Store, work: ReadWork): ReadOutcome {
  try {
    return store.read((snapshot) => runRead(snapshot, work, (thrown) => store.failureOf(thrown)));
  } catch (thrown) {
    const error = store.failureOf(thrown);
    return error === undefined ? ({ thrown } satisfies Outcome) : { result: err(error) };
  }
}

/** The callers that wait for a change of some tables. */
export interface Waiters {
  /** Resolves at a wake, an abort or `releaseAll`, whichever comes first. The signal must not be aborted yet. */
  wait(tables: readonly string[], signal: AbortSignal): Promise<void>;
  /** Wakes all waiters of one of the tables. */
  wake(tables: Iterable<string>): void;
  releaseAll(): void;
  /** The number of signals of waiters: 0 exactly when there are no waiters. */
  count(): number;
}

type Wake = () => void;

/** Those that wait for the same tables. They are few: each place in the code waits for its own tables, in one order. */
type Group = Set<Wake>;

/** Groups of callbacks by table, so that a write wakes only the waiters of its tables, and that a waiter enters one set. */
export function waiters(): Waiters {
  const groups = new Map<string, Group>();
  const byTable = new Map<string, Group[]>();
  const bySignal = new Map<EventTarget | null, Set<Wake>>();
  // One listener for each signal, whatever the number of its waiters: thousands of them share the signal that stops an engine.
  const onAbort = (event: Event) => wakeAll(bySignal.get(event.target));
  const groupOf = (tables: readonly string[]): Group => {
    const name = tables.join();
    let group = groups.get(name);
    if (group === undefined) {
      group = new Set();
      groups.set(name, group);
      for (const table of tables) byTable.set(table, [...(byTable.get(table) ?? []), group]);
    }
    return group;
  };
  return {
    wait: (tables, signal) =>
      new Promise((resolve) => {
        const group = groupOf(tables);
        const wake = () => {
          group.delete(wake);
          if (leave(bySignal, signal, wake)) signal.removeEventListener('abort', onAbort);
          resolve();
        };
        group.add(wake);
        if (enter(bySignal, signal, wake)) signal.addEventListener('abort', onAbort);
      }),
    wake(tables) {
      for (const table of tables) for (const group of byTable.get(table) ?? []) wakeAll(group);
    },
    releaseAll() {
      for (const waiting of [...bySignal.values()]) wakeAll(waiting);
    },
    count: () => bySignal.size,
  };
}

function wakeAll(waiting: Set<Wake> | undefined): void {
  // A copy, because each callback removes itself from the set.
  if (waiting !== undefined && waiting.size > 0) for (const wake of [...waiting]) wake();
}

/** Returns whether it is the first waiter. */
function enter<K>(groups: Map<K, Set<Wake>>, group: K, wake: Wake): boolean {
  const waiting = groups.get(group);
  if (waiting === undefined) groups.set(group, new Set([wake]));
  else waiting.add(wake);
  return waiting === undefined;
}

/** Returns whether it was the last waiter. */
function leave<K>(groups: Map<K, Set<Wake>>, group: K, wake: Wake): boolean {
  const waiting = groups.get(group);
  if (waiting === undefined || !waiting.delete(wake) || waiting.size > 0) return false;
  groups.delete(group);
  return true;
}
