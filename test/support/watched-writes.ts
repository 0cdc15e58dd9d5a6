import { errAsync } from 'neverthrow';
import type { Storage } from '../../src/ports/storage.js';
import { storageFailure } from '../../src/storage/records.js';

export interface Watch {
  /** Called before each write; false refuses it. */
  each: (() => boolean) | undefined;
}

/** A storage that calls back before each write while it is watched, and refuses the write if the callback returns false. */
export function watchedWrites(storage: Storage): { readonly storage: Storage; readonly watch: Watch } {
  const watch: Watch = { each: undefined };
  const over: Storage = {
    ...storage,
    write: (work) =>
      watch.each?.() === false ? errAsync(storageFailure('io', 'the test ends the process here')) : storage.write(work),
  };
  return { storage: over, watch };
}

/** The result of an operation whose writes after the given number are refused, as if the process had been killed. */
export async function killedAfter<T>(writes: number, watch: Watch, act: () => PromiseLike<T>): Promise<T> {
  let left = writes;
  watch.each = () => {
    left -= 1;
    return left >= 0;
  };
  const outcome = await act();
  watch.each = undefined;
  return outcome;
}

/** The result of an operation, and the number of its writes. */
export async function countedWrites<T>(watch: Watch, act: () => PromiseLike<T>): Promise<readonly [T, number]> {
  let writes = 0;
  watch.each = () => {
    writes += 1;
    return true;
  };
  const outcome = await act();
  watch.each = undefined;
  return [outcome, writes];
}
