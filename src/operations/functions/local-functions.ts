import { ok } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import type { FunctionPolicy } from '../../functions/define-function.js';
import {
  batches,
  hasEnded,
  logs,
  type Outcome,
  openMembers,
  runId,
  runs,
  type StoredBatch,
  type StoredRun,
} from '../../functions/run.js';
import { checkArgument } from '../../options/check-options.js';
import { type Duration, milliseconds } from '../../options/durations.js';
import type { ReadView } from '../../ports/storage.js';
import { second } from '../../shared/duration.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { cancelRuns } from './change-runs.js';
import {
  type Batch,
  type BatchCounts,
  batchId,
  delayKind,
  FunctionsError,
  notFound,
  type Run,
  RunFailedError,
  type RunRecord,
  reasonKind,
  storageFailure,
  valueOrThrow,
} from './functions-api.js';
import { cancelIn, countsOf } from './run-ends.js';
import { type QueueLimits, RunQueue } from './run-queue.js';
import { find, recordOf, viewOf } from './stored-runs.js';

/** How long `result()` waits. */
interface ResultLimits {
  readonly timeout?: Duration;
  readonly signal?: AbortSignal;
}

/** How a wait for the end of a run ends: with the run, without one when it is not kept, or with what keeps it from being read. */
type RunEnd = StoredRun | undefined | FunctionsError;

/** The functions of this process: the queue of their runs, and the runs as their callers hold them. */
export class LocalFunctions {
  readonly queue: RunQueue;
  /** The index of the declarations at which those of these names were stored. */
  readonly declaredAt = new Map<string, number>();
  readonly #engine: EngineContext;
  readonly #waiters = new Map<number, Set<(end: RunEnd) => void>>();
  #watching: Promise<void> | undefined;

  constructor(
    engine: EngineContext,
    readonly policies: ReadonlyMap<string, FunctionPolicy>,
    readonly limits: QueueLimits & { readonly namespace: string },
  ) {
    this.#engine = engine;
    this.queue = new RunQueue(engine, policies, limits, {
      ended: (number, run) => {
        if (run === undefined) this.#lookFor(number).catch((error: FunctionsError) => this.#settle(number, error));
        else this.#settle(number, run);
      },
      untilEnded: (number) => this.#end(String(number), number, {}),
    });
  }

  batchOf<Out>(batch: StoredBatch, members: readonly StoredRun[]): Batch<Out> {
    const id = batchId(batch.number);
    const counts = (view: ReadView): BatchCounts => {
      // There is nothing to store of an empty one.
      const stored = batch.total === 0 ? batch : view.get(batches, [batch.number])?.record;
      if (stored === undefined) throw notFound(id);
      const rows = view.list(runs, { index: 'batch', prefix: [batch.number] }).map(({ record }) => record);
      return countsOf(
        stored,
        rows.filter((run) => !hasEnded(run)),
      );
    };
    return {
      id,
      runs: members.map((run) => this.runOf<Out>(run, true)),
      counts: () => this.#read(counts),
      cancel: async (reason = 'the batch was cancelled') => {
        checkArgument('batch.cancel', 'reason', reason, reasonKind);
        const count = await valueOrThrow(cancelRuns(this.#engine, { batch: id }, reason, this.policies));
        this.queue.wake();
        return count;
      },
      ended: (limits) => this.#batchEnd(batch, counts, limits),
    };
  }

  async #batchEnd(
    batch: StoredBatch,
    counts: (view: ReadView) => BatchCounts,
    { timeout }: { readonly timeout?: Duration } = {},
  ): Promise<BatchCounts> {
    if (timeout !== undefined) checkArgument('batch.ended', 'timeout', timeout, delayKind);
    const { storage, clock } = this.#engine;
    const over = new AbortController();
    const until = timeout === undefined ? undefined : clock.monotonic() + milliseconds(timeout);
    try {
      for (;;) {
        const { index, open } = await this.#read((view) => ({
          index: view.tableIndex(batches),
          open: openMembers(view.get(batches, [batch.number])?.record ?? { ...batch, total: 0 }),
        }));
        if (open === 0) return await this.#read(counts);
        const left = until === undefined ? Number.POSITIVE_INFINITY : until - clock.monotonic();
        if (timeout !== undefined && left <= 0) throw timeoutError(batchId(batch.number), timeout);
        const change = storage.waitForChange([batches], index, over.signal);
        await (until === undefined ? change : Promise.race([change, clock.sleep(left, over.signal)]));
      }
    } finally {
      over.abort('over');
    }
  }

  runOf<Out>(run: StoredRun, isNew: boolean): Run<Out> {
    const id = runId(run);
    return {
      id,
      isNew,
      status: () => this.#read((view) => recordOf(view, findOrThrow(view, id)) as RunRecord<Out>),
      result: (options) => this.#result(id, run.number, options) as Promise<Out>,
      cancel: (reason = 'the run was cancelled') => this.#cancelOne(id, reason),
      log: () =>
        this.#read((view) => {
          const { number } = findOrThrow(view, id);
          const lines = view.list(logs, { prefix: [number] }).flatMap(({ record }) => record.lines);
          return lines.map(({ at, level, text }) => ({ at: new Date(at), level, text }));
        }),
    };
  }

  async #cancelOne(id: string, reason: string): Promise<boolean> {
    checkArgument('run.cancel', 'reason', reason, reasonKind);
    const written = commit<StoredRun | undefined, never>(this.#engine, hostPrincipal, (tx) => {
      const run = find(tx, id);
      return ok(run === undefined ? undefined : cancelIn(tx, run, reason, this.policies));
    });
    const { value: changed } = await valueOrThrow(written);
    if (changed?.cancelling !== undefined) this.queue.cancel(changed.number, reason);
    else if (changed !== undefined) this.#settle(changed.number, changed);
    return changed !== undefined;
  }

  async #result(id: string, number: number, limits: ResultLimits = {}): Promise<unknown> {
    if (limits.timeout !== undefined) checkArgument('run.result', 'timeout', limits.timeout, delayKind);
    const run = await this.#end(id, number, limits);
    if (run === undefined) throw notFound(id);
    if (run.state !== 'succeeded')
      throw new RunFailedError(id, run.state as Exclude<Outcome, 'succeeded'>, run.error ?? null);
    return run.apart?.includes('result') === true ? (await this.#read((view) => viewOf(view, run))).result : run.result;
  }

  /** The run when it has ended; undefined when it is not kept. */
  #end(id: string, number: number, { timeout, signal }: ResultLimits): Promise<StoredRun | undefined> {
    return new Promise((resolve, reject) => {
      // Only for who limits the wait: making and aborting one costs as much as the rest of it.
      const over = timeout === undefined && signal === undefined ? undefined : new AbortController();
      const settle = (end: RunEnd): void => {
        over?.abort('over');
        if (end instanceof FunctionsError) reject(end);
        else resolve(end);
      };
      const fail = (error: unknown): void => {
        this.#forget(number, settle);
        over?.abort('over');
        reject(error);
      };
      this.#waiters.set(number, (this.#waiters.get(number) ?? new Set()).add(settle));
      if (signal?.aborted === true) return fail(signal.reason);
      if (over !== undefined) signal?.addEventListener('abort', () => fail(signal.reason), { signal: over.signal });
      if (over !== undefined && timeout !== undefined)
        void this.#engine.clock.sleep(milliseconds(timeout), over.signal).then(() => {
          if (!over.signal.aborted) fail(timeoutError(id, timeout));
        });
      this.#watching ??= this.#watch();
      if (!this.queue.has(number)) this.#lookFor(number).catch(fail);
    });
  }

  async #lookFor(number: number): Promise<void> {
    const now = await this.#read((view) => view.get(runs, [number])?.record);
    if (now === undefined || hasEnded(now)) this.#settle(number, now);
  }

  #forget(number: number, resolve: (end: RunEnd) => void): void {
    const waiters = this.#waiters.get(number);
    waiters?.delete(resolve);
    if (waiters?.size === 0) this.#waiters.delete(number);
  }

  #settle(number: number, end: RunEnd): void {
    for (const resolve of this.#waiters.get(number) ?? []) resolve(end);
    this.#waiters.delete(number);
  }

  /** Looks at the awaited runs whenever runs have changed: they may end in another process. */
  async #watch(): Promise<void> {
    const { storage, clock } = this.#engine;
    const never = new AbortController().signal;
    const elsewhere = (): number[] => [...this.#waiters.keys()].filter((number) => !this.queue.has(number));
    for (let after = 0; this.#waiters.size > 0; ) {
      const reached = await storage.waitForChange([runs], after, never);
      const isChanged = reached > after;
      after = reached;
      // The ends of runs that are under way here are known without a read. A wait without a change has ended because the store is closed.
      if (isChanged && elsewhere().length === 0) continue;
      const read = await storage.read((view) => {
        const awaited = elsewhere().map((number) => [number, view.get(runs, [number])?.record] as const);
        return { index: view.tableIndex(runs), over: awaited.filter(([, run]) => run === undefined || hasEnded(run)) };
      });
      if (read.isErr()) {
        // Nothing will change any more in a store that is closed.
        if (read.error.reason === 'closed')
          for (const number of [...this.#waiters.keys()]) this.#settle(number, storageFailure(read.error));
        await clock.sleep(second, never);
        after = 0;
        continue;
      }
      after = read.value.index;
      for (const [number, run] of read.value.over) this.#settle(number, run);
    }
    this.#watching = undefined;
  }

  #read<T>(work: (view: ReadView) => T): Promise<T> {
    return valueOrThrow(this.#engine.storage.read(work));
  }
}

export function findOrThrow(view: ReadView, id: string): StoredRun {
  const run = find(view, id);
  if (run === undefined) throw notFound(id);
  return run;
}

function timeoutError(id: string, timeout: Duration): Error {
  const error = new Error(`the run ${id} has not ended within ${timeout}${typeof timeout === 'number' ? ' ms' : ''}`);
  error.name = 'TimeoutError';
  return error;
}
