import { errAsync } from 'neverthrow';
import type { Storage } from '../../src/ports/storage.js';
import { storageFailure } from '../../src/storage/failures.js';

export interface Watch {
  /** Called before each write; false refuses it. */
  each: (() => boolean) | undefined;
}

/** A storage that calls back before each write while it is watched, and refuses the write when that gives false. */
export function watchedWrites(storage: Storage): { readonly storage: Storage; readonly watch: Watch } {
  const watch: Watch = { each: undefined };
  const over: Storage = {
    ...storage,
    write: (work) =>
      watch.each?.() === false ? errAsync(storageFailure('io', 'the test ends the process here')) : storage.write(work),
  };
  return { storage: over, watch };
}
