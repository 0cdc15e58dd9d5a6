import { ResultAsync } from 'neverthrow';

type Operations = typeof import('./all-operations.js');

let loaded: Operations | undefined;
let loading: Promise<Operations> | undefined;

/**
 * The operations and loops, which are half of the code. They are no part of what `import 'signalbox'` loads: `createEngine` begins
 * to load them, and what needs them waits.
 */
export function loadOperations(): Promise<Operations> {
  loading ??= import('./all-operations.js').then(
    (operations) => {
      loaded = operations;
      return operations;
    },
    (cause: unknown) => {
      loading = undefined;
      throw new Error(`A file of the package signalbox cannot be loaded; install the package again: ${String(cause)}`, {
        cause,
      });
    },
  );
  return loading;
}

/** Performs `work` with the operations: at once when they have been loaded. */
export function withOperations<T, E>(work: (operations: Operations) => ResultAsync<T, E>): ResultAsync<T, E> {
  return loaded === undefined ? new ResultAsync(loadOperations().then(work)) : work(loaded);
}
