import { err, ok, type Result, ResultAsync } from 'neverthrow';
import type { ReadView, Storage, StorageError, WriteView, Written } from '../../src/ports/storage.js';

/** A row or list that must be fetched before the work can continue. */
class Missing extends Error {}

/**
 * The same storage, behaving like a store over a network (decision 006): an exception interrupts a work function at the first row or
 * list that was not fetched yet, and the work runs again when it is available.
 */
export function fetching(storage: Storage): Storage {
  return {
    read: <T>(work: (view: ReadView) => T) => new ResultAsync(reading(storage, work)),
    write: <T, E>(work: (view: WriteView) => Result<T, E>) => new ResultAsync(writing(storage, work)),
    waitForChange: (tables, after, signal) => storage.waitForChange(tables, after, signal),
    close: () => storage.close(),
  };
}

async function reading<T>(storage: Storage, work: (view: ReadView) => T): Promise<Result<T, StorageError>> {
  const fetched = new Set<string>();
  for (;;) {
    const run = await storage.read((view) => interrupted(view, fetched, work));
    if (run.isErr()) return err(run.error);
    if (run.value !== 'missing') return ok(run.value.done);
  }
}

async function writing<T, E>(
  storage: Storage,
  work: (view: WriteView) => Result<T, E>,
): Promise<Result<Written<T>, E | StorageError>> {
  const fetched = new Set<string>();
  for (;;) {
    const run = await storage.write<T, E | 'missing' | StorageError>((view) => {
      const outcome = interrupted(view, fetched, work);
      return outcome === 'missing' ? err('missing') : outcome.done;
    });
    if (run.isErr() && run.error === 'missing') continue;
    return run as Result<Written<T>, E | StorageError>;
  }
}

/** Runs the work to its end, or to the first missing row or list, which is then fetched. */
function interrupted<V extends ReadView, T>(
  view: V,
  fetched: Set<string>,
  work: (view: V) => T,
): { readonly done: T } | 'missing' {
  let isInterrupted = false;
  const over = new Proxy(view, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]): unknown => {
        if (name === 'get' || name === 'list') {
          const [table, what] = args as [{ readonly name: string }, unknown];
          const asked = JSON.stringify([name, table.name, what]);
          isInterrupted ||= !fetched.has(asked);
          fetched.add(asked);
        }
        if (isInterrupted) throw new Missing('not fetched yet');
        return Reflect.apply(member, target, args);
      };
    },
  });
  try {
    const done = work(over);
    return isInterrupted ? 'missing' : { done };
  } catch (thrown) {
    if (isInterrupted) return 'missing';
    throw thrown;
  }
}
