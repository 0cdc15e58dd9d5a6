import { err, ok, Result } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import { limitNames } from '../../functions/admission.js';
import { declarationOf, declarations, replaces } from '../../functions/declaration.js';
import {
  type Cron,
  checkCron,
  cronPolicyOf,
  type FunctionDefinition,
  type FunctionPolicy,
  type Json,
  policyOf,
} from '../../functions/define-function.js';
import { cancelled, hasEnded, type Outcome, pauses, runId, runs, type StoredRun } from '../../functions/run.js';
import { declared, schedules } from '../../functions/schedule.js';
import { defaultNamespaceName } from '../../jobs/namespaces/namespace.js';
import { checkArgument, checkOptions } from '../../options/check-options.js';
import { type Duration, isDuration, milliseconds } from '../../options/durations.js';
import { optional, textLike } from '../../options/option-kinds.js';
import type { ReadView } from '../../ports/storage.js';
import { hour, type Milliseconds, second } from '../../shared/duration.js';
import { commit, type Transaction } from '../commit.js';
import { definitionKey, type EngineContext } from '../context/engine-context.js';
import { hostRowsOf, jsonOf, newRunOf, type Order, type Placed, parsedOf, place, storageWith } from './enqueue.js';
import {
  type Batch,
  delayKind,
  type EnqueueArgs,
  type EnqueueOptions,
  enqueueTable,
  type Functions,
  FunctionsError,
  type FunctionsOptions,
  filterTable,
  type HostRows,
  notFound,
  type Run,
  RunFailedError,
  type RunFilter,
  type RunRecord,
  storageFailure,
  wholeFrom,
} from './functions-api.js';
import { declareSchedules } from './launches.js';
import { RunLoop } from './run-loop.js';
import {
  countEnded,
  countsOf,
  endIn,
  find,
  putNewRun,
  recordOf,
  removeRun,
  retryIn,
  Scan,
  viewOf,
} from './stored-runs.js';

const mostInputs = 10_000;

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
    namespace: optional(textLike(/^[A-Za-z0-9-]{1,128}$/, 'at most 128 letters, digits and -')),
  });
  const { concurrency = 20, lease = 30 * second, namespace = defaultNamespaceName } = options;
  const limits = { concurrency, lease: milliseconds(lease), namespace };
  const functions = new EngineFunctions(engine, policiesOf(definitions), limits);
  for (const definition of definitions as readonly FunctionDefinition<unknown>[])
    engine.definitions.set(definitionKey(namespace, definition.name), {
      enqueue: (input, settings: EnqueueOptions) => functions.enqueue(definition, input, settings),
    });
  return functions;
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

class EngineFunctions implements Functions {
  readonly #engine: EngineContext;
  readonly #loop: RunLoop;
  readonly #policies: ReadonlyMap<string, FunctionPolicy>;
  readonly #namespace: string;
  /** Names whose declarations are known to be stored. */
  readonly #declared = new Set<string>();
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
    limits: { readonly concurrency: number; readonly lease: Milliseconds; readonly namespace: string },
  ) {
    this.#engine = engine;
    this.#policies = policies;
    this.#namespace = limits.namespace;
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
      const declared = Result.combine([...this.#policies.values()].map((policy) => this.#declare(tx, policy, true)));
      if (declared.isOk()) for (const policy of this.#policies.values()) declareSchedules(tx, policy);
      return declared;
    });
    for (const name of this.#policies.keys()) this.#declared.add(name);
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

  /**
   * Stores the declaration of a function, so that any process knows it: at the start, or at its first enqueue here if the store has
   * none. A name belongs to one namespace.
   */
  #declare(tx: Transaction, policy: FunctionPolicy, updates = false): Result<void, FunctionsError> {
    if (!updates && this.#declared.has(policy.name)) return ok(undefined);
    const known = tx.get(declarations, [policy.name])?.record;
    if (known !== undefined && known.namespace !== this.#namespace)
      return err(
        new FunctionsError(
          'permission_denied',
          `the function ${policy.name} belongs to the namespace '${known.namespace}', and createFunctions declares it in ` +
            `'${this.#namespace}': use that namespace, or another name`,
        ),
      );
    const declared = declarationOf(policy, this.#namespace);
    if (known === undefined || (updates && replaces(declared, known))) tx.put(declarations, declared);
    return ok(undefined);
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
        this.#declare(tx, order.policy).andThen(() => place(tx, order, options, reserved ? this.#loop : undefined)),
      );
      this.#declared.add(order.policy.name);
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
      const [first] = orders;
      return (first === undefined ? ok(undefined) : this.#declare(tx, first.policy)).map(() => ({
        batch,
        runs: orders.map((order, at) => {
          const run = { ...newRunOf(order, options, at === 0 ? batch : tx.nextIndex(), tx.now), batch };
          putNewRun(tx, run, order.text?.length ?? 0);
          return run;
        }),
      }));
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
    return this.#change('retry', filter, retryIn);
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

function timeoutError(id: string, timeout: Duration): Error {
  const error = new Error(`the run ${id} has not ended within ${timeout}${typeof timeout === 'number' ? ' ms' : ''}`);
  error.name = 'TimeoutError';
  return error;
}
