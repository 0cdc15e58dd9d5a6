import { err, ok, type Result, ResultAsync } from 'neverthrow';
import type { ListQuery, ReadView, Row, Storage, StorageError, WriteView, Written } from '../../src/ports/storage.js';
import { keyBounds, unitOrdered } from '../../src/shared/key-encoding.js';
import type { Key, Table } from '../../src/shared/table.js';
import { type ParsedRows, parsedRows, StoredRow } from './memory-storage-row.js';
import {
  adoptIndexes,
  entriesOf,
  type MemoryTable,
  memoryTable,
  placeOf,
  replaceRow,
  UnstorableError,
} from './memory-storage-table.js';
import { waiters } from './memory-storage-waiters.js';

export interface MemoryStorageOptions {
  /**
   * How many characters of stored text may have their parsed values kept beside them; 64 million when absent. More makes
   * repeated reads of many rows quicker and full garbage collections slower.
   */
  readonly parsedBudget?: number;
  /**
   * Runs each write's work once in vain, and rolls it back, before the run that counts. A store may run a work again, and
   * under this option a test finds the work that keeps something outside of the store and does not expect it.
   */
  readonly rehearseWrites?: boolean;
}

interface State {
  index: number;
  readonly tables: Map<string, MemoryTable>;
  readonly bound: WeakMap<object, MemoryTable>;
  readonly recent: ParsedRows;
}

/** One run of a work function. A view that outlives its run must not show a later state as if it were the old one. */
interface Run {
  readonly index: number;
  open: boolean;
  readonly undo: Change[];
  readonly touched: Set<MemoryTable>;
}

interface Change {
  readonly table: MemoryTable;
  readonly before: StoredRow | undefined;
  readonly after: StoredRow | undefined;
}

/** A read changes nothing, so all reads share these. */
const NO_CHANGES: Change[] = [];
const NO_TABLES: Set<MemoryTable> = new Set();

/**
 * A store in this process's memory: for tests, examples and single processes that may forget. Same rules as the durable
 * adapters, proven by the same conformance suite; nothing survives the process. An exception that a work function throws
 * rolls back and rejects the promise: it is a defect of the caller, not a failure of the store.
 */
export function memoryStorage(options: MemoryStorageOptions = {}): Storage {
  const state: State = {
    index: 1,
    tables: new Map(),
    bound: new WeakMap(),
    recent: parsedRows(options.parsedBudget ?? 64_000_000),
  };
  const waiting = waiters();
  let closed = false;

  return {
    read: (work) => later(() => (closed ? err(closedError()) : runRead(state, work))),

    write(work) {
      if (closed) return new ResultAsync(Promise.resolve(err(closedError())));
      return later(() => {
        if (options.rehearseWrites === true) rehearse(state, work);
        return runWrite(state, work, (tables) => waiting.wake(tables));
      });
    },

    async waitForChange(tables, after, signal) {
      const names = tables.map((table) => table.name);
      while (!closed && !signal.aborted && highestIndex(state, names) <= after) await waiting.wait(names, signal);
      return highestIndex(state, names);
    },

    async close() {
      closed = true;
      // Accepted writes are already queued as microtasks; this one queues behind them.
      await Promise.resolve();
      waiting.releaseAll();
    },
  };
}

/** Runs on the microtask queue: a call from inside a work function then waits for its end, so nothing interleaves. */
function later<T, E>(run: () => Result<T, E>): ResultAsync<T, E> {
  return new ResultAsync(Promise.resolve().then(run));
}

function runRead<T>(state: State, work: (view: ReadView) => T): Result<T, StorageError> {
  const run: Run = { index: state.index, open: true, undo: NO_CHANGES, touched: NO_TABLES };
  try {
    return ok(work(readView(state, run)));
  } catch (thrown) {
    return err(unstorable(thrown));
  } finally {
    run.open = false;
  }
}

function runWrite<T, E>(
  state: State,
  work: (view: WriteView) => Result<T, E>,
  wake: (tables: Iterable<string>) => void,
): Result<Written<T>, E | StorageError> {
  const run: Run = { index: state.index + 1, open: true, undo: [], touched: new Set() };
  let result: Result<T, E>;
  try {
    result = work(writeView(state, run));
    if (typeof result?.isErr !== 'function') throw new TypeError('The work of a write must return a Result, at once.');
  } catch (thrown) {
    rollBack(run);
    return err(unstorable(thrown));
  } finally {
    run.open = false;
  }
  if (result.isErr()) {
    rollBack(run);
    return err(result.error);
  }
  if (run.undo.length === 0) return ok({ value: result.value, index: state.index, changed: false });
  state.index = run.index;
  for (const table of run.touched) table.changedAt = run.index;
  wake(Array.from(run.touched, (table) => table.name));
  return ok({ value: result.value, index: run.index, changed: true });
}

function rehearse<T, E>(state: State, work: (view: WriteView) => Result<T, E>): void {
  const run: Run = { index: state.index + 1, open: true, undo: [], touched: new Set() };
  try {
    forget(work(writeView(state, run)));
  } catch {
    // The run that counts meets the same exception and answers with it.
  }
  run.open = false;
  rollBack(run);
}

/** What a rehearsal comes to decides nothing. */
function forget(_result: unknown): void {}

function rollBack(run: Run): void {
  for (const change of run.undo.reverse()) replaceRow(change.table, change.after, change.before);
}

function readView(state: State, run: Run): ReadView {
  return {
    index: run.index,
    get: (table, key) => getRow(state, run, table, key),
    list: (table, query) => listRows(state, run, table, query ?? {}),
    tableIndex: (table) => tableIndex(state, run, table.name),
  };
}

function writeView(state: State, run: Run): WriteView {
  return {
    ...readView(state, run),
    put: (table, record) => putRow(state, run, table, record),
    remove: (table, key) => removeRow(state, run, table, key),
  };
}

function getRow<R>(state: State, run: Run, table: Table<R>, key: Key): Row<R> | undefined {
  const bound = bind(state, run, table);
  return bound.rows.get(placeOf(bound, key)) as Row<R> | undefined;
}

function listRows<R>(state: State, run: Run, table: Table<R>, query: ListQuery): Row<R>[] {
  const bound = bind(state, run, table);
  const bounds = keyBounds(query);
  if (bounds === undefined) throw new UnstorableError(`A list of table ${table.name} is bounded by what is no key.`);
  const limit = query.limit ?? Number.POSITIVE_INFINITY;
  const rows = orderFor(bound, query.index).scan(
    unitOrdered(bounds.lower),
    unitOrdered(bounds.upper),
    query.reverse === true,
    limit,
  );
  return rows as Row<unknown>[] as Row<R>[];
}

function orderFor(table: MemoryTable, index: string | undefined): MemoryTable['order'] {
  if (index === undefined) return table.order;
  const position = table.indexByName.get(index);
  const found = position === undefined ? undefined : table.indexes[position];
  if (found === undefined) throw new UnstorableError(`Table ${table.name} declares no index ${index}.`);
  return found.order;
}

function tableIndex(state: State, run: Run, name: string): number {
  assertOpen(run);
  const table = state.tables.get(name);
  if (table === undefined) return 1;
  return run.touched.has(table) ? run.index : table.changedAt;
}

function putRow<R>(state: State, run: Run, table: Table<R>, record: R): void {
  const bound = bind(state, run, table);
  const text = serialise(table.name, record);
  const place = placeOf(bound, table.key(record));
  const entries = entriesOf(bound, record, place);
  const before = bound.rows.get(place);
  change(run, {
    table: bound,
    before,
    after: new StoredRow(text, before?.createIndex ?? run.index, run.index, place, entries, state.recent),
  });
}

function removeRow<R>(state: State, run: Run, table: Table<R>, key: Key): boolean {
  const bound = bind(state, run, table);
  const before = bound.rows.get(placeOf(bound, key));
  if (before === undefined) return false;
  change(run, { table: bound, before, after: undefined });
  return true;
}

function change(run: Run, step: Change): void {
  replaceRow(step.table, step.before, step.after);
  run.undo.push(step);
  run.touched.add(step.table);
}

function bind<R>(state: State, run: Run, definition: Table<R>): MemoryTable {
  assertOpen(run);
  const known = state.bound.get(definition);
  if (known !== undefined) return known;
  const table = state.tables.get(definition.name) ?? memoryTable(definition.name);
  adoptIndexes(table, definition);
  state.tables.set(definition.name, table);
  state.bound.set(definition, table);
  return table;
}

function assertOpen(run: Run): void {
  if (!run.open)
    throw new Error('This storage view has ended: use it only inside the work function, before it returns.');
}

/** JSON's own rules apply: undefined members vanish, NaN becomes null, what JSON cannot print is refused. */
function serialise(table: string, record: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(record);
  } catch {
    text = undefined;
  }
  if (text === undefined)
    throw new UnstorableError(`A record for table ${table} is not JSON: circular, BigInt or no value.`);
  return text;
}

function highestIndex(state: State, names: readonly string[]): number {
  return names.reduce((highest, name) => Math.max(highest, state.tables.get(name)?.changedAt ?? 1), 1);
}

function unstorable(thrown: unknown): StorageError {
  if (!(thrown instanceof UnstorableError)) throw thrown;
  return { type: 'storage_failed', reason: 'invalid_record', message: thrown.message };
}

function closedError(): StorageError {
  return { type: 'storage_failed', reason: 'closed', message: 'The store is closed.' };
}
