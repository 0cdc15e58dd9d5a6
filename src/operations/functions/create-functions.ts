import { err, ok, Result, type ResultAsync } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import { hasKeys } from '../../functions/admission.js';
import { declarations, type FunctionDeclaration, replaces, schedules } from '../../functions/declaration.js';
import {
  type Cron,
  checkCron,
  cronPolicyOf,
  declarationOf,
  type FunctionDefinition,
  type FunctionPolicy,
  type HostRows,
  policyOf,
} from '../../functions/define-function.js';
import { batches, type FunctionPause, queueName, type StoredBatch } from '../../functions/run.js';
import { declared } from '../../functions/schedule.js';
import { storedJson } from '../../functions/stored-json.js';
import { defaultNamespaceName } from '../../jobs/namespaces/namespace.js';
import { checkArgument, checkOptions } from '../../options/check-options.js';
import { type Duration, isDuration, milliseconds } from '../../options/durations.js';
import { optional, textLike, wholeFrom } from '../../options/option-kinds.js';
import type { FunctionHost } from '../../ports/function-host.js';
import type { ReadView, StorageError } from '../../ports/storage.js';
import { processes } from '../../queue/process.js';
import { hour, type Milliseconds, second } from '../../shared/duration.js';
import { commit } from '../commit.js';
import { definitionKey, type EngineContext } from '../context/engine-context.js';
import { type OpenTransaction, sharedWriteOf } from '../context/shared-write.js';
import { StoreClock } from '../context/store-clock.js';
import { putFunctionJob, setPaused } from '../records/function-jobs.js';
import type { Transaction } from '../write-transaction.js';
import { beginEnqueue, inSpan } from './attempt-watch.js';
import { cancelRuns, discardRuns, retryRuns } from './change-runs.js';
import { knownPolicy, newRunOf, orderOf, type Placed, parsedOf, place, storageWith } from './enqueue.js';
import { explainRun } from './explain.js';
import {
  type Batch,
  type BatchOptions,
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
  type Run,
  type RunFilter,
  type RunRecord,
  retryTable,
  valueOrThrow,
  type WaitReason,
} from './functions-api.js';
import { declareSchedules } from './launches.js';
import { findOrThrow, LocalFunctions } from './local-functions.js';
import { removeJobOf } from './missing-functions.js';
import { putFollowUp } from './run-ends.js';
import { countFromZero, declareReports, warnOfWorkspace } from './run-reports.js';
import { countNew, countsIn, find, putNewRun, recordOf, Scan, traced } from './stored-runs.js';

const mostInputs = 10_000;
/** Of several hosts, none sees whether a process of another one is alive: its lease is all that there is. */
const defaultLease = ({ clock }: EngineContext): Milliseconds => (clock instanceof StoreClock ? 7 : 30) * second;

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
  const { concurrency = 20, lease = defaultLease(engine), namespace = defaultNamespaceName } = options;
  countFromZero(engine, policies.keys());
  const local = new LocalFunctions(engine, policies, { concurrency, lease: milliseconds(lease), machine, namespace });
  for (const definition of definitions as readonly FunctionDefinition<unknown>[])
    engine.definitions.set(definitionKey(namespace, definition.name), {
      policy: policies.get(definition.name) as FunctionPolicy,
      enqueue: (context, input, settings: EnqueueOptions) =>
        new EngineFunctions(context, local).enqueue(definition, ...([input, settings] as EnqueueArgs<unknown>)),
    });
  return new EngineFunctions(engine, local);
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

/** Handlers that ended before the deadline of a stop, and runs that were handed back. */
interface Stopped {
  readonly ended: number;
  readonly handedBack: number;
}

/**
 * The calls of `createFunctions`, over a context: its storage is that of the engine, or for one call that is part of a transaction that
 * of the transaction.
 */
class EngineFunctions implements Functions {
  readonly #context: EngineContext;
  readonly #local: LocalFunctions;
  /** Keeps the host alive while its functions run. */
  #running: NodeJS.Timeout | undefined;
  #starting: Promise<void> | undefined;
  /** A stop that is under way: another start waits for it. */
  #stopping: Promise<Stopped> | undefined;

  constructor(context: EngineContext, local: LocalFunctions) {
    this.#context = context;
    this.#local = local;
  }

  /** Of the JSON of an input. */
  get #mostBytes(): number {
    return this.#context.settings.functions.maximumValueBytes;
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
    const unheard = await this.#write(undefined, (tx) => {
      const declared = Result.combine([...this.#local.policies.values()].map((policy) => this.#redeclare(tx, policy)));
      return declared.map(() => {
        for (const policy of this.#local.policies.values()) declareSchedules(tx, policy);
        this.#local.queue.loop.declare(tx, tx);
        return declareReports(tx, this.#local.policies.values());
      });
    });
    for (const [name, workspace] of unheard) warnOfWorkspace(this.#context, name, workspace);
    this.#running = setInterval(() => undefined, 2 ** 30);
    this.#local.queue.start();
  }

  async stop({ deadline = 25 * second }: { readonly deadline?: Duration } = {}): Promise<Stopped> {
    checkArgument('functions.stop', 'deadline', deadline, delayKind);
    if (this.#starting !== undefined) await this.#starting.catch(() => undefined);
    const running = this.#running;
    if (running === undefined) return (await this.#stopping) ?? { ended: 0, handedBack: 0 };
    this.#running = undefined;
    this.#stopping = (async () => {
      const result = await this.#local.queue.stop(milliseconds(deadline));
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
   * none. A name belongs to one namespace, in which it is a job, too; a start moves it, if none of its runs is unfinished. Gives the index
   * of the declarations, at which this one is stored.
   */
  #declare(tx: Transaction, policy: FunctionPolicy): Result<number, FunctionsError> {
    const index = tx.tableIndex(declarations);
    if (this.#local.declaredAt.get(policy.name) === index) return ok(index);
    const known = tx.get(declarations, [policy.name])?.record;
    if (known !== undefined && known.namespace !== this.#local.limits.namespace)
      return err(ofOtherNamespace(known, this.#local.limits.namespace, 'use that namespace, or another name'));
    if (known !== undefined) return ok(index);
    return putDeclaration(tx, declarationOf(policy, this.#local.limits.namespace), undefined).map(() =>
      tx.tableIndex(declarations),
    );
  }

  /** The same at the start, which replaces what is stored. */
  #redeclare(tx: Transaction, policy: FunctionPolicy): Result<void, FunctionsError> {
    const declared = declarationOf(policy, this.#local.limits.namespace);
    const known = tx.get(declarations, [policy.name])?.record;
    if (known !== undefined && known.namespace !== this.#local.limits.namespace) {
      const obstacle = replaces(declared, known)
        ? this.#obstacleTo(tx, policy.name)
        : 'use that namespace, or another name';
      if (obstacle !== undefined) return err(ofOtherNamespace(known, this.#local.limits.namespace, obstacle));
      removeJobOf(tx, known);
    }
    return putDeclaration(tx, declared, known);
  }

  /** Why a function cannot move to another namespace now, and what to do. */
  #obstacleTo(tx: Transaction, name: string): string | undefined {
    const otherwise = 'or use that namespace or another name';
    const others = tx
      .list(processes, { prefix: [queueName] })
      .filter(({ record }) => record.versions?.[name] !== undefined);
    if (others.some(({ record: { identity = '' } }) => this.#local.limits.machine?.lifeOf(identity) !== 'dead'))
      return `a process that runs it there has not been stopped: stop it, ${otherwise}`;
    const { unfinished } = countsIn(tx, name);
    if (unfinished === 0) return undefined;
    const count = `${unfinished} ${unfinished === 1 ? 'is' : 'are'}`;
    return `it moves when none of its runs is unfinished, and ${count}: wait for them, cancel or discard them, ${otherwise}`;
  }

  in(transaction: OpenTransaction): JoinedFunctions {
    const write = sharedWriteOf('functions.in', transaction, this.#context);
    const join = <T>(call: (functions: Functions) => Promise<T>): Promise<T> =>
      write.add((storage) => call(new EngineFunctions({ ...this.#context, storage }, this.#local)));
    return {
      enqueue: (fn, ...args) => join((functions) => functions.enqueue(fn, ...args)),
      enqueueMany: (fn, inputs, options) => join((functions) => functions.enqueueMany(fn, inputs, options)),
      pause: (fn, key) => join((functions) => functions.pause(fn, key)),
      resume: (fn, key) => join((functions) => functions.resume(fn, key)),
      schedule: (fn, cron) => join((functions) => functions.schedule(fn, cron)),
      unschedule: (fn, id) => join((functions) => functions.unschedule(fn, id)),
    };
  }

  async enqueue<In, Out>(fn: FunctionDefinition<In, Out>, ...[input, given = {}]: EnqueueArgs<In>): Promise<Run<Out>> {
    const options = checkEnqueue(given, this.#context.clock.now());
    const order = await orderOf(this.#local.policies, { fn, input, mostBytes: this.#mostBytes });
    const isDue = options.delay === undefined && options.runAt === undefined && options.debounce === undefined;
    const slot = isDue ? this.#local.queue.reserve(order.policy.name) : undefined;
    let placed: Placed;
    let declaredAt = 0;
    try {
      placed = await this.#writeRuns<Placed>(order.policy, options.alongside, (tx) => {
        const declared = this.#declare(tx, order.policy);
        if (declared.isErr()) return err(declared.error);
        declaredAt = declared.value;
        return place(tx, order, options, slot);
      });
      this.#local.declaredAt.set(order.policy.name, declaredAt);
    } catch (error) {
      slot?.release(true);
      throw error;
    }
    const { run, isNew } = placed;
    if (slot === undefined) this.#local.queue.wake();
    else if (isNew) slot.begin(run, order.input);
    else slot.release(false);
    return this.#local.runOf(run, isNew);
  }

  async enqueueMany<In, Out>(
    fn: FunctionDefinition<In, Out>,
    inputs: readonly In[],
    given: BatchOptions = {},
  ): Promise<Batch<Out>> {
    const options = checkEnqueue(given, this.#context.clock.now(), 'functions.enqueueMany', batchTable);
    if (!Array.isArray(inputs) || inputs.length > mostInputs)
      throw new TypeError(`functions.enqueueMany: the inputs are a list of at most ${mostInputs}`);
    const follower = options.then === undefined ? undefined : this.#known('functions.enqueueMany', options.then);
    const orders = await Promise.all(
      inputs.map((input, at) =>
        orderOf(this.#local.policies, { fn, input, mostBytes: this.#mostBytes, where: `inputs[${at}]: ` }),
      ),
    );
    const policy = this.#known('functions.enqueueMany', fn);
    const { batch, members } = await this.#writeRuns(
      { name: policy.name, count: orders.length },
      options.alongside,
      (tx) => {
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
        else putFollowUp(tx, batch, this.#local.policies);
        return ok({ batch, members });
      },
    );
    this.#local.queue.wake();
    return this.#local.batchOf(batch, members);
  }

  async run<Out = unknown>(id: string): Promise<Run<Out> | undefined> {
    const stored = await this.#read((view) => find(view, id));
    return stored === undefined ? undefined : this.#local.runOf<Out>(stored, false);
  }

  async list(filter: RunFilter = {}): Promise<readonly RunRecord[]> {
    checkOptions('functions.list', filter, filterTable);
    const { limit = 100 } = filter;
    const found: RunRecord[] = [];
    const scan = new Scan(filter);
    while (found.length < limit && !scan.isOver) {
      const page = await this.#read((view) => {
        const rows = scan.look(view);
        return { rows, records: rows.matching.map((run) => recordOf(view, run)) };
      });
      scan.take(page.rows);
      found.push(...page.records);
    }
    return found.slice(0, limit);
  }

  cancel(filter: RunFilter): Promise<number> {
    return this.#changeAll('cancel', filter, () =>
      cancelRuns(this.#context, filter, 'cancelled by a filter', this.#local.policies),
    );
  }

  async retry(filter: RunFilter, options: { readonly rate?: number } = {}): Promise<number> {
    checkOptions('functions.retry', options, retryTable);
    return this.#changeAll('retry', filter, () => retryRuns(this.#context, filter, options.rate));
  }

  discard(filter: RunFilter): Promise<number> {
    return this.#changeAll('discard', filter, () => discardRuns(this.#context, filter, this.#local.policies));
  }

  async #changeAll<E extends FunctionsError | StorageError>(
    name: string,
    filter: RunFilter,
    change: () => ResultAsync<number, E>,
  ): Promise<number> {
    checkOptions(`functions.${name}`, filter, filterTable);
    if (filter.limit !== undefined || filter.after !== undefined)
      throw new TypeError(
        `functions.${name}: limit and after belong to functions.list; a bulk call takes all that match`,
      );
    const count = await valueOrThrow(change());
    this.#local.queue.wake();
    return count;
  }

  async pause(fn: { readonly name: string }, key?: string): Promise<void> {
    const pause = this.#pauseOf('functions.pause', fn, key);
    await this.#write(undefined, (tx) => ok(setPaused(tx, pause, true)));
  }

  async resume(fn: { readonly name: string }, key?: string): Promise<void> {
    const pause = this.#pauseOf('functions.resume', fn, key);
    await this.#write(undefined, (tx) => ok(setPaused(tx, pause, false)));
    this.#local.queue.wake();
  }

  #pauseOf(caller: string, fn: unknown, key: unknown): FunctionPause {
    const policy = this.#known(caller, fn);
    const { name } = policy;
    if (key === undefined) return { function: name };
    checkArgument(caller, 'key', key, {
      takes: 'a string of at most 256 characters',
      fits: (value) => typeof value === 'string' && value.length <= 256,
    });
    if (!hasKeys(policy))
      throw new TypeError(
        `${caller}: ${name} has no limit or rate with a key: leave the key out to act on the whole function, or give its ` +
          'concurrency or rate a key',
      );
    return { function: name, key: key as string };
  }

  async schedule<In>(fn: FunctionDefinition<In, unknown>, cron: Cron<In> & { readonly id: string }): Promise<void> {
    const policy = this.#known('functions.schedule', fn);
    const given = cron as Cron<unknown>;
    checkCron('functions.schedule', given);
    if (cron.id === undefined) throw new TypeError('functions.schedule: the schedule needs an id');
    const fault = inputFault(given, this.#mostBytes);
    if (fault !== undefined) throw new FunctionsError('too_large', fault);
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
      const stored = declared(cronPolicyOf(given), owner, known, tx.now);
      if (stored === undefined) return err(neverDue(policy.name, cron.schedule));
      tx.put(schedules, stored);
      return ok(undefined);
    });
    this.#local.queue.wake();
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

  explain(id: string): Promise<{ readonly reason: WaitReason; readonly message: string }> {
    return this.#read((view) => {
      const run = findOrThrow(view, id);
      return explainRun(view, run, this.#local.policies.get(run.function), this.#context.clock);
    });
  }

  #known(caller: string, fn: unknown): FunctionPolicy {
    return knownPolicy(this.#local.policies, caller, fn);
  }

  #read<T>(work: (view: ReadView) => T): Promise<T> {
    return valueOrThrow(this.#context.storage.read(work));
  }

  /** A write that enqueues runs of a function, in the trace of a span. */
  #writeRuns<T>(
    { name, count = 1 }: { readonly name: string; readonly count?: number },
    rows: HostRows | undefined,
    work: (tx: Transaction) => Result<T, FunctionsError>,
  ): Promise<T> {
    const span = beginEnqueue(this.#context, name, count);
    if (span === undefined) return this.#write(rows, work);
    return inSpan(this.#context, span, () =>
      this.#write(rows, (tx) => {
        tx.trace = span.traceparent ?? tx.trace;
        return work(tx);
      }),
    );
  }

  /** Rejects with the own exception of the host when its rows are refused. */
  async #write<T>(rows: HostRows | undefined, work: (tx: Transaction) => Result<T, FunctionsError>): Promise<T> {
    const context = this.#context;
    const joined = rows === undefined ? context : { ...context, storage: storageWith(context.storage, rows) };
    const written = await valueOrThrow(commit(joined, hostPrincipal, work));
    return written.value;
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

function ofOtherNamespace(known: FunctionDeclaration, namespace: string, remedy: string): FunctionsError {
  return new FunctionsError(
    'permission_denied',
    `the function ${known.name} belongs to the namespace '${known.namespace}', and createFunctions declares it in '${namespace}': ${remedy}`,
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
