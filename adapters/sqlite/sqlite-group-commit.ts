import type { Result } from 'neverthrow';
import { err } from 'neverthrow';
import type { StorageError } from '../../src/ports/storage.js';
import { isBusy, storageErrorFrom, textOf } from './sqlite-handle.js';
import type { Batch, Outcome, Transactions, WriteWork } from './sqlite-transactions.js';

export interface GroupCommit {
  /** Queues a write. Rejects only with an exception of the work function itself. */
  submit(work: WriteWork): Promise<Result<unknown, unknown>>;
  /** Resolves when no accepted write is waiting. */
  drained(): Promise<void>;
}

interface Waiting {
  readonly work: WriteWork;
  readonly since: number;
  readonly resolve: (result: Result<unknown, unknown>) => void;
  readonly reject: (thrown: unknown) => void;
}

/** A batch stops taking writes after this many milliseconds, so that one loop turn stays short under load. */
const BATCH_MS = 8;
const BATCH_LIMIT = 512;
const FIRST_RETRY_MS = 1;
const LAST_RETRY_MS = 50;

/**
 * Commits waiting writes together: one disk sync for all. The batch is cut on `setImmediate`, because requests complete in
 * callbacks of their own and a microtask queue would never see two of them. While another process holds the write lock,
 * the batch waits without blocking the event loop, for at most `busyMs`.
 */
export function groupCommit(
  transactions: Transactions,
  busyMs: number,
  onCommit: (changed: readonly string[]) => void,
): GroupCommit {
  let queue: Waiting[] = [];
  let scheduled = false;
  let retryMs = FIRST_RETRY_MS;
  let idle: (() => void)[] = [];

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(flush);
  }

  function flush(): void {
    scheduled = false;
    const batch: Waiting[] = [];
    const started = performance.now();
    let committed: Batch;
    try {
      committed = transactions.write(() => {
        const next = queue[batch.length];
        if (next === undefined || batch.length === BATCH_LIMIT) return undefined;
        if (batch.length > 0 && performance.now() - started > BATCH_MS) return undefined;
        batch.push(next);
        return next.work;
      });
    } catch (thrown) {
      fail(batch, thrown);
      return;
    }
    retryMs = FIRST_RETRY_MS;
    queue = queue.slice(batch.length);
    for (const [position, waiting] of batch.entries()) settle(waiting, committed.outcomes[position] as Outcome);
    if (committed.changed.length > 0) onCommit(committed.changed);
    proceed();
  }

  /** Nothing of the batch happened. A lock is waited for; any other failure is the answer to all of the batch. */
  function fail(batch: readonly Waiting[], thrown: unknown): void {
    const now = performance.now();
    if (isBusy(thrown)) {
      const expired = queue.filter((waiting) => now - waiting.since >= busyMs);
      queue = queue.filter((waiting) => now - waiting.since < busyMs);
      for (const waiting of expired) settle(waiting, { result: err(failure(thrown)) });
      if (queue.length > 0) {
        scheduled = true;
        setTimeout(flush, retryMs);
        retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
        return;
      }
    } else {
      // A transaction that cannot even begin fails the first waiting write; the next one tries again.
      const failed = batch.length > 0 ? batch : queue.slice(0, 1);
      queue = queue.slice(failed.length);
      for (const waiting of failed) settle(waiting, { result: err(failure(thrown)) });
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

function failure(thrown: unknown): StorageError {
  return storageErrorFrom(thrown) ?? { type: 'storage_failed', reason: 'io', message: `SQLite: ${textOf(thrown)}.` };
}
