import { err, ok, type Result } from 'neverthrow';
import type { ReadView, StorageError, WriteView, Written } from '../../src/ports/storage.js';
import { messageOf } from '../../src/shared/values.js';
import { Overlay, type Snapshot } from '../../src/storage/overlay.js';
import { type AnyTable, failureOfRecord, storageFailure } from '../../src/storage/records.js';
import { OverlayView, SnapshotView } from '../../src/storage/views.js';

export type ReadWork = (view: ReadView) => unknown;
export type WriteWork = (view: WriteView) => Result<unknown, unknown>;

/** The outcome of a run: a result, or an exception of the work function that is passed on to its caller. */
export type Outcome = { readonly result: Result<unknown, unknown> } | { readonly thrown: unknown };

/** Thrown by a snapshot for a table that the store has not prepared as declared yet. */
export class UnpreparedTableError extends Error {
  constructor(readonly table: AnyTable) {
    super(`Table ${table.name} must be prepared first.`);
  }
}

/** The part of a store that each adapter implements: transactions over its own medium. All but `sync` is synchronous. */
export interface TransactionStore {
  /** Starts an exclusive write transaction. Throws when it cannot. */
  begin(): Snapshot;
  /** Prepares the table as declared, inside the open transaction. Throws when it cannot, and then has changed nothing. */
  prepare(table: AnyTable): void;
  /**
   * Stores the changes and ends the transaction. Throws when nothing was stored. What is stored has the durability of the store, unless
   * there is `sync`.
   */
  commit(changes: Overlay): void;
  /**
   * Makes the last commit, for which `writes` writes wait, durable without blocking the event loop; undefined if it is durable already
   * or has changed nothing. Rejects if the medium does not confirm it: then the state after a restart is unknown. Nothing is committed
   * meanwhile.
   */
  sync?(writes: number): Promise<void> | undefined;
  /** Ends the transaction without a change. Never throws. */
  rollBack(): void;
  /** The port's error for an exception of the medium; undefined for any other exception. */
  failureOf(thrown: unknown): StorageError | undefined;
}

/** The outcome of a committed batch. */
interface Batch {
  readonly outcomes: readonly Outcome[];
  /** Names of the tables that it changed. */
  readonly changed: readonly string[];
}

/** After this many attempts, a work is assumed to alternate endlessly between incompatible definitions of one table. */
const preparationLimit = 200;

/**
 * Runs works one after the other in one transaction, each on a separate overlay and with a separate index, and commits
 * what the successful ones changed. A work that fails changes nothing and does not affect the others. Calls `more` for the next
 * work until there is none. Throws when the transaction cannot start or commit: then nothing was stored.
 */
export function runBatch(store: TransactionStore, more: () => WriteWork | undefined): Batch {
  const snapshot = store.begin();
  try {
    const batch = new Overlay(snapshot, snapshot.index);
    const outcomes: Outcome[] = [];
    for (let work = more(); work !== undefined; work = more()) outcomes.push(runWrite(store, batch, work));
    store.commit(batch);
    return { outcomes, changed: batch.changedTables };
  } catch (thrown) {
    store.rollBack();
    throw thrown;
  }
}

/** Runs a read on a snapshot. `unprepared` when a table must be prepared by a write first. */
export function runRead(
  snapshot: Snapshot,
  work: ReadWork,
  failureOf: TransactionStore['failureOf'],
): Outcome | { readonly unprepared: AnyTable } {
  const view = new SnapshotView(snapshot);
  return outcomeOf(view, () => ok(work(view)), failureOf);
}

function runWrite(store: TransactionStore, batch: Overlay, work: WriteWork): Outcome {
  for (let tries = 0; ; tries += 1) {
    const overlay = new Overlay(batch, batch.index + 1);
    const view = new OverlayView(overlay);
    const outcome = outcomeOf(
      view,
      () => written(overlay, batch, work(view)),
      (thrown) => store.failureOf(thrown),
    );
    if ('unprepared' in outcome) {
      if (tries === preparationLimit) return { thrown: contradiction(outcome.unprepared) };
      const failed = prepare(store, outcome.unprepared);
      if (failed !== undefined) return failed;
      continue;
    }
    if (overlay.isChanged && 'result' in outcome && outcome.result.isOk()) batch.absorb(overlay);
    return outcome;
  }
}

/** A fault of a table affects only the write that uses it. */
function prepare(store: TransactionStore, table: AnyTable): Outcome | undefined {
  try {
    store.prepare(table);
    return undefined;
  } catch (thrown) {
    return failed(thrown, (given) => store.failureOf(given));
  }
}

function written(
  overlay: Overlay,
  batch: Overlay,
  result: Result<unknown, unknown>,
): Result<Written<unknown>, unknown> {
  if (typeof result?.isErr !== 'function')
    throw new TypeError('The work of a write must return a Result synchronously.');
  if (result.isErr()) return err(result.error);
  const changed = overlay.isChanged;
  return ok({ value: result.value, index: changed ? overlay.index : batch.index, changed });
}

function outcomeOf(
  view: SnapshotView,
  work: () => Result<unknown, unknown>,
  failureOf: TransactionStore['failureOf'],
): Outcome | { readonly unprepared: AnyTable } {
  let outcome: Outcome;
  try {
    outcome = { result: work() };
  } catch (thrown) {
    outcome = failed(thrown, failureOf);
  }
  view.end();
  // Even if the work caught it and continued.
  if (view.failure instanceof UnpreparedTableError) return { unprepared: view.failure.table };
  return view.failure === undefined ? outcome : failed(view.failure, failureOf);
}

/** Failures of the medium become the port's error; any other exception is an exception of the work. */
function failed(thrown: unknown, failureOf: TransactionStore['failureOf']): Outcome {
  const error = failureOfRecord(thrown) ?? failureOf(thrown);
  return error === undefined ? { thrown } : { result: err(error) };
}

/** The error for a work that alternates between table definitions. */
export function contradiction(table: AnyTable): Error {
  return new Error(`Table ${table.name} is declared with different indexes in one transaction, or in two processes.`);
}

export interface WriteQueue {
  /** Queues a write. Rejects only with an exception of the work function itself. */
  submit(work: WriteWork): Promise<Result<unknown, unknown>>;
  /** Resolves when no accepted write is waiting. */
  drained(): Promise<void>;
  /**
   * Readers of the last commit must wait for this: it is visible, but a power failure may still undo it. Resolves when it is
   * durable or `lost`. Undefined if it is durable.
   */
  readonly syncing: Promise<void> | undefined;
  /** The error that closed the store: the medium did not confirm a commit that readers may have seen. */
  readonly lost: StorageError | undefined;
}

export interface WriteQueueOptions {
  /**
   * When the next batch is cut: `setImmediate` for a store whose commits cost a disk sync, because requests complete in
   * separate callbacks and a microtask would never see two of them; a microtask for a store without that cost.
   */
  readonly schedule: (cut: () => void) => void;
  /** How long a write waits while another process writes, before it fails as `busy`. */
  readonly busyMs: number;
  /** Called after each commit with the names of the changed tables, when the results are settled. */
  readonly onCommit: (changed: readonly string[]) => void;
}

interface Waiting {
  readonly work: WriteWork;
  readonly since: number;
  readonly resolve: (result: Result<unknown, unknown>) => void;
  readonly reject: (thrown: unknown) => void;
}

/** A batch accepts no more writes after this many milliseconds, so that one turn of the event loop stays short under load. */
const batchMs = 8;
const batchLimit = 512;
const firstRetryMs = 1;
const lastRetryMs = 50;

/**
 * Commits waiting writes together: one disk sync for all. While another process holds the store, the batch waits without
 * blocking the event loop.
 */
export function writeQueue(store: TransactionStore, options: WriteQueueOptions): WriteQueue {
  return new GroupCommits(store, options);
}

class GroupCommits implements WriteQueue {
  readonly #store: TransactionStore;
  readonly #options: WriteQueueOptions;
  #queue: Waiting[] = [];
  #scheduled = false;
  #retryMs = firstRetryMs;
  #idle: (() => void)[] = [];
  syncing: Promise<void> | undefined;
  lost: StorageError | undefined;

  constructor(store: TransactionStore, options: WriteQueueOptions) {
    this.#store = store;
    this.#options = options;
  }

  submit(work: WriteWork): Promise<Result<unknown, unknown>> {
    if (this.lost !== undefined) return Promise.resolve(err(this.lost));
    return new Promise((resolve, reject) => {
      this.#queue.push({ work, since: performance.now(), resolve, reject });
      this.#schedule();
    });
  }

  drained(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#queue.length === 0 && this.syncing === undefined) resolve();
      else this.#idle.push(resolve);
    });
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#options.schedule(() => this.#flush());
  }

  #flush(): void {
    this.#scheduled = false;
    const batch: Waiting[] = [];
    const started = performance.now();
    let committed: Batch;
    try {
      committed = runBatch(this.#store, () => {
        const next = this.#queue[batch.length];
        if (next === undefined || batch.length === batchLimit) return undefined;
        if (batch.length > 0 && performance.now() - started > batchMs) return undefined;
        batch.push(next);
        return next.work;
      });
    } catch (thrown) {
      this.#fail(batch, thrown);
      return;
    }
    this.#retryMs = firstRetryMs;
    this.#queue = this.#queue.slice(batch.length);
    const syncing = this.#store.sync?.(batch.length);
    if (syncing === undefined) this.#finish(batch, committed);
    else this.#finishAfter(syncing, batch, committed);
  }

  #finish(batch: readonly Waiting[], committed: Batch): void {
    for (const [position, waiting] of batch.entries()) settle(waiting, committed.outcomes[position] as Outcome);
    if (committed.changed.length > 0) this.#options.onCommit(committed.changed);
    this.#proceed();
  }

  /** Writes that arrive meanwhile wait for the next batch, so that more of them share its sync. */
  #finishAfter(syncing: Promise<void>, batch: readonly Waiting[], committed: Batch): void {
    this.#scheduled = true;
    const settled = (): void => {
      this.#scheduled = false;
      this.syncing = undefined;
    };
    this.syncing = syncing.then(
      () => {
        settled();
        this.#finish(batch, committed);
      },
      (thrown: unknown) => {
        settled();
        this.#lose(batch, committed.changed, thrown);
      },
    );
  }

  /** The writes of the batch are visible, but may be lost: the store closes, and a restart reads the actual state. */
  #lose(batch: readonly Waiting[], changed: readonly string[], thrown: unknown): void {
    const lost = storageFailure(
      'io',
      `The disk did not confirm a write (${messageOf(thrown)}): restart the process to read the actual state.`,
    );
    this.lost = lost;
    for (const waiting of [...batch, ...this.#queue]) settle(waiting, { result: err(lost) });
    this.#queue = [];
    this.#options.onCommit(changed);
    this.#proceed();
  }

  /**
   * Called when nothing of the batch was stored. A busy store is retried; any other failure is the result of every write of the
   * batch.
   */
  #fail(batch: readonly Waiting[], thrown: unknown): void {
    const error = this.#store.failureOf(thrown);
    if (error?.reason === 'busy') {
      this.#expire();
      if (this.#queue.length > 0) {
        this.#retry();
        return;
      }
    } else {
      // A transaction that cannot even begin fails the first waiting write; the next one tries again.
      const failed = batch.length > 0 ? batch : this.#queue.slice(0, 1);
      this.#queue = this.#queue.slice(failed.length);
      for (const waiting of failed) settle(waiting, { result: err(error ?? unknownFailure(thrown)) });
    }
    this.#proceed();
  }

  /** Fails the writes whose `busyMs` has passed. */
  #expire(): void {
    const { busyMs } = this.#options;
    const error = storageFailure(
      'busy',
      `Another process has held the write lock of the store for ${busyMs / 1000} s. End that process if it is suspended or frozen; nothing was written.`,
    );
    const deadline = performance.now() - busyMs;
    const expired = this.#queue.filter((waiting) => waiting.since <= deadline);
    this.#queue = this.#queue.filter((waiting) => waiting.since > deadline);
    for (const waiting of expired) settle(waiting, { result: err(error) });
  }

  #retry(): void {
    this.#scheduled = true;
    setTimeout(() => this.#flush(), this.#retryMs);
    this.#retryMs = Math.min(this.#retryMs * 2, lastRetryMs);
  }

  #proceed(): void {
    if (this.#queue.length > 0) {
      this.#schedule();
      return;
    }
    for (const resolve of this.#idle) resolve();
    this.#idle = [];
  }
}

function settle(waiting: Waiting, outcome: Outcome): void {
  if ('result' in outcome) waiting.resolve(outcome.result);
  else waiting.reject(outcome.thrown);
}

function unknownFailure(thrown: unknown): StorageError {
  return storageFailure('io', `The store failed: ${messageOf(thrown)}.`);
}
