import type { Result } from 'neverthrow';
import {
  type Cron,
  type FunctionDefinition,
  type HostRows,
  type Json,
  policyOf,
} from '../../functions/define-function.js';
import { type Outcome, type RunError, type RunState, runStates } from '../../functions/run.js';
import { isOf } from '../../functions/run-error.js';
import { checkOptions, type OptionTable } from '../../options/check-options.js';
import { type Duration, isDuration, milliseconds } from '../../options/durations.js';
import { callable, group, mapOf, optional, text, wholeFrom } from '../../options/option-kinds.js';
import type { StorageError } from '../../ports/storage.js';
import { day } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import { isRecord } from '../../shared/values.js';
import type { OpenTransaction } from '../context/shared-write.js';

/** Why a call of `Functions` was refused. */
export class FunctionsError extends Error {
  override readonly name = 'FunctionsError';
  readonly type:
    | 'invalid_input'
    | 'not_json'
    | 'too_large'
    | 'queue_full'
    | 'idempotency_mismatch'
    | 'run_not_found'
    | 'permission_denied'
    | 'storage_failed';

  constructor(type: FunctionsError['type'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.type = type;
  }
}

/** `result()` of a run that did not succeed. */
export class RunFailedError extends Error {
  override readonly name = 'RunFailedError';
  readonly runId: string;
  readonly outcome: Exclude<Outcome, 'succeeded'>;
  readonly error: RunRecord['error'];

  constructor(id: string, outcome: Exclude<Outcome, 'succeeded'>, error: RunRecord['error']) {
    super(
      `the run ${id} ${outcome === 'failed' ? 'failed' : `was ${outcome.replace('_', ' ')}`}: ${error?.message ?? ''}`,
    );
    this.runId = id;
    this.outcome = outcome;
    this.error = error;
  }
}

/** When and how a run is enqueued. */
export interface EnqueueOptions {
  /** How long it waits at least; 400 days at most. */
  readonly delay?: Duration;
  /** The time from which it is due, at most 400 days from now; excludes `delay`. */
  readonly runAt?: Date;
  /** 1 to 100, higher first; that of the function when absent. */
  readonly priority?: number;
  /** At most 16 entries, names and values of at most 256 characters. */
  readonly meta?: Readonly<Record<string, string>>;
  /** It is cancelled as `expired` unless an attempt has begun by then. */
  readonly ttl?: Duration;
  /** For 24 hours the same key leads to the run of the first call; another input is refused. At most 256 characters. */
  readonly idempotencyKey?: string;
  /**
   * While the run of the same key has not begun (`started`, the default), has not ended (`ended`), or for a duration after its
   * enqueue, that run is returned instead of a new one.
   */
  readonly unique?: string | { readonly key: string; readonly until?: 'started' | 'ended' | Duration };
  /**
   * Waits until no call with this key has arrived for `wait`, but at most `max` (at least `wait`) after the first one. Each call until the run begins
   * replaces its input, priority, meta and ttl. Excludes `unique`, `delay`, `runAt` and `idempotencyKey`.
   */
  readonly debounce?: { readonly key: string; readonly wait: Duration; readonly max?: Duration };
  /** Rows of the host's own tables, in the same transaction; needs a store that has them (`sqliteStorage`). */
  readonly alongside?: HostRows;
}

/** An enqueued run. */
export interface Run<Out = unknown> {
  readonly id: string;
  /** False when a key led to an existing run. */
  readonly isNew: boolean;
  status(): Promise<RunRecord<Out>>;
  /**
   * Its result, when it has ended. Rejects with `RunFailedError` when it did not succeed, with `FunctionsError` `run_not_found` when
   * the run is no longer kept, with the reason of the signal, and with a `TimeoutError` after `timeout`.
   */
  result(options?: { readonly timeout?: Duration; readonly signal?: AbortSignal }): Promise<Out>;
  /** False when it had ended. The signal of a handler under way aborts. */
  cancel(reason?: string): Promise<boolean>;
  /** The last 64 KiB of what its attempts have logged, the oldest line first. */
  log(): Promise<readonly RunLogLine[]>;
}

/** A line of the log of a run. */
export interface RunLogLine {
  readonly at: Date;
  readonly level: 'info' | 'error';
  readonly text: string;
}

/** Runs that were enqueued together. */
export interface Batch<Out = unknown> {
  readonly id: string;
  readonly runs: readonly Run<Out>[];
  counts(): Promise<BatchCounts>;
  /** Cancels those that have not ended; how many. */
  cancel(reason?: string): Promise<number>;
  /** The counts when all have ended, however. Rejects with a `TimeoutError` after `timeout`. */
  ended(options?: { readonly timeout?: Duration }): Promise<BatchCounts>;
}

/** The input of the function that follows a batch. */
export interface BatchEnd {
  readonly batch: string;
  readonly counts: BatchCounts;
}

export const batchId = (number: number): string => `batch/${number}`;

/** How runs are enqueued together. */
export interface BatchOptions extends Omit<EnqueueOptions, 'unique' | 'idempotencyKey' | 'debounce'> {
  /** Enqueued in the write that ends the last one. */
  readonly then?: FunctionDefinition<BatchEnd, unknown>;
}

/** How many runs of a batch are in each state. */
export type BatchCounts = Readonly<Record<RunState, number>> & { readonly total: number };

/**
 * What keeps a run from starting: `scheduled`, it is due later; `behind`, others come first or all slots are taken; `limit` and `rate` of
 * its function; `paused`; `no_process` runs the function, or none its `version`; `child`, a run that it has called. `held`: nothing, it
 * is under way or has ended.
 */
export type WaitReason =
  | 'scheduled'
  | 'behind'
  | 'limit'
  | 'rate'
  | 'paused'
  | 'no_process'
  | 'version'
  | 'child'
  | 'held';

/** A run as it is now. */
export interface RunRecord<Out = unknown> {
  readonly id: string;
  readonly function: string;
  readonly version: number;
  readonly state: RunState;
  readonly priority: number;
  readonly attempt: number;
  readonly interruptions: number;
  readonly enqueuedAt: Date;
  readonly dueAt: Date;
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
  readonly input: Json | undefined;
  readonly result?: Out;
  /** The last value that `run.progress` got. */
  readonly progress?: Json;
  /** The run that called it. */
  readonly parent: string | null;
  readonly batch: string | null;
  readonly meta: Readonly<Record<string, string>>;
  readonly error: RunError | null;
}

/** Which runs: all members must hold. */
export interface RunFilter {
  readonly function?: string;
  readonly state?: RunState | readonly RunState[];
  /** A key of its limits or rates, or the one of `unique`, `debounce` or `idempotencyKey`. */
  readonly key?: string;
  readonly batch?: string;
  /** Name or code of the error. */
  readonly error?: string;
  readonly meta?: Readonly<Record<string, string>>;
  /** Enqueued at this time or later, and before this time. */
  readonly from?: Date;
  readonly to?: Date;
  /** At most so many; 100 when absent. Only for `list`. */
  readonly limit?: number;
  /** The runs that were enqueued before this one. Only for `list`. */
  readonly after?: string;
}

export type EnqueueArgs<In> = [In] extends [undefined]
  ? [input?: undefined, options?: EnqueueOptions]
  : [input: In, options?: EnqueueOptions];

/** The calls of `Functions` that are one write, as parts of a transaction. Their promises settle after its commit. */
export type JoinedFunctions = Pick<
  Functions,
  'enqueue' | 'enqueueMany' | 'pause' | 'resume' | 'schedule' | 'unschedule'
>;

/** The functions of one process over the store of its engine. */
export interface Functions extends AsyncDisposable {
  /** Calls that commit together with the others of a transaction of the same engine, or not at all: see `engine.transaction`. */
  in(transaction: OpenTransaction): JoinedFunctions;
  /** Runs them here, and keeps the process alive until `stop`. A process that only enqueues leaves it out. */
  start(): Promise<void>;
  /** Starts nothing more, waits for handlers until the deadline (25 s), then aborts them; what has not ended a second later is handed back. */
  stop(options?: { readonly deadline?: Duration }): Promise<{ readonly ended: number; readonly handedBack: number }>;
  /** Resolves when the run is durable. Always gives a run: with `isNew: false` when a key led to an existing one. */
  enqueue<In, Out>(fn: FunctionDefinition<In, Out>, ...args: EnqueueArgs<In>): Promise<Run<Out>>;
  /** All or none, in one write; 10,000 at most. */
  enqueueMany<In, Out>(
    fn: FunctionDefinition<In, Out>,
    inputs: readonly In[],
    options?: BatchOptions,
  ): Promise<Batch<Out>>;
  /** Undefined when there is none. */
  run<Out = unknown>(id: string): Promise<Run<Out> | undefined>;
  /** The latest first. */
  list(filter?: RunFilter): Promise<readonly RunRecord[]>;
  /** How many were cancelled. */
  cancel(filter: RunFilter): Promise<number>;
  /**
   * Runs that ended otherwise than well are queued again, with their IDs, all attempts and their finished steps; how many. A
   * run is left out while another one of its unique or debounce key waits. With `rate` they become due one after the other, the latest first: so many a second, from 0.01 to 100,000.
   */
  retry(filter: RunFilter, options?: { readonly rate?: number }): Promise<number>;
  /** Removes ended runs, and others that are not running; how many. */
  discard(filter: RunFilter): Promise<number>;
  /**
   * No run of the function begins in any process; those under way end. With a key: no run of which a limit or rate has this key,
   * which is refused for a function whose limits and rates have none.
   */
  pause(fn: { readonly name: string }, key?: string): Promise<void>;
  /** Ends the pause of the function, or that of one key: each ends alone. */
  resume(fn: { readonly name: string }, key?: string): Promise<void>;
  /** Adds a schedule that is data, or changes it: what has not changed keeps its next launch. */
  schedule<In>(fn: FunctionDefinition<In, unknown>, cron: Cron<In> & { readonly id: string }): Promise<void>;
  /** Removes a schedule that `schedule` added; false when there is none. */
  unschedule(fn: { readonly name: string }, id: string): Promise<boolean>;
  /**
   * What a run waits for, by what is stored and by the limits in the code of this process. `held`: nothing keeps it waiting, since it is
   * under way or has ended; the message says which.
   */
  explain(id: string): Promise<{ readonly reason: WaitReason; readonly message: string }>;
}

/** Options of `createFunctions`. */
export interface FunctionsOptions {
  /** Runs at once in this process; 20 when absent. */
  readonly concurrency?: number;
  /**
   * How long after the last sign of life of a process its runs are taken over; when absent 30 seconds, or 7 seconds over a store that
   * several hosts share; at least 100 ms. On one Linux machine, runs of a dead process are taken at once, and one whose event loop is
   * blocked keeps them for 15 minutes longer.
   */
  readonly lease?: Duration;
  /** Whose rights count for the functions when they are called over the interface; `default` when absent. */
  readonly namespace?: string;
}

const longestDelay = 400 * day;
export const delayKind = {
  takes: 'milliseconds or a string such as 30s, 1h30m or 7d, at most 400d',
  fits: (value: unknown) => isDuration(value) && milliseconds(value) <= longestDelay,
};
const date = {
  takes: 'a valid Date',
  fits: (value: unknown) => value instanceof Date && Number.isFinite(value.getTime()),
};
const key = {
  takes: 'a string of 1 to 256 characters',
  fits: (value: unknown) => typeof value === 'string' && value.length > 0 && value.length <= 256,
};
const isUntil = (value: unknown): boolean =>
  value === undefined || value === 'started' || value === 'ended' || delayKind.fits(value);

const enqueueTable: OptionTable<EnqueueOptions> = {
  delay: optional(delayKind),
  runAt: optional(date),
  priority: optional(wholeFrom(1, 100)),
  meta: optional({
    takes: 'at most 16 entries with names and values of at most 256 characters',
    fits: (value) =>
      isRecord(value) &&
      mapOf(text).fits(value) &&
      Object.keys(value).length <= 16 &&
      Object.entries(value)
        .flat()
        .every((part) => typeof part === 'string' && part.length <= 256),
  }),
  ttl: optional(delayKind),
  idempotencyKey: optional(key),
  unique: optional({
    takes: "a key of 1 to 256 characters, or { key, until?: 'started' | 'ended' | duration }",
    fits: (value) =>
      key.fits(value) ||
      (isRecord(value) &&
        Object.keys(value).every((name) => name === 'key' || name === 'until') &&
        key.fits(value['key']) &&
        isUntil(value['until'])),
  }),
  debounce: optional(
    group<NonNullable<EnqueueOptions['debounce']>>({ key, wait: delayKind, max: optional(delayKind) }),
  ),
  alongside: optional(callable),
};
const { unique: _, idempotencyKey: __, debounce: ___, ...sharedTable } = enqueueTable;
export const batchTable: OptionTable<BatchOptions> = {
  ...sharedTable,
  then: optional({ takes: 'a definition made by defineFunction', fits: (value) => policyOf(value) !== undefined }),
};
export const reasonKind = {
  takes: 'a string of at most 1024 characters',
  fits: (value: unknown) => typeof value === 'string' && value.length <= 1024,
};
export const retryTable: OptionTable<{ readonly rate?: number }> = {
  rate: optional({
    takes: 'a number of runs a second, from 0.01 to 100000',
    fits: (value) => typeof value === 'number' && value >= 0.01 && value <= 100_000,
  }),
};

/**
 * A copy of the options of an enqueue, which a change by the caller does not reach. Throws a TypeError when they are invalid, or when one of
 * them would have no effect.
 */
export function checkEnqueue<T extends EnqueueOptions>(
  given: T,
  now: Instant,
  caller = 'functions.enqueue',
  table: Partial<OptionTable<EnqueueOptions>> = enqueueTable,
): T {
  const options = copied(caller, given, table);
  const excluded = (name: keyof EnqueueOptions, others: readonly (keyof EnqueueOptions)[]): void => {
    const other = options[name] === undefined ? undefined : others.find((each) => options[each] !== undefined);
    if (other !== undefined) throw new TypeError(`${caller}: ${name} excludes ${other}: give one of them`);
  };
  excluded('debounce', ['unique', 'delay', 'runAt', 'idempotencyKey']);
  excluded('delay', ['runAt']);
  if (options.runAt !== undefined && options.runAt.getTime() - now > longestDelay)
    throw new TypeError(`${caller}: runAt is at most 400 days from now`);
  const { wait = 0, max } = options.debounce ?? {};
  if (max !== undefined && milliseconds(max) < milliseconds(wait))
    throw new TypeError(`${caller}: debounce.max is at least wait: it bounds the time from the first call`);
  return options;
}

export const filterTable: OptionTable<RunFilter> = {
  function: optional(text),
  state: optional({
    takes: `one or several of ${runStates.join(', ')}`,
    fits: (value) => [value].flat().every((state) => runStates.some((each) => each === state)),
  }),
  key: optional(text),
  batch: optional(text),
  error: optional(text),
  meta: optional(mapOf(text)),
  from: optional(date),
  to: optional(date),
  limit: optional(wholeFrom(1, 10_000)),
  after: optional(text),
};

export const notFound = (id: string): FunctionsError =>
  new FunctionsError('run_not_found', `there is no run ${id}: it may have been removed`);

export function storageFailure(cause: StorageError): FunctionsError {
  const { reason, message } = cause;
  return new FunctionsError('storage_failed', `the store failed (${reason}): ${message}`, { cause });
}

/** The value, or an exception as the calls of `Functions` throw it. */
export async function valueOrThrow<T, E extends FunctionsError | StorageError>(
  given: PromiseLike<Result<T, E>>,
): Promise<T> {
  const result = await given;
  if (result.isOk()) return result.value;
  const { error } = result;
  throw error instanceof FunctionsError ? error : storageFailure(error);
}

function copied<T extends EnqueueOptions>(caller: string, given: T, table: Partial<OptionTable<EnqueueOptions>>): T {
  try {
    checkOptions(caller, given, table as OptionTable<EnqueueOptions>);
    const { meta, unique, debounce } = given;
    return {
      ...given,
      ...(meta === undefined ? {} : { meta: { ...meta } }),
      ...(typeof unique === 'object' ? { unique: { ...unique } } : {}),
      ...(debounce === undefined ? {} : { debounce: { ...debounce } }),
    };
  } catch (error) {
    if (isOf(error, TypeError)) throw error;
    throw new TypeError(`${caller}: the options cannot be read: a getter or a proxy has thrown`);
  }
}
