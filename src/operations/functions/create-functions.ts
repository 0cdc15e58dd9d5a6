import { err, ok, Result } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import { hasKeys } from '../../functions/admission.js';
import { declarationOf, declarations, type FunctionDeclaration, replaces } from '../../functions/declaration.js';
import {
  type Cron,
  checkCron,
  cronPolicyOf,
  type FunctionDefinition,
  type FunctionPolicy,
  type HostRows,
  policyOf,
} from '../../functions/define-function.js';
import {
  batches,
  cancellation,
  type FunctionPause,
  hasEnded,
  logs,
  type Outcome,
  openMembers,
  pauses,
  runId,
  runs,
  type StoredBatch,
  type StoredRun,
} from '../../functions/run.js';
import { declared, schedules } from '../../functions/schedule.js';
import { storedJson } from '../../functions/stored-json.js';
import { defaultNamespaceName } from '../../jobs/namespaces/namespace.js';
import { checkArgument, checkOptions } from '../../options/check-options.js';
import { type Duration, isDuration, milliseconds } from '../../options/durations.js';
import { optional, textLike } from '../../options/option-kinds.js';
import type { FunctionHost } from '../../ports/function-host.js';
import type { ReadView } from '../../ports/storage.js';
import type { TracedSpan } from '../../ports/tracer.js';
import { hour, second } from '../../shared/duration.js';
import type { Key } from '../../shared/table.js';
import { putFunctionJob, setPaused } from '../books/function-jobs.js';
import { commit, type Transaction } from '../commit.js';
import { definitionKey, type EngineContext } from '../context/engine-context.js';
import { type OpenTransaction, sharedWriteOf } from '../context/shared-write.js';
import { beginEnqueue, inSpan } from './attempt-watch.js';
import { knownPolicy, newRunOf, orderOf, type Placed, parsedOf, place, storageWith } from './enqueue.js';
import { explainRun } from './explain.js';
import {
  type Batch,
  type BatchCounts,
  type BatchOptions,
  batchId,
  batchTable,
  checkEnqueue,
  delayKind,
  type EnqueueArgs,
  type EnqueueOptions,
  type Functions,
  FunctionsError,
  type FunctionsOptions,
  filterTable,
  type JoinedFunctions,
  notFound,
  type Run,
  RunFailedError,
  type RunFilter,
  type RunRecord,
  reasonKind,
  retryTable,
  storageFailure,
  type WaitReason,
  wholeFrom,
} from './functions-api.js';
import { declareSchedules } from './launches.js';
import { afterEnd, cancelIn, countsOf, putFollowUp, retryIn } from './run-ends.js';
import { type QueueLimits, RunQueue } from './run-queue.js';
import { countFromZero, declareReports, warnOfWorkspace } from './run-reports.js';
import {
  changeUnfinished,
  countEnded,
  countNew,
  find,
  putNewRun,
  recordOf,
  removeRun,
  Scan,
  traced,
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
  machine?: FunctionHost,
): Functions {
  checkOptions<FunctionsOptions>('createFunctions', options, {
    concurrency: optional(wholeFrom(1, 10_000)),
    lease: optional({
      takes: 'milliseconds or a string such as 30s, from 100ms to 1h',
      fits: (value) => isDuration(value) && milliseconds(value) >= 100 && milliseconds(value) <= hour,
    }),
    namespace: optional(textLike(/^[A-Za-z0-9-]{1,128}$/, 'at most 128 letters, digits and -')),
  });
  const policies = policiesOf(definitions);
  for (const { name, thread } of policies.values())
    if (thread !== undefined && machine === undefined)
      throw new TypeError(
        `createFunctions: ${name} runs in a thread, which only createFunctions of signalbox/functions has`,
      );
  for (const { name, crons } of policies.values())
    for (const cron of crons) {
      const fault = inputFault(cron, engine.settings.functions.maximumValueBytes);
      if (fault !== undefined) throw new TypeError(`createFunctions: ${name}: ${fault}`);
    }
  const { concurrency = 20, lease = 30 * second, namespace = defaultNamespaceName } = options;
  countFromZero(engine, policies.keys());
  const limits = { concurrency, lease: milliseconds(lease), machine, namespace };
  const functions = new EngineFunctions(engine, policies, limits);
  for (const definition of definitions as readonly FunctionDefinition<unknown>[])
    engine.definitions.set(definitionKey(namespace, definition.name), {
      policy: policies.get(definition.name) as FunctionPolicy,
      enqueue: (context, input, settings: EnqueueOptions) =>
        functions.enqueueIn(context, definition, [input, settings] as EnqueueArgs<unknown>),
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
  readonly #queue: RunQueue;
  readonly #policies: ReadonlyMap<string, FunctionPolicy>;
  readonly #namespace: string;
  /** Names whose declarations are known to be stored. */
  readonly #declared = new Set<string>();
  readonly #waiters = new Map<number, Set<(end: RunEnd) => void>>();
  #watching: Promise<void> | undefined;
  /** Keeps the host alive while its functions run. */
  #running: NodeJS.Timeout | undefined;
  #starting: Promise<void> | undefined;
  /** A stop that is under way: another start waits for it. */
  #stopping: Promise<Stopped> | undefined;

  constructor(
    engine: EngineContext,
    policies: ReadonlyMap<string, FunctionPolicy>,
    limits: QueueLimits & { readonly namespace: string },
  ) {
    this.#engine = engine;
    this.#policies = policies;
    this.#namespace = limits.namespace;
    this.#queue = new RunQueue(engine, policies, limits, {
      ended: (number, run) => {
        if (run === undefined) this.#lookFor(number).catch((error: FunctionsError) => this.#settle(number, error));
        else this.#settle(number, run);
      },
      untilEnded: (number) => this.#end(String(number), number, {}),
    });
  }

  /** Of the JSON of an input. */
  get #mostBytes(): number {
    return this.#engine.settings.functions.maximumValueBytes;
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
    const unheard = await this.#write(this.#engine, undefined, (tx) => {
      const declared = Result.combine([...this.#policies.values()].map((policy) => this.#declare(tx, policy, true)));
      return declared.map(() => {
        for (const policy of this.#policies.values()) declareSchedules(tx, policy);
        this.#queue.loop.declare(tx, tx);
        return declareReports(tx, this.#policies.values());
      });
    });
    for (const name of this.#policies.keys()) this.#declared.add(name);
    for (const [name, workspace] of unheard) warnOfWorkspace(this.#engine, name, workspace);
    this.#running = setInterval(() => undefined, 2 ** 30);
    this.#queue.start();
  }

  async stop({ deadline = 25 * second }: { readonly deadline?: Duration } = {}): Promise<Stopped> {
    checkArgument('functions.stop', 'deadline', deadline, delayKind);
    if (this.#starting !== undefined) await this.#starting.catch(() => undefined);
    const running = this.#running;
    if (running === undefined) return (await this.#stopping) ?? { ended: 0, handedBack: 0 };
    this.#running = undefined;
    this.#stopping = (async () => {
      const result = await this.#queue.stop(milliseconds(deadline));
      clearInterval(running);
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
   * none. A name belongs to one namespace, in which it is a job, too.
   */
  #declare(tx: Transaction, policy: FunctionPolicy, updates = false): Result<void, FunctionsError> {
    if (!updates && this.#declared.has(policy.name)) return ok(undefined);
    const known = tx.get(declarations, [policy.name])?.record;
    if (known !== undefined && known.namespace !== this.#namespace)
      return err(ofOtherNamespace(known, this.#namespace));
    return known !== undefined && !updates
      ? ok(undefined)
      : putDeclaration(tx, declarationOf(policy, this.#namespace), known);
  }

  in(transaction: OpenTransaction): JoinedFunctions {
    const write = sharedWriteOf('functions.in', transaction, this.#engine);
    const join = <T>(call: (context: EngineContext) => Promise<T>): Promise<T> =>
      write.add((storage) => call({ ...this.#engine, storage }));
    return {
      enqueue: (fn, ...args) => join((context) => this.enqueueIn(context, fn, args)),
      enqueueMany: (fn, inputs, options) => join((context) => this.#enqueueManyIn(context, fn, inputs, options)),
      pause: (fn, key) => join((context) => this.#pauseIn(context, fn, key)),
      resume: (fn, key) => join((context) => this.#resumeIn(context, fn, key)),
      schedule: (fn, cron) => join((context) => this.#scheduleIn(context, fn, cron)),
      unschedule: (fn, id) => join((context) => this.#unscheduleIn(context, fn, id)),
    };
  }

  enqueue<In, Out>(fn: FunctionDefinition<In, Out>, ...args: EnqueueArgs<In>): Promise<Run<Out>> {
    return this.enqueueIn(this.#engine, fn, args);
  }

  /** The storage of the context is that of a transaction, if there is one. */
  async enqueueIn<In, Out>(
    context: EngineContext,
    fn: FunctionDefinition<In, Out>,
    [input, given = {}]: EnqueueArgs<In>,
  ): Promise<Run<Out>> {
    const options = checkEnqueue(given, this.#engine.clock.now());
    const order = await orderOf(this.#policies, { fn, input, mostBytes: this.#mostBytes });
    const isDue = options.delay === undefined && options.runAt === undefined && options.debounce === undefined;
    const slot = isDue ? this.#queue.reserve(order.policy.name) : undefined;
    const span = beginEnqueue(this.#engine, order.policy.name);
    let placed: Placed | undefined;
    try {
      placed = await this.#writeIn(context, span, options.alongside, (tx) =>
        this.#declare(tx, order.policy).andThen(() => place(tx, order, options, slot)),
      );
      this.#declared.add(order.policy.name);
    } catch (error) {
      slot?.release(true);
      throw error;
    }
    const { run, isNew } = placed;
    if (slot === undefined) this.#queue.loop.wake();
    else if (isNew) slot.begin(run, order.input);
    else slot.release(false);
    return this.#runOf(run, isNew);
  }

  enqueueMany<In, Out>(
    fn: FunctionDefinition<In, Out>,
    inputs: readonly In[],
    options?: BatchOptions,
  ): Promise<Batch<Out>> {
    return this.#enqueueManyIn(this.#engine, fn, inputs, options);
  }

  async #enqueueManyIn<In, Out>(
    context: EngineContext,
    fn: FunctionDefinition<In, Out>,
    inputs: readonly In[],
    given: BatchOptions = {},
  ): Promise<Batch<Out>> {
    const options = checkEnqueue(given, this.#engine.clock.now(), 'functions.enqueueMany', batchTable);
    if (!Array.isArray(inputs) || inputs.length > mostInputs)
      throw new TypeError(`functions.enqueueMany: the inputs are a list of at most ${mostInputs}`);
    const follower = options.then === undefined ? undefined : this.#known('functions.enqueueMany', options.then);
    const mostBytes = this.#mostBytes;
    const orders = await Promise.all(
      inputs.map((input, at) => orderOf(this.#policies, { fn, input, mostBytes, where: `inputs[${at}]: ` })),
    );
    const policy = this.#known('functions.enqueueMany', fn);
    const span = beginEnqueue(this.#engine, policy.name, orders.length);
    const { batch, members } = await this.#writeIn(context, span, options.alongside, (tx) => {
      const declared = this.#declare(tx, policy);
      if (declared.isErr()) return err(declared.error);
      const full = orders.length === 0 ? undefined : countNew(tx, policy.name, orders.length);
      if (full !== undefined) return err(full);
      const batch = newBatch(tx.index, orders.length, follower);
      const members = orders.map((order, at) => {
        const number = at === 0 ? batch.number : tx.nextIndex();
        const run = { ...traced(tx, newRunOf(order, options, number, tx.now)), batch: batch.number };
        putNewRun(tx, run, order.text?.length ?? 0);
        return run;
      });
      if (members.length > 0) tx.put(batches, batch);
      else putFollowUp(tx, batch, this.#policies);
      return ok({ batch, members });
    });
    this.#queue.loop.wake();
    return this.#batchOf(batch, members);
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
    return this.#cancelAll(filter, 'cancelled by a filter');
  }

  #cancelAll(filter: RunFilter, reason: string): Promise<number> {
    return this.#change('cancel', filter, (tx, run) => {
      return cancelIn(tx, run, reason, this.#policies) !== undefined;
    });
  }

  async retry(filter: RunFilter, options: { readonly rate?: number } = {}): Promise<number> {
    checkOptions('functions.retry', options, retryTable);
    const { rate = Number.POSITIVE_INFINITY } = options;
    const from = this.#engine.clock.now();
    return this.#change('retry', filter, (tx, run, before) =>
      retryIn(tx, run, Math.round(from + (before * second) / rate)),
    );
  }

  discard(filter: RunFilter): Promise<number> {
    return this.#change('discard', filter, (tx, run) => {
      if (run.holder !== null) return false;
      if (hasEnded(run)) countEnded(tx, run, -1);
      else {
        changeUnfinished(tx, run.function, -1);
        afterEnd(tx, { ...run, state: 'cancelled', error: cancellation('discarded') }, this.#policies);
      }
      removeRun(tx, run);
      return true;
    });
  }

  pause(fn: { readonly name: string }, key?: string): Promise<void> {
    return this.#pauseIn(this.#engine, fn, key);
  }

  async #pauseIn(context: EngineContext, fn: { readonly name: string }, key?: string): Promise<void> {
    const pause = this.#pauseOf('functions.pause', fn, key);
    await this.#write(context, undefined, (tx) => {
      if (pause.record.key === undefined) setPaused(tx, pause.record.function, true);
      else if (tx.get(pauses, pause.at) === undefined) tx.put(pauses, pause.record);
      return ok(undefined);
    });
  }

  resume(fn: { readonly name: string }, key?: string): Promise<void> {
    return this.#resumeIn(this.#engine, fn, key);
  }

  async #resumeIn(context: EngineContext, fn: { readonly name: string }, key?: string): Promise<void> {
    const pause = this.#pauseOf('functions.resume', fn, key);
    await this.#write(context, undefined, (tx) => {
      if (pause.record.key === undefined) setPaused(tx, pause.record.function, false);
      else tx.remove(pauses, pause.at);
      return ok(undefined);
    });
    this.#queue.loop.wake();
  }

  #pauseOf(caller: string, fn: unknown, key: unknown): { readonly record: FunctionPause; readonly at: Key } {
    const policy = this.#known(caller, fn);
    const { name } = policy;
    if (key === undefined) return { record: { function: name }, at: [name] };
    checkArgument(caller, 'key', key, {
      takes: 'a string of at most 256 characters',
      fits: (value) => typeof value === 'string' && value.length <= 256,
    });
    if (!hasKeys(policy))
      throw new TypeError(
        `${caller}: ${name} has no limit or rate with a key: leave the key out to act on the whole function, or give its ` +
          'concurrency or rate a key',
      );
    return { record: { function: name, key: key as string }, at: [name, key as string] };
  }

  schedule<In>(fn: FunctionDefinition<In, unknown>, cron: Cron<In> & { readonly id: string }): Promise<void> {
    return this.#scheduleIn(this.#engine, fn, cron);
  }

  async #scheduleIn<In>(
    context: EngineContext,
    fn: FunctionDefinition<In, unknown>,
    cron: Cron<In> & { readonly id: string },
  ): Promise<void> {
    const policy = this.#known('functions.schedule', fn);
    checkCron('functions.schedule', cron as Cron<unknown>);
    if (cron.id === undefined) throw new TypeError('functions.schedule: the schedule needs an id');
    const fault = inputFault(cron as Cron<unknown>, this.#mostBytes);
    if (fault !== undefined) throw new FunctionsError('too_large', fault);
    await parsedOf(policy, cron.input, `the input of the schedule '${cron.id}'`);
    await this.#write(context, undefined, (tx) => {
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
      if (stored === undefined) return err(neverDue(policy.name, cron.schedule));
      tx.put(schedules, stored);
      return ok(undefined);
    });
    this.#queue.loop.wake();
  }

  unschedule(fn: { readonly name: string }, id: string): Promise<boolean> {
    return this.#unscheduleIn(this.#engine, fn, id);
  }

  async #unscheduleIn(context: EngineContext, fn: { readonly name: string }, id: string): Promise<boolean> {
    const { name } = this.#known('functions.unschedule', fn);
    return this.#write(context, undefined, (tx) => {
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

  async explain(id: string): Promise<{ readonly reason: WaitReason; readonly message: string }> {
    return this.#read((view) => {
      const run = find(view, id);
      if (run === undefined) throw notFound(id);
      return explainRun(view, run, this.#policies.get(run.function), this.#engine.clock);
    });
  }

  #known(caller: string, fn: unknown): FunctionPolicy {
    return knownPolicy(this.#policies, caller, fn);
  }

  /** Changes all that match, in writes of a bounded size; `before` counts those changed before. */
  async #change(
    name: string,
    filter: RunFilter,
    change: (tx: Transaction, run: StoredRun, before: number) => boolean | FunctionsError,
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
      changed += await this.#write(this.#engine, undefined, (tx) => {
        const matching = numbers.flatMap((number) => tx.get(runs, [number])?.record ?? []).filter(scan.matches);
        let count = 0;
        for (const run of matching) {
          const isChanged = change(tx, run, changed + count);
          if (isChanged instanceof FunctionsError) return err(isChanged);
          if (isChanged) count += 1;
        }
        return ok(count);
      });
    }
    this.#queue.loop.wake();
    return changed;
  }

  #batchOf<Out>(batch: StoredBatch, members: readonly StoredRun[]): Batch<Out> {
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
      runs: members.map((run) => this.#runOf<Out>(run, true)),
      counts: () => this.#read(counts),
      cancel: (reason = 'the batch was cancelled') => {
        checkArgument('batch.cancel', 'reason', reason, reasonKind);
        return this.#cancelAll({ batch: id }, reason);
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
      log: () =>
        this.#read((view) => {
          if (find(view, id) === undefined) throw notFound(id);
          const lines = view.list(logs, { prefix: [run.number] }).flatMap(({ record }) => record.lines);
          return lines.map(({ at, level, text }) => ({ at: new Date(at), level, text }));
        }),
    };
  }

  async #cancelOne(id: string, reason: string): Promise<boolean> {
    checkArgument('run.cancel', 'reason', reason, reasonKind);
    const changed = await this.#write(this.#engine, undefined, (tx) => {
      const run = find(tx, id);
      return ok(run === undefined ? undefined : cancelIn(tx, run, reason, this.#policies));
    });
    if (changed?.cancelling !== undefined) this.#queue.cancel(changed.number, reason);
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
      if (!this.#queue.has(number)) this.#lookFor(number).catch(fail);
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
        const elsewhere = [...this.#waiters.keys()].filter((number) => !this.#queue.has(number));
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

  /** A write in the trace of a span. */
  #writeIn<T>(
    context: EngineContext,
    span: TracedSpan | undefined,
    rows: HostRows | undefined,
    work: (tx: Transaction) => Result<T, FunctionsError>,
  ): Promise<T> {
    if (span === undefined) return this.#write(context, rows, work);
    return inSpan(this.#engine, span, () =>
      this.#write(context, rows, (tx) => {
        tx.trace = span.traceparent ?? tx.trace;
        return work(tx);
      }),
    );
  }

  /** Rejects with the own exception of the host when its rows are refused. */
  async #write<T>(
    context: EngineContext,
    rows: HostRows | undefined,
    work: (tx: Transaction) => Result<T, FunctionsError>,
  ): Promise<T> {
    const joined = rows === undefined ? context : { ...context, storage: storageWith(context.storage, rows) };
    const written = await commit(joined, hostPrincipal, work);
    if (written.isOk()) return written.value.value;
    throw written.error instanceof FunctionsError ? written.error : storageFailure(written.error);
  }
}

/** Why the input of a schedule cannot be stored. Schedules are declared before the settings of an engine are known. */
function inputFault({ id, input }: Pick<Cron<unknown>, 'id' | 'input'>, mostBytes: number): string | undefined {
  const stored = input === undefined ? undefined : storedJson(`input of the schedule '${id}'`, input, mostBytes);
  return stored?.isErr() === true ? stored.error.message : undefined;
}

function putDeclaration(
  tx: Transaction,
  declared: FunctionDeclaration,
  known: FunctionDeclaration | undefined,
): Result<void, FunctionsError> {
  const isNewer = known === undefined || replaces(declared, known);
  if (isNewer) tx.put(declarations, declared);
  return putFunctionJob(tx, isNewer ? declared : known) ? ok(undefined) : err(nameTaken(declared));
}

function ofOtherNamespace(known: FunctionDeclaration, namespace: string): FunctionsError {
  return new FunctionsError(
    'permission_denied',
    `the function ${known.name} belongs to the namespace '${known.namespace}', and createFunctions declares it in ` +
      `'${namespace}': use that namespace, or another name`,
  );
}

function nameTaken({ name, namespace }: FunctionDeclaration): FunctionsError {
  return new FunctionsError(
    'permission_denied',
    `the namespace '${namespace}' has a job ${JSON.stringify(name)} of another kind: purge that job, or give the function ` +
      'another name or createFunctions another namespace',
  );
}

function neverDue(name: string, schedule: string): FunctionsError {
  return new FunctionsError(
    'invalid_input',
    `the schedule ${JSON.stringify(schedule)} of ${name} has no launch after now`,
  );
}

function newBatch(number: number, total: number, follower: FunctionPolicy | undefined): StoredBatch {
  const { name = '', version = 1, priority = 50 } = follower ?? {};
  return {
    number,
    total,
    ended: { succeeded: 0, failed: 0, cancelled: 0, timed_out: 0 },
    left: total,
    ...(follower === undefined ? {} : { next: { function: name, version, priority } }),
  };
}

function timeoutError(id: string, timeout: Duration): Error {
  const error = new Error(`the run ${id} has not ended within ${timeout}${typeof timeout === 'number' ? ' ms' : ''}`);
  error.name = 'TimeoutError';
  return error;
}
