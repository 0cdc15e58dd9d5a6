import type { Result } from 'neverthrow';
import { err, ok } from 'neverthrow';
import type { ReadView, StorageError, WriteView, Written } from '../../src/ports/storage.js';
import { failureOfRecord } from '../../src/storage/failures.js';
import { Overlay, type Snapshot } from '../../src/storage/overlay.js';
import type { AnyTable } from '../../src/storage/records.js';
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
export interface Batch {
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
