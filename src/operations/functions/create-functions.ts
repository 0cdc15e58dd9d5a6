import { err, ok, type Result } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import { limitNames } from '../../functions/admission.js';
import {
  type Cron,
  checkCron,
  cronPolicyOf,
  type FunctionDefinition,
  type FunctionPolicy,
  type Json,
  policyOf,
} from '../../functions/define-function.js';
import {
  cancelled,
  functionCounts,
  groupOf,
  hasEnded,
  idempotencyTime,
  numberOf,
  type Outcome,
  pauses,
  type RunError,
  type RunState,
  retried,
  runId,
  runKeys,
  runStates,
  runs,
  type StoredKey,
  type StoredRun,
} from '../../functions/run.js';
import { declared, schedules } from '../../functions/schedule.js';
import { checkArgument, checkOptions, type OptionTable } from '../../options/check-options.js';
import { type Duration, isDuration, milliseconds } from '../../options/durations.js';
import { callable, mapOf, optional, text } from '../../options/option-kinds.js';
import type { ReadView, Storage, StorageError } from '../../ports/storage.js';
import { day, hour, type Milliseconds, second } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import { commit, type Transaction } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { issuesText, valueFault } from './attempt.js';
import { newRun, putNewRun, RunLoop, removeRun, viewOf } from './run-loop.js';

/** Why a call of `Functions` was refused. */
export class FunctionsError extends Error {
  override readonly name = 'FunctionsError';
  readonly type:
    | 'invalid_input'
    | 'not_json'
    | 'too_large'
    | 'idempotency_mismatch'
    | 'run_not_found'
    | 'storage_failed';

  constructor(type: FunctionsError['type'], message: string) {
    super(message);
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

/** Statements of the host that commit together with the enqueue, or not at all. */
export type HostRows = (sql: { run(text: string, ...values: unknown[]): void }) => void;

/** When and how a run is enqueued. */
export interface EnqueueOptions {
  /** How long it waits at least; 400 days at most. */
  readonly delay?: Duration;
  /** The time from which it is due; excludes `delay`. */
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
}

/** Runs that were enqueued together. */
export interface Batch<Out = unknown> {
  readonly id: string;
  readonly runs: readonly Run<Out>[];
  counts(): Promise<BatchCounts>;
}

/** How many runs of a batch are in each state. */
export type BatchCounts = Readonly<Record<RunState, number>> & { readonly total: number };

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
  readonly batch: string | null;
  readonly meta: Readonly<Record<string, string>>;
  readonly error: RunError | null;
}

/** Which runs: all members must hold. */
export interface RunFilter {
  readonly function?: string;
  readonly state?: RunState | readonly RunState[];
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

type EnqueueArgs<In> = [In] extends [undefined]
  ? [input?: undefined, options?: EnqueueOptions]
  : [input: In, options?: EnqueueOptions];

/** The functions of one process over the store of its engine. */
export interface Functions extends AsyncDisposable {
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
    options?: Omit<EnqueueOptions, 'unique' | 'idempotencyKey'>,
  ): Promise<Batch<Out>>;
  /** Undefined when there is none. */
  run<Out = unknown>(id: string): Promise<Run<Out> | undefined>;
  /** The latest first. */
  list(filter?: RunFilter): Promise<readonly RunRecord[]>;
  /** How many were cancelled. */
  cancel(filter: RunFilter): Promise<number>;
  /** Runs that ended otherwise than well are queued again, with their IDs, all attempts and their finished steps; how many. */
  retry(filter: RunFilter): Promise<number>;
  /** Removes ended runs, and others that are not running; how many. */
  discard(filter: RunFilter): Promise<number>;
  /** No run of the function begins in any process; those under way end. */
  pause(fn: { readonly name: string }): Promise<void>;
  resume(fn: { readonly name: string }): Promise<void>;
  /** Adds a schedule that is data, or changes it: what has not changed keeps its next launch. */
  schedule<In>(fn: FunctionDefinition<In, unknown>, cron: Cron<In> & { readonly id: string }): Promise<void>;
  /** Removes a schedule that `schedule` added; false when there is none. */
  unschedule(fn: { readonly name: string }, id: string): Promise<boolean>;
}

/** Options of `createFunctions`. */
export interface FunctionsOptions {
  /** Runs at once in this process; 20 when absent. */
  readonly concurrency?: number;
  /**
   * How long after its process has died a run is taken over; 30 seconds when absent, at least 100 ms. A process whose event
   * loop is blocked for longer loses its runs.
   */
  readonly lease?: Duration;
}

const wholeFrom = (least: number, most: number) => ({
  takes: `a whole number from ${least} to ${most}`,
  fits: (value: unknown) => Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most,
});
const longestDelay = 400 * day;
const delayKind = {
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
      mapOf(text).fits(value) &&
      Object.keys(value as object).length <= 16 &&
      Object.entries(value as object)
        .flat()
        .every((part) => typeof part === 'string' && part.length <= 256),
  }),
  ttl: optional(delayKind),
  idempotencyKey: optional(key),
  unique: optional({
    takes: "a key of 1 to 256 characters, or { key, until?: 'started' | 'ended' | duration }",
    fits: (value) =>
      key.fits(value) ||
      (typeof value === 'object' &&
        value !== null &&
        Object.keys(value).every((name) => name === 'key' || name === 'until') &&
        key.fits((value as { key?: unknown }).key) &&
        isUntil((value as { until?: unknown }).until)),
  }),
  alongside: optional(callable),
};
const filterTable: OptionTable<RunFilter> = {
  function: optional(text),
  state: optional({
    takes: `one or several of ${runStates.join(', ')}`,
    fits: (value) => [value].flat().every((state) => runStates.includes(state as RunState)),
  }),
  batch: optional(text),
  error: optional(text),
  meta: optional(mapOf(text)),
  from: optional(date),
  to: optional(date),
  limit: optional(wholeFrom(1, 10_000)),
  after: optional(text),
};

const mostInputs = 10_000;
/** Rows that one read or write of a bulk call looks at. */
const bulkSize = 200;

/**
 * The functions of this process: `definitions` are those that it enqueues or runs. Throws a TypeError for what `defineFunction` did
 * not make, and for two definitions of one name.
 */
export function createFunctions(
  engine: EngineContext,
  definitions: readonly { readonly name: string }[],
  options: FunctionsOptions = {},
): Functions {
  checkOptions<FunctionsOptions>('createFunctions', options, {
    concurrency: optional(wholeFrom(1, 10_000)),
    lease: optional({
      takes: 'milliseconds or a string such as 30s, from 100ms to 1h',
      fits: (value) => isDuration(value) && milliseconds(value) >= 100 && milliseconds(value) <= hour,
    }),
  });
  const { concurrency = 20, lease = 30 * second } = options;
  return new EngineFunctions(engine, policiesOf(definitions), { concurrency, lease: milliseconds(lease) });
}

function policiesOf(definitions: readonly unknown[]): ReadonlyMap<string, FunctionPolicy> {
  if (!Array.isArray(definitions)) throw new TypeError('createFunctions: the definitions are a list');
  const policies = new Map<string, FunctionPolicy>();
  for (const [at, definition] of definitions.entries()) {
    const policy = policyOf(definition);
    if (policy === undefined) throw new TypeError(`createFunctions: definitions[${at}] is not made by defineFunction`);
    if (policies.has(policy.name)) throw new TypeError(`createFunctions: two definitions have the name ${policy.name}`);
    policies.set(policy.name, policy);
  }
  return policies;
}

/**
 * Stores the schedules of the code, and removes those that the code no longer has, unless a later version of the code has declared
 * them.
 */
function declareSchedules(tx: Transaction, policy: FunctionPolicy): void {
  if (policy.handler === undefined) return;
  const known = tx.list(schedules, { prefix: [policy.name] }).map(({ record }) => record);
  if (known.some(({ version }) => version !== null && version > policy.version)) return;
  for (const { id, version } of known)
    if (version !== null && !policy.crons.some((cron) => cron.id === id)) tx.remove(schedules, [policy.name, id]);
  for (const cron of policy.crons) {
    const before = known.find(({ id }) => id === cron.id);
    const owner = { function: policy.name, version: policy.version };
    const stored = declared(cron, owner, before, tx.now);
    if (stored !== undefined && JSON.stringify(stored) !== JSON.stringify(before)) tx.put(schedules, stored);
  }
}

/** A run to be enqueued, checked, without its number. */
interface Order {
  readonly policy: FunctionPolicy;
  readonly input: Json | undefined;
  /** The JSON of the input. */
  readonly text: string | undefined;
  readonly limits: readonly string[];
}

/** How long `result()` waits. */
interface ResultLimits {
  readonly timeout?: Duration;
  readonly signal?: AbortSignal;
}

/** Handlers that ended before the deadline of a stop, and runs that were handed back. */
interface Stopped {
  readonly ended: number;
  readonly handedBack: number;
}

/** How a wait for the end of a run ends: with the run, without one when it is not kept, or with what keeps it from being read. */
type RunEnd = StoredRun | undefined | FunctionsError;

interface Placed {
  readonly run: StoredRun;
  readonly isNew: boolean;
}

class EngineFunctions implements Functions {
  readonly #engine: EngineContext;
  readonly #loop: RunLoop;
  readonly #policies: ReadonlyMap<string, FunctionPolicy>;
  readonly #waiters = new Map<number, Set<(end: RunEnd) => void>>();
  #watching: Promise<void> | undefined;
  #running:
    | { readonly over: AbortController; readonly done: Promise<void>; readonly alive: NodeJS.Timeout }
    | undefined;
  #starting: Promise<void> | undefined;
  /** A stop that is under way: another start waits for it. */
  #stopping: Promise<Stopped> | undefined;

  constructor(
    engine: EngineContext,
    policies: ReadonlyMap<string, FunctionPolicy>,
    limits: { readonly concurrency: number; readonly lease: Milliseconds },
  ) {
    this.#engine = engine;
    this.#policies = policies;
    this.#loop = new RunLoop(engine, policies, limits, (number, run) => {
      if (run === undefined) this.#lookFor(number).catch((error: FunctionsError) => this.#settle(number, error));
      else this.#settle(number, run);
    });
  }

  /** Calls at the same time are one start; one that has failed can be tried again. */
  start(): Promise<void> {
    this.#starting ??= this.#begin().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  async #begin(): Promise<void> {
    await this.#stopping;
    if (this.#running !== undefined) return;
    await this.#write(undefined, (tx) => {
      for (const policy of this.#policies.values()) declareSchedules(tx, policy);
      return ok(undefined);
    });
    const over = new AbortController();
    const alive = setInterval(() => undefined, 2 ** 30);
    this.#running = { over, done: this.#loop.run(over.signal), alive };
  }

  async stop({ deadline = 25 * second }: { readonly deadline?: Duration } = {}): Promise<Stopped> {
    checkArgument('functions.stop', 'deadline', deadline, delayKind);
    if (this.#starting !== undefined) await this.#starting.catch(() => undefined);
    const running = this.#running;
    if (running === undefined) return (await this.#stopping) ?? { ended: 0, handedBack: 0 };
    this.#running = undefined;
    this.#stopping = (async () => {
      const result = await this.#loop.stop(milliseconds(deadline));
      clearInterval(running.alive);
      running.over.abort('over');
      await running.done;
      this.#stopping = undefined;
      return result;
    })();
    return this.#stopping;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async enqueue<In, Out>(fn: FunctionDefinition<In, Out>, ...args: EnqueueArgs<In>): Promise<Run<Out>> {
    const [input, options = {}] = args;
    checkOptions('functions.enqueue', options, enqueueTable);
    const order = await this.#orderOf(fn, input);
    const isDue = options.delay === undefined && options.runAt === undefined;
    const reserved = isDue && this.#running !== undefined && this.#loop.reserve(order.policy.name);
    let placed: Placed | undefined;
    try {
      placed = await this.#write(options.alongside, (tx) =>
        place(tx, order, options, reserved ? this.#loop : undefined),
      );
    } catch (error) {
      if (reserved) this.#loop.begin(undefined, true);
      throw error;
    }
    const { run, isNew } = placed;
    if (reserved) this.#loop.begin(isNew ? { run, input: order.input } : undefined);
    else this.#loop.wake();
    return this.#runOf(run, isNew);
  }

  async enqueueMany<In, Out>(
    fn: FunctionDefinition<In, Out>,
    inputs: readonly In[],
    options: Omit<EnqueueOptions, 'unique' | 'idempotencyKey'> = {},
  ): Promise<Batch<Out>> {
    const { unique: _, idempotencyKey: __, ...table } = enqueueTable;
    checkOptions('functions.enqueueMany', options, table);
    if (!Array.isArray(inputs) || inputs.length > mostInputs)
      throw new TypeError(`functions.enqueueMany: the inputs are a list of at most ${mostInputs}`);
    const orders: Order[] = [];
    for (const [at, input] of inputs.entries()) orders.push(await this.#orderOf(fn, input, `inputs[${at}]: `));
    const enqueued = await this.#write(options.alongside, (tx) => {
      const batch = tx.index;
      return ok({
        batch,
        runs: orders.map((order, at) => {
          const run = { ...newRunOf(order, options, at === 0 ? batch : tx.nextIndex(), tx.now), batch };
          putNewRun(tx, run, order.text?.length ?? 0);
          return run;
        }),
      });
    });
    this.#loop.wake();
    return this.#batchOf(enqueued.batch, enqueued.runs);
  }

  async run<Out = unknown>(id: string): Promise<Run<Out> | undefined> {
    const stored = await this.#read((view) => find(view, id));
    return stored === undefined ? undefined : this.#runOf<Out>(stored, false);
  }

  async list(filter: RunFilter = {}): Promise<readonly RunRecord[]> {
    checkOptions('functions.list', filter, filterTable);
    const { limit = 100 } = filter;
    const found: RunRecord[] = [];
    const scan = new Scan(filter);
    while (found.length < limit && !scan.isOver)
      found.push(...(await this.#read((view) => scan.next(view).map((run) => recordOf(view, run)))));
    return found.slice(0, limit);
  }

  cancel(filter: RunFilter): Promise<number> {
    return this.#change('cancel', filter, (tx, run) => {
      const changed = cancelled(run, 'cancelled by a filter', tx.now);
      if (changed !== undefined) endIn(tx, changed);
      return changed !== undefined;
    });
  }

  retry(filter: RunFilter): Promise<number> {
    return this.#change('retry', filter, (tx, run) => {
      const changed = retried(run, tx.now);
      if (changed === undefined) return false;
      tx.put(runs, changed);
      countEnded(tx, run, -1);
      return true;
    });
  }

  discard(filter: RunFilter): Promise<number> {
    return this.#change('discard', filter, (tx, run) => {
      if (run.state === 'running') return false;
      if (hasEnded(run)) countEnded(tx, run, -1);
      removeRun(tx, run);
      return true;
    });
  }

  async pause(fn: { readonly name: string }): Promise<void> {
    const { name } = this.#known('functions.pause', fn);
    await this.#write(undefined, (tx) => {
      if (tx.get(pauses, [name]) === undefined) tx.put(pauses, { function: name });
      return ok(undefined);
    });
  }

  async resume(fn: { readonly name: string }): Promise<void> {
    const { name } = this.#known('functions.resume', fn);
    await this.#write(undefined, (tx) => {
      tx.remove(pauses, [name]);
      return ok(undefined);
    });
    this.#loop.wake();
  }

  async schedule<In>(fn: FunctionDefinition<In, unknown>, cron: Cron<In> & { readonly id: string }): Promise<void> {
    const policy = this.#known('functions.schedule', fn);
    checkCron('functions.schedule', cron as Cron<unknown>);
    if (cron.id === undefined) throw new TypeError('functions.schedule: the schedule needs an id');
    await parsedOf(policy, cron.input, `the input of the schedule '${cron.id}'`);
    await this.#write(undefined, (tx) => {
      const known = tx.get(schedules, [policy.name, cron.id])?.record;
      if (known !== undefined && known.version !== null)
        return err(
          new FunctionsError(
            'invalid_input',
            `the schedule '${cron.id}' of ${policy.name} is declared in its code: use another id`,
          ),
        );
      const owner = { function: policy.name, version: null };
      const stored = declared(cronPolicyOf(cron as Cron<unknown>), owner, known, tx.now);
      if (stored !== undefined) tx.put(schedules, stored);
      return ok(undefined);
    });
    this.#loop.wake();
  }

  async unschedule(fn: { readonly name: string }, id: string): Promise<boolean> {
    const { name } = this.#known('functions.unschedule', fn);
    return this.#write(undefined, (tx) => {
      const known = tx.get(schedules, [name, id])?.record;
      if (known === undefined) return ok(false);
      if (known.version !== null)
        return err(
          new FunctionsError(
            'invalid_input',
            `the schedule '${id}' of ${name} is declared in its code: remove it there`,
          ),
        );
      return ok(tx.remove(schedules, [name, id]));
    });
  }

  #known(caller: string, fn: unknown): FunctionPolicy {
    const policy = policyOf(fn);
    if (policy === undefined) throw new TypeError(`${caller}: the first argument is not made by defineFunction`);
    if (!this.#policies.has(policy.name))
      throw new TypeError(`${caller}: ${policy.name} is not among the definitions of createFunctions`);
    return policy;
  }

  async #change(
    name: string,
    filter: RunFilter,
    change: (tx: Transaction, run: StoredRun) => boolean,
  ): Promise<number> {
    checkOptions(`functions.${name}`, filter, filterTable);
    if (filter.limit !== undefined || filter.after !== undefined)
      throw new TypeError(
        `functions.${name}: limit and after belong to functions.list; a bulk call takes all that match`,
      );
    const scan = new Scan(filter);
    let changed = 0;
    while (!scan.isOver) {
      const numbers = await this.#read((view) => scan.next(view).map(({ number }) => number));
      if (numbers.length === 0) continue;
      changed += await this.#write(undefined, (tx) => {
        const matching = numbers.flatMap((number) => tx.get(runs, [number])?.record ?? []).filter(scan.matches);
        return ok(matching.filter((run) => change(tx, run)).length);
      });
    }
    this.#loop.wake();
    return changed;
  }

  async #orderOf(fn: unknown, input: unknown, where = ''): Promise<Order> {
    const policy = this.#known('functions.enqueue', fn);
    const what = `${where}the input of ${policy.name}`;
    const text = input === undefined ? undefined : jsonOf(`${where}input of ${policy.name}`, input);
    const parsed = await parsedOf(policy, input, what);
    try {
      return { policy, input: input as Json | undefined, text, limits: limitNames(policy, parsed) };
    } catch (error) {
      throw new FunctionsError(
        'invalid_input',
        `${what} gives no key: ${error instanceof Error ? error.message : 'unknown'}`,
      );
    }
  }

  #batchOf<Out>(batch: number, members: readonly StoredRun[]): Batch<Out> {
    return {
      id: `batch/${batch}`,
      runs: members.map((run) => this.#runOf<Out>(run, true)),
      counts: () =>
        this.#read((view) =>
          countsOf(view.list(runs, { index: 'batch', prefix: [batch] }).map(({ record }) => record)),
        ),
    };
  }

  #runOf<Out>(run: StoredRun, isNew: boolean): Run<Out> {
    const id = runId(run);
    return {
      id,
      isNew,
      status: () =>
        this.#read((view) => {
          const found = find(view, id);
          if (found === undefined) throw notFound(id);
          return recordOf(view, found) as RunRecord<Out>;
        }),
      result: (options) => this.#result(id, run.number, options) as Promise<Out>,
      cancel: (reason = 'the run was cancelled') => this.#cancelOne(id, reason),
    };
  }

  async #cancelOne(id: string, reason: string): Promise<boolean> {
    checkArgument('run.cancel', 'reason', reason, {
      takes: 'a string of at most 1024 characters',
      fits: (value) => typeof value === 'string' && value.length <= 1024,
    });
    const changed = await this.#write(undefined, (tx) => {
      const run = find(tx, id);
      const after = run === undefined ? undefined : cancelled(run, reason, tx.now);
      if (after !== undefined) endIn(tx, after);
      return ok(after);
    });
    if (changed?.state === 'running') this.#loop.cancel(changed.number, reason);
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
      if (!this.#loop.has(number)) this.#lookFor(number).catch(fail);
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
    while (this.#waiters.size > 0) {
      const read = await storage.read((view) => {
        const elsewhere = [...this.#waiters.keys()].filter((number) => !this.#loop.has(number));
        const awaited = elsewhere.map((number) => [number, view.get(runs, [number])?.record] as const);
        return { index: view.tableIndex(runs), over: awaited.filter(([, run]) => run === undefined || hasEnded(run)) };
      });
      if (read.isErr()) {
        // Nothing will change any more in a store that is closed.
        if (read.error.reason === 'closed')
          for (const number of [...this.#waiters.keys()]) this.#settle(number, storageFailure(read.error));
        await clock.sleep(second, never);
        continue;
      }
      for (const [number, run] of read.value.over) this.#settle(number, run);
      if (this.#waiters.size > 0) await storage.waitForChange([runs], read.value.index, never);
    }
    this.#watching = undefined;
  }

  async #read<T>(work: (view: ReadView) => T): Promise<T> {
    const read = await this.#engine.storage.read(work);
    if (read.isErr()) throw storageFailure(read.error);
    return read.value;
  }

  async #write<T>(rows: HostRows | undefined, work: (tx: Transaction) => Result<T, FunctionsError>): Promise<T> {
    const own = rows === undefined ? undefined : hostRowsOf(rows);
    const context =
      own === undefined ? this.#engine : { ...this.#engine, storage: storageWith(this.#engine.storage, own.rows) };
    const written = await commit(context, hostPrincipal, work);
    if (written.isOk()) return written.value.value;
    if (own?.thrown !== undefined) throw own.thrown.error;
    throw written.error instanceof FunctionsError ? written.error : storageFailure(written.error);
  }
}

async function parsedOf(policy: FunctionPolicy, input: unknown, what: string): Promise<unknown> {
  if (policy.input === undefined) return input;
  const checked = policy.input['~standard'].validate(input);
  const result = checked instanceof Promise ? await checked : checked;
  if (result.issues === undefined) return result.value;
  throw new FunctionsError('invalid_input', `${what} is refused: ${issuesText(result.issues)}`);
}

/** The statements of the host, with what they threw in the last run of the write: that is the host's own error. */
function hostRowsOf(rows: HostRows): { readonly rows: HostRows; thrown?: { readonly error: unknown } } {
  const own: { rows: HostRows; thrown?: { readonly error: unknown } } = {
    rows: (sql) => {
      delete own.thrown;
      try {
        return rows(sql);
      } catch (error) {
        own.thrown = { error };
        throw error;
      }
    },
  };
  return own;
}

function storageWith(storage: Storage & { alongside?: (rows: HostRows) => Storage }, rows: HostRows): Storage {
  if (storage.alongside !== undefined) return storage.alongside(rows);
  throw new TypeError(
    'functions.enqueue: alongside needs a store that has the tables of the host, such as sqliteStorage',
  );
}

function jsonOf(what: string, value: unknown): string {
  const fault = valueFault(what, value);
  if (fault !== undefined) throw new FunctionsError(fault.type, fault.message);
  return JSON.stringify(value);
}

function newRunOf({ policy, input, limits }: Order, options: EnqueueOptions, number: number, now: Instant): StoredRun {
  const { delay, runAt, priority = policy.priority, meta, ttl } = options;
  const dueAt = Math.round(runAt?.getTime() ?? now + milliseconds(delay ?? 0));
  return {
    ...newRun(policy, input, { number, now, dueAt }),
    priority,
    ...(limits.length === 0 ? {} : { limits }),
    ...(meta === undefined ? {} : { meta }),
    ...(ttl === undefined ? {} : { expiresAt: Math.round(now + milliseconds(ttl)) }),
  };
}

/** Enqueues a run, or finds the one that a key leads to. With a loop that has room, the run begins in the same write. */
function place(
  tx: Transaction,
  order: Order,
  options: EnqueueOptions,
  loop: RunLoop | undefined,
): Result<Placed, FunctionsError> {
  const keys = keysOf(options);
  for (const { kind, key } of keys) {
    const found = runOfKey(tx, { kind, key }, order.policy.name);
    if (found === undefined) continue;
    const isSame = kind !== 'idempotency' || JSON.stringify(viewOf(tx, found).input) === order.text;
    return isSame
      ? ok({ run: found, isNew: false })
      : err(
          new FunctionsError(
            'idempotency_mismatch',
            `the idempotency key '${key}' belongs to ${runId(found)}, which has another input: use another key`,
          ),
        );
  }
  const fresh = newRunOf(order, options, tx.index, tx.now);
  const named = keys.length === 0 ? fresh : { ...fresh, keys: keys.map(({ kind, key }) => ({ kind, key })) };
  const run = loop === undefined ? named : loop.claim(tx, named);
  putNewRun(tx, run, order.text?.length ?? 0);
  for (const { kind, key, until } of keys)
    tx.put(runKeys, { kind, key, function: order.policy.name, run: run.number, until: until(tx.now) });
  return ok({ run, isNew: true });
}

interface AskedKey extends StoredKey {
  readonly until: (now: Instant) => Instant | 'started' | 'ended';
}

function keysOf({ unique, idempotencyKey }: EnqueueOptions): AskedKey[] {
  const keys: AskedKey[] = [];
  if (idempotencyKey !== undefined)
    keys.push({ kind: 'idempotency', key: idempotencyKey, until: (now) => now + idempotencyTime });
  if (unique !== undefined) {
    const { key, until = 'started' } = typeof unique === 'string' ? { key: unique } : unique;
    const isState = until === 'started' || until === 'ended';
    keys.push({ kind: 'unique', key, until: (now) => (isState ? until : now + milliseconds(until)) });
  }
  return keys;
}

/** The run that a key still leads to. */
function runOfKey(view: Transaction, { kind, key }: StoredKey, name: string): StoredRun | undefined {
  const found = view.get(runKeys, [kind, name, key])?.record;
  const run = found === undefined ? undefined : view.get(runs, [found.run])?.record;
  if (found === undefined || run === undefined) return undefined;
  if (found.until === 'started') return run.starts === 0 && !hasEnded(run) ? run : undefined;
  if (found.until === 'ended') return hasEnded(run) ? undefined : run;
  return found.until > view.now ? run : undefined;
}

/** Stores a run that may have ended just now, outside of an attempt. */
function endIn(tx: Transaction, run: StoredRun): void {
  tx.put(runs, run);
  if (hasEnded(run)) countEnded(tx, run, 1);
}

function countEnded(tx: Transaction, run: StoredRun, change: 1 | -1): void {
  const { succeeded = 0, others = 0 } = tx.get(functionCounts, [run.function])?.record ?? {};
  const counts = { succeeded, others };
  counts[groupOf(run)] += change;
  tx.put(functionCounts, { function: run.function, ...counts });
}

/** Walks the runs that a filter selects, the latest first, a bounded number at a time. */
class Scan {
  isOver = false;
  readonly matches: (run: StoredRun) => boolean;
  readonly #batch: number | undefined;
  #before: number;

  constructor(filter: RunFilter) {
    const states = filter.state === undefined ? undefined : new Set([filter.state].flat());
    const batch = filter.batch === undefined ? undefined : Number(/^batch\/(\d{1,16})$/.exec(filter.batch)?.[1] ?? -1);
    this.#batch = batch;
    this.#before = (filter.after === undefined ? undefined : numberOf(filter.after)) ?? Number.MAX_SAFE_INTEGER;
    this.matches = (run) => isOfKind(run, filter, states) && isWithin(run, filter, batch);
  }

  /** The matching ones of the next rows. */
  next(view: ReadView): StoredRun[] {
    const within = this.#batch === undefined ? {} : { index: 'batch', prefix: [this.#batch] };
    const to = this.#batch === undefined ? [this.#before] : [this.#batch, this.#before];
    const rows = view.list(runs, { ...within, to, reverse: true, limit: bulkSize });
    this.#before = rows.at(-1)?.record.number ?? 0;
    this.isOver = rows.length < bulkSize;
    return rows.map(({ record }) => record).filter(this.matches);
  }
}

function isOfKind(run: StoredRun, filter: RunFilter, states: ReadonlySet<RunState> | undefined): boolean {
  if (filter.function !== undefined && run.function !== filter.function) return false;
  if (states !== undefined && !states.has(run.state)) return false;
  return filter.error === undefined || run.error?.name === filter.error || run.error?.code === filter.error;
}

function isWithin(run: StoredRun, { from, to, meta = {} }: RunFilter, batch: number | undefined): boolean {
  if (batch !== undefined && run.batch !== batch) return false;
  if (from !== undefined && run.enqueuedAt < from.getTime()) return false;
  if (to !== undefined && run.enqueuedAt >= to.getTime()) return false;
  return Object.entries(meta).every(([name, value]) => run.meta?.[name] === value);
}

function find(view: ReadView, id: string): StoredRun | undefined {
  const number = typeof id === 'string' ? numberOf(id) : undefined;
  const run = number === undefined ? undefined : view.get(runs, [number])?.record;
  return run !== undefined && runId(run) === id ? run : undefined;
}

function recordOf(view: ReadView, run: StoredRun): RunRecord {
  const { input, result } = viewOf(view, run);
  const date = (at: Instant | null): Date | null => (at === null ? null : new Date(at));
  return {
    id: runId(run),
    function: run.function,
    version: run.version,
    state: run.state,
    priority: run.priority,
    attempt: run.attempt,
    interruptions: run.interruptions,
    enqueuedAt: new Date(run.enqueuedAt),
    dueAt: new Date(run.dueAt),
    startedAt: date(run.startedAt),
    endedAt: date(run.endedAt),
    input,
    ...(result === undefined ? {} : { result }),
    batch: run.batch === undefined ? null : `batch/${run.batch}`,
    meta: run.meta ?? {},
    error: run.error ?? null,
  };
}

function countsOf(members: readonly StoredRun[]): BatchCounts {
  const counts = Object.fromEntries(runStates.map((state) => [state, 0])) as Record<RunState, number>;
  for (const { state } of members) counts[state] += 1;
  return { ...counts, total: members.length };
}

const notFound = (id: string): FunctionsError =>
  new FunctionsError('run_not_found', `there is no run ${id}: it may have been removed`);

function storageFailure({ reason, message }: StorageError): FunctionsError {
  return new FunctionsError('storage_failed', `the store failed (${reason}): ${message}`);
}

function timeoutError(id: string, timeout: Duration): Error {
  const error = new Error(`the run ${id} has not ended within ${timeout}${typeof timeout === 'number' ? ' ms' : ''}`);
  error.name = 'TimeoutError';
  return error;
}
