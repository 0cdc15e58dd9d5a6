import type { Result } from 'neverthrow';
import { err } from 'neverthrow';
import type { StorageError } from '../../src/ports/storage.js';
import { storageFailure } from '../../src/storage/failures.js';
import { type Batch, type Outcome, runBatch, type TransactionStore, type WriteWork } from './batches.js';

export interface WriteQueue {
  /** Queues a write. Rejects only with an exception of the work function itself. */
  submit(work: WriteWork): Promise<Result<unknown, unknown>>;
  /** Resolves when no accepted write is waiting. */
  drained(): Promise<void>;
}

export interface WriteQueueOptions {
  /**
   * When the next batch is cut: `setImmediate` for a store whose commits cost a disk sync, because requests complete in
   * callbacks of their own and a microtask would never see two of them; a microtask for a store without that cost.
   */
  readonly schedule: (cut: () => void) => void;
  /** How long a write waits while the store is busy with another process's, before it fails as `busy`. */
  readonly busyMs: number;
  /** Called after each commit with the names of the changed tables, once the answers are on their way. */
  readonly onCommit: (changed: readonly string[]) => void;
}

interface Waiting {
  readonly work: WriteWork;
  readonly since: number;
  readonly resolve: (result: Result<unknown, unknown>) => void;
  readonly reject: (thrown: unknown) => void;
}

/** A batch takes no more writes after this many milliseconds, so that one turn of the event loop stays short under load. */
const batchMs = 8;
const batchLimit = 512;
const firstRetryMs = 1;
const lastRetryMs = 50;

/**
 * Commits waiting writes together: one disk sync for all. While another process holds the store, the batch waits without
 * blocking the event loop.
 */
export function writeQueue(store: TransactionStore, options: WriteQueueOptions): WriteQueue {
  let queue: Waiting[] = [];
  let scheduled = false;
  let retryMs = firstRetryMs;
  let idle: (() => void)[] = [];

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    options.schedule(flush);
  }

  function flush(): void {
    scheduled = false;
    const batch: Waiting[] = [];
    const started = performance.now();
    let committed: Batch;
    try {
      committed = runBatch(store, () => {
        const next = queue[batch.length];
        if (next === undefined || batch.length === batchLimit) return undefined;
        if (batch.length > 0 && performance.now() - started > batchMs) return undefined;
        batch.push(next);
        return next.work;
      });
    } catch (thrown) {
      fail(batch, thrown);
      return;
    }
    retryMs = firstRetryMs;
    queue = queue.slice(batch.length);
    for (const [position, waiting] of batch.entries()) settle(waiting, committed.outcomes[position] as Outcome);
    if (committed.changed.length > 0) options.onCommit(committed.changed);
    proceed();
  }

  /** Nothing of the batch happened. A busy store is waited for; any other failure is the answer to all of the batch. */
  function fail(batch: readonly Waiting[], thrown: unknown): void {
    const error = store.failureOf(thrown);
    if (error?.reason === 'busy') {
      const deadline = performance.now() - options.busyMs;
      const expired = queue.filter((waiting) => waiting.since <= deadline);
      queue = queue.filter((waiting) => waiting.since > deadline);
      for (const waiting of expired) settle(waiting, { result: err(error) });
      if (queue.length > 0) {
        scheduled = true;
        setTimeout(flush, retryMs);
        retryMs = Math.min(retryMs * 2, lastRetryMs);
        return;
      }
    } else {
      // A transaction that cannot even begin fails the first waiting write; the next one tries again.
      const failed = batch.length > 0 ? batch : queue.slice(0, 1);
      queue = queue.slice(failed.length);
      for (const waiting of failed) settle(waiting, { result: err(error ?? unknownFailure(thrown)) });
    }
    proceed();
  }

  function proceed(): void {
    if (queue.length > 0) {
      schedule();
      return;
    }
    for (const resolve of idle) resolve();
    idle = [];
  }

  return {
    submit: (work) =>
      new Promise((resolve, reject) => {
        queue.push({ work, since: performance.now(), resolve, reject });
        schedule();
      }),
    drained: () =>
      new Promise((resolve) => {
        if (queue.length === 0) resolve();
        else idle.push(resolve);
      }),
  };
}

function settle(waiting: Waiting, outcome: Outcome): void {
  if ('result' in outcome) waiting.resolve(outcome.result);
  else waiting.reject(outcome.thrown);
}

function unknownFailure(thrown: unknown): StorageError {
  return storageFailure('io', `The store failed: ${thrown instanceof Error ? thrown.message : String(thrown)}.`);
}
