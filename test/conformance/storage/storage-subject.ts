import assert from 'node:assert/strict';
import { type Err, err, type Ok, ok, type Result } from 'neverthrow';
import type { ReadView, Storage, StorageError, WriteView, Written } from '../../../src/ports/storage.js';
import { type Key, table } from '../../../src/shared/table.js';

/** A store under test. */
export interface StorageSubject {
  /** A new, empty store for each test; the suite closes it. */
  readonly open: () => Promise<Storage>;
  /** Opens the data of a store again after the suite has closed it. Absent if data do not survive closing. */
  readonly reopen?: (closed: Storage) => Promise<Storage>;
  /** A second, independent connection to the same data, as another process would have; the suite closes it. */
  readonly share?: (storage: Storage) => Promise<Storage>;
}

/** Any runner's `test(name, body)`. */
export type TestFunction = (name: string, run: () => Promise<void>) => unknown;

/** The record of most cases: a key of any shape, and a rank that may leave it out of the index. */
export interface Thing {
  readonly key: Key;
  readonly rank?: Key;
  readonly text?: string;
}

export const things = table<Thing>('things', (thing) => thing.key, {
  byRank: { version: 1, key: (thing) => thing.rank },
});
export const others = table<Thing>('others', (thing) => thing.key);
export const unused = table<Thing>('unused', (thing) => thing.key);

export const never: AbortSignal = new AbortController().signal;

/** Declares a case with a new store, which is closed in any case. */
export function withStore(
  test: TestFunction,
  subject: StorageSubject,
  name: string,
  run: (storage: Storage) => Promise<void>,
): void {
  test(name, async () => {
    const storage = await subject.open();
    try {
      await run(storage);
    } finally {
      await storage.close();
    }
  });
}

/** Commits one write that must succeed. */
export async function commit<T>(storage: Storage, work: (view: WriteView) => T): Promise<Written<T>> {
  return valueFrom(await storage.write((view): Result<T, never> => ok(work(view))));
}

/** Stores things, all in one write. */
export async function store(storage: Storage, ...rows: Thing[]): Promise<Written<void>> {
  return commit(storage, (view) => {
    for (const row of rows) view.put(things, row);
  });
}

export async function look<T>(storage: Storage, work: (view: ReadView) => T): Promise<T> {
  return valueFrom(await storage.read(work));
}

export function valueFrom<T, E>(result: Ok<T, E> | Err<T, E>): T {
  if (result.isErr()) assert.fail(`expected a value, got ${JSON.stringify(result.error)}`);
  return result.value;
}

export function errorOf<T, E>(result: Ok<T, E> | Err<T, E>): E {
  if (result.isOk()) assert.fail(`expected an error, got ${JSON.stringify(result.value)}`);
  return result.error;
}

/** Asserts a store failure with this reason. */
export function assertFailed(result: Result<unknown, unknown>, reason: StorageError['reason']): void {
  const error = errorOf(result) as StorageError;
  assert.equal(error.type, 'storage_failed');
  assert.equal(error.reason, reason);
  assert.ok(error.message.length > 0);
}

/** A failing work function. */
export function refuse(reason = 'refused'): Result<never, string> {
  return err(reason);
}

/** Whether a promise settles within a few turns of the event loop. */
export async function settlesSoon(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const note = () => {
    settled = true;
  };
  promise.then(note, note);
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  return settled;
}
