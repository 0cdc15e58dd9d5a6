import { err, ok, type Result } from 'neverthrow';
import type { ReadView, StorageError, WriteView, Written } from '../../src/ports/storage.js';
import type { Table } from '../../src/shared/table.js';
import { type Tables, UnboundTableError, UnstorableError } from './sqlite-catalog.js';
import { type SqliteHandle, storageErrorFrom, textOf } from './sqlite-handle.js';
import { DamagedRowError, type Run, readView, writeView } from './sqlite-views.js';

/** What a run came to: a result, or an exception of the work function that its caller must see as such. */
export type Outcome = { readonly result: Result<unknown, unknown> } | { readonly thrown: unknown };

export type ReadOutcome = Outcome | { readonly unbound: Table<unknown> };

export type ReadWork = (view: ReadView) => unknown;
export type WriteWork = (view: WriteView) => Result<unknown, unknown>;

/** What a committed batch came to. */
export interface Batch {
  readonly outcomes: readonly Outcome[];
  /** Names of the tables that the batch changed. */
  readonly changed: readonly string[];
}

export interface Transactions {
  /** Runs the work on one snapshot; `unbound` when it used a table that the file does not keep as declared yet. */
  read(work: ReadWork): ReadOutcome;
  /**
   * Runs works one after the other in one transaction, each with its own index, and commits. Throws when the transaction
   * cannot start or commit: then nothing of it happened. Asks `more` for the next work until there is none.
   */
  write(more: () => WriteWork | undefined): Batch;
  /** Brings the catalog up to date with the file. */
  refresh(): void;
}

/** After so many tries, a work is going round in circles between two definitions of one table. */
export const ADOPTION_LIMIT = 200;

const NOTHING_CHANGED: ReadonlyMap<string, number> = new Map();

/** The state of the open batch. */
interface OpenBatch {
  index: number;
  readonly changed: Map<string, number>;
  /** Whether each write that changes something gets a savepoint. */
  readonly careful: boolean;
}

/**
 * Transactions on one connection. Everything in here is synchronous from BEGIN to COMMIT, so no read of this process can
 * run in the middle of a batch, and readers of other processes see a batch only after its commit.
 */
export function sqliteTransactions(handle: SqliteHandle, tables: Tables): Transactions {
  const begin = handle.prepare('BEGIN');
  const beginWrite = handle.prepare('BEGIN IMMEDIATE');
  const commit = handle.prepare('COMMIT');
  const rollback = handle.prepare('ROLLBACK');
  const savepoint = handle.prepare('SAVEPOINT signalbox_write');
  const release = handle.prepare('RELEASE signalbox_write');
  const rollbackTo = handle.prepare('ROLLBACK TO signalbox_write');
  const saveChange = handle.prepare('UPDATE signalbox_tables SET changed_at = ? WHERE name = ?');

  return {
    read(work) {
      return readInside(work, true) ?? (readInside(work, false) as ReadOutcome);
    },

    write(more) {
      const works: WriteWork[] = [];
      return writeBatch(works, more, false) ?? (writeBatch(works, more, true) as Batch);
    },

    refresh() {
      begin.run();
      try {
        tables.refresh();
      } finally {
        commit.run();
      }
    },
  };

  /**
   * Runs a work that reads. Lazily, its first point read runs without a transaction, and a snapshot is held from the second
   * access on: when the file is still as the catalog knows it, nothing was committed in between. When it is not, the
   * answer is nothing, and the work must run again with the snapshot held from the start.
   */
  function readInside(work: ReadWork, lazily: boolean): ReadOutcome | undefined {
    let held = false;
    let pointReads = 0;
    let stale = false;
    const hold = (pointRead: boolean) => {
      if (held || (lazily && pointRead && pointReads++ === 0)) return;
      try {
        begin.run();
        held = true;
        stale = pointReads > 0 && !tables.isCurrent();
        if (stale) throw new Error('The store has changed during this read; it runs again.');
        run.index = tables.refresh().index;
      } catch (thrown) {
        run.failure ??= thrown;
        throw thrown;
      }
    };
    const run: Run = {
      tables,
      hold,
      index: 0,
      changedBefore: NOTHING_CHANGED,
      changed: new Set(),
      beforeChange: () => undefined,
      open: true,
      failure: undefined,
    };
    const outcome = outcomeOf(run, () => ok(work(readView(run))));
    // Nothing was changed, so committing ends the snapshot and cannot fail for want of space.
    if (held) commit.run();
    return stale || ('unbound' in outcome && !held) ? undefined : outcome;
  }

  /**
   * Runs and commits a batch. Savepoints around each write would cost a quarter of the time, for the rare write that fails
   * after it has changed something; so the first run goes without (`careful` is false), and when such a write spoils the
   * batch, the answer is nothing: all is rolled back, and the same works run again, now with savepoints.
   */
  function writeBatch(works: WriteWork[], more: () => WriteWork | undefined, careful: boolean): Batch | undefined {
    beginWrite.run();
    try {
      const batch: OpenBatch = { index: tables.refresh().index, changed: new Map(), careful };
      const outcomes: Outcome[] = [];
      for (;;) {
        const work = works[outcomes.length] ?? more();
        if (work === undefined) break;
        if (works.length === outcomes.length) works.push(work);
        const outcome = writeInside(batch, work);
        if (outcome === 'spoilt') {
          tables.invalidate();
          rollBackAll();
          return undefined;
        }
        outcomes.push(outcome);
      }
      for (const [name, index] of batch.changed) saveChange.run(index, name);
      commit.run();
      publish(batch);
      return { outcomes, changed: [...batch.changed.keys()] };
    } catch (thrown) {
      tables.invalidate();
      rollBackAll();
      throw thrown;
    }
  }

  function writeInside(batch: OpenBatch, work: WriteWork): Outcome | 'spoilt' {
    for (let tries = 0; ; tries++) {
      const attempt = attemptWrite(batch, work);
      if (attempt === 'spoilt' || 'result' in attempt || 'thrown' in attempt) return attempt;
      if (tries === ADOPTION_LIMIT) return { thrown: contradiction(attempt.unbound) };
      const failure = adopt(attempt.unbound);
      if (failure !== undefined) return failure;
    }
  }

  function attemptWrite(batch: OpenBatch, work: WriteWork): ReadOutcome | 'spoilt' {
    let touched = false;
    const run: Run = {
      tables,
      hold: () => undefined,
      index: batch.index + 1,
      changedBefore: batch.changed,
      changed: new Set(),
      beforeChange: () => {
        if (!touched && batch.careful) savepoint.run();
        touched = true;
      },
      open: true,
      failure: undefined,
    };
    const outcome = outcomeOf(run, () => settle(run, work(writeView(run)), batch));
    if (!touched) return outcome;
    const kept = 'result' in outcome && outcome.result.isOk();
    if (batch.careful) endSavepoint(run, kept);
    else if (!kept) return 'spoilt';
    if (kept) {
      batch.index = run.index;
      for (const name of run.changed) batch.changed.set(name, run.index);
    }
    return outcome;
  }

  function endSavepoint(run: Run, kept: boolean): void {
    try {
      if (!kept) rollbackTo.run();
      release.run();
    } catch (thrown) {
      // A full disk makes SQLite roll back everything by itself; the first failure says more than the missing savepoint.
      throw run.failure ?? thrown;
    }
  }

  /** Creates or corrects a table inside the batch; what is wrong with it concerns only the write that asked. */
  function adopt(table: Table<unknown>): Outcome | undefined {
    savepoint.run();
    try {
      tables.adopt(table);
      return undefined;
    } catch (thrown) {
      rollbackTo.run();
      tables.invalidate();
      tables.refresh();
      return failed(thrown);
    } finally {
      release.run();
    }
  }

  function publish(batch: OpenBatch): void {
    const catalog = tables.current();
    catalog.index = batch.index;
    for (const [name, index] of batch.changed) {
      const entry = catalog.tables.get(name);
      if (entry !== undefined) entry.changedAt = index;
    }
  }

  function rollBackAll(): void {
    try {
      rollback.run();
    } catch {
      // SQLite has rolled back by itself, or never began: both leave nothing to undo.
    }
  }
}

function outcomeOf(run: Run, work: () => Result<unknown, unknown>): ReadOutcome {
  let outcome: ReadOutcome;
  try {
    outcome = { result: work() };
  } catch (thrown) {
    outcome = failed(thrown);
  }
  run.open = false;
  if (run.failure instanceof UnboundTableError) return { unbound: run.failure.table };
  return run.failure === undefined ? outcome : failed(run.failure);
}

function settle(run: Run, result: Result<unknown, unknown>, batch: OpenBatch): Result<Written<unknown>, unknown> {
  if (typeof result?.isErr !== 'function') throw new TypeError('The work of a write must return a Result, at once.');
  if (result.isErr()) return err(result.error);
  const changed = run.changed.size > 0;
  return ok({ value: result.value, index: changed ? run.index : batch.index, changed });
}

/** The failures that the port knows become its error; any other exception is the work function's own. */
function failed(thrown: unknown): Outcome {
  const error = storageErrorOf(thrown);
  return error === undefined ? { thrown } : { result: err(error) };
}

function storageErrorOf(thrown: unknown): StorageError | undefined {
  if (thrown instanceof UnstorableError) return failure('invalid_record', thrown);
  if (thrown instanceof DamagedRowError) return failure('corrupt', thrown);
  return storageErrorFrom(thrown);
}

function failure(reason: StorageError['reason'], thrown: Error): StorageError {
  return { type: 'storage_failed', reason, message: textOf(thrown) };
}

/** The defect that such circles show. */
export function contradiction(table: Table<unknown>): Error {
  return new Error(`Table ${table.name} is declared with different indexes in one transaction, or in two processes.`);
}
