import { err, ok, type Result } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import {
  type FunctionPolicy,
  type Handler,
  type HostRows,
  type Json,
  NonRetryableError,
  type RunContext,
  Snooze,
} from '../../functions/define-function.js';
import { retryWait, waitUntil } from '../../functions/retry-wait.js';
import {
  type AttemptEnd,
  cancellation,
  type LogLine,
  latestLines,
  longestLine,
  longestLog,
  type Notes,
  type RunError,
  runId,
  runs,
  type StoredRun,
  type StoredStep,
  steps,
} from '../../functions/run.js';
import { isOf, runErrorOf, stringOf } from '../../functions/run-error.js';
import { storedJson } from '../../functions/stored-json.js';
import { mostProgressBytes } from '../../functions/value-limits.js';
import type { FunctionHost } from '../../ports/function-host.js';
import type { ReadView } from '../../ports/storage.js';
import { isSameStart } from '../../queue/process.js';
import type { Milliseconds } from '../../shared/duration.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import type { Transaction } from '../write-transaction.js';
import { newRunOf, type Order, orderOf, parsedBy } from './enqueue.js';
import { FunctionsError, notFound, RunFailedError } from './functions-api.js';
import { countNew, putNewRun } from './stored-runs.js';

/** Why an attempt should end; the name of the reason of its signal. */
type AbortCause = 'cancelled' | 'timed_out' | 'stopping' | 'lost';

const maximumSteps = 1000;

/** The input of a queued run does not fit the code that would run it. */
class InvalidInput extends NonRetryableError {
  override readonly name = 'InvalidInput' as 'NonRetryableError';
}

/** The queue of an attempt, as the attempt uses it. */
export interface AttemptQueue {
  readonly machine: FunctionHost | undefined;
  /** Notes are to be stored. */
  noted(attempt: Attempt): void;
  /** A call is under way: the attempt needs no slot. */
  waits(attempt: Attempt): void;
  /** A call has ended; resolves when the attempt has a slot again. */
  resume(attempt: Attempt): Promise<void>;
  /** A call has failed before its run ended, or the run has ended. */
  goesOn(attempt: Attempt): void;
  untilEnded(number: number): Promise<unknown>;
}

/** Where attempts run. */
export interface AttemptHost {
  readonly context: EngineContext;
  /** Those that they may call. */
  readonly policies: ReadonlyMap<string, FunctionPolicy>;
  readonly queue: AttemptQueue;
}

/** How an attempt ended, and what it reported before that was not stored. */
export interface NotedEnd {
  readonly end: AttemptEnd;
  readonly notes: Notes;
}

/** A function that a run calls, and with what. */
interface CallRequest {
  readonly fn: unknown;
  readonly input: unknown;
}

/** One call of a handler in this process. */
export class Attempt {
  readonly run: StoredRun;
  /** Why it was aborted. */
  cause: AbortCause | undefined;
  /** Its end has been noted: a later one has no effect. */
  hasEnded = false;
  /** Rows of the host that commit with its outcome. */
  rows: HostRows | undefined;
  readonly #host: AttemptHost;
  #reason = 'the run was cancelled';
  #controller: AbortController | undefined;
  readonly #input: Json | undefined;
  /** By the monotonic clock: when it times out, when it was last heard of, and when it is given up after an abort. */
  #timesOutAt: Milliseconds = Number.POSITIVE_INFINITY;
  #heardAt: Milliseconds = Number.POSITIVE_INFINITY;
  #givenUpAt: Milliseconds = Number.POSITIVE_INFINITY;
  #isSilent = false;
  /** Calls that have not ended, and since when. */
  #calls = 0;
  #waitsSince: Milliseconds = 0;
  /** Read at the first step. */
  #steps: Promise<Map<string, StoredStep>> | undefined;
  readonly #named = new Set<string>();
  #progressed: Json | undefined;
  #lines: LogLine[] = [];
  /** Characters of the lines. */
  #size = 0;

  constructor(
    { run, input }: { readonly run: StoredRun; readonly input: Json | undefined },
    readonly policy: FunctionPolicy,
    host: AttemptHost,
  ) {
    this.run = run;
    this.#input = input;
    this.#host = host;
  }

  /** Its time begins. */
  begin(): void {
    this.#heardAt = this.#now;
    this.#timesOutAt = this.#now + this.policy.timeout;
  }

  /** By the monotonic clock: when it times out, or when it is given up after an abort. */
  get deadline(): Milliseconds {
    if (this.cause !== undefined) return this.#givenUpAt;
    return this.isWaiting ? Number.POSITIVE_INFINITY : Math.min(this.#timesOutAt, this.#silentAt);
  }

  /** It waits for runs that it has called, and needs no slot. */
  get isWaiting(): boolean {
    return this.#calls > 0 && !this.hasEnded;
  }

  /** Made when the handler asks for it: most never do. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.cause !== undefined && !this.#controller.signal.aborted) this.#controller.abort(reasonOf(this.cause));
    return this.#controller.signal;
  }

  get #silentAt(): Milliseconds {
    return this.#heardAt + this.policy.silence;
  }

  /** Aborts the signal of the handler, and when it is given up. */
  abort(cause: AbortCause, until: Milliseconds, reason?: string): void {
    if (this.cause !== undefined) return;
    this.#isSilent = this.#silentAt < this.#timesOutAt;
    this.cause = cause;
    this.#givenUpAt = until;
    if (reason !== undefined) this.#reason = reason;
    this.#controller?.abort(reasonOf(cause));
  }

  /** One more call is under way: time does not count while there are any. */
  waits(): void {
    if (this.#calls === 0) this.#waitsSince = this.#now;
    this.#calls += 1;
  }

  /** One call less. */
  goesOn(): void {
    this.#calls -= 1;
    if (this.#calls > 0) return;
    this.#timesOutAt += this.#now - this.#waitsSince;
    this.#heardAt = this.#now;
  }

  /** Whether another call than this one is under way. */
  get hasOtherCalls(): boolean {
    return this.#calls > 1;
  }

  /** What is to be stored since the last time. */
  takeNotes(): Notes {
    const progress = this.#progressed;
    const notes = { ...(progress === undefined ? {} : { progress }), lines: latestLines(this.#lines) };
    this.#progressed = undefined;
    this.#lines = [];
    this.#size = 0;
    return notes;
  }

  /** Notes that could not be stored. */
  returnNotes({ progress, lines }: Notes): void {
    this.#progressed ??= progress;
    this.#lines = [...lines, ...this.#lines];
  }

  /** What is recorded when the handler is given up, or fails after an abort. */
  ending(error: RunError | undefined, wait: Milliseconds | undefined): AttemptEnd {
    if (this.cause === 'cancelled') return { type: 'cancelled', error: cancellation(this.#reason) };
    if (this.cause === 'stopping' || this.cause === 'lost') return { type: 'handed_back' };
    if (this.cause !== 'timed_out') return { type: 'failed', error: error ?? unknownError, wait };
    const message = this.#isSilent
      ? `the attempt gave no sign of life for ${this.policy.silence} ms`
      : `the attempt took longer than ${this.policy.timeout} ms`;
    return { type: 'timed_out', error: error ?? { name: 'TimedOut', message, stack: '' }, wait };
  }

  /** Calls the handler. Never rejects. */
  async perform(): Promise<AttemptEnd> {
    try {
      const { policy } = this;
      const isOlder = this.run.version < policy.version && policy.migrate !== undefined;
      const input = isOlder ? policy.migrate?.(this.#input as Json, this.run.version) : this.#input;
      const parsed = await parsedBy(policy, input, (issues) => new InvalidInput(issues));
      const result: unknown = await this.#handler?.(parsed, this.#runContext());
      if (this.cause === 'cancelled' || this.cause === 'timed_out') return this.ending(undefined, this.wait(undefined));
      return { type: 'succeeded', result: kept('result', result, this.#mostBytes) };
    } catch (error) {
      return this.failure(error);
    }
  }

  /** The end of an attempt that threw. */
  failure(error: unknown): AttemptEnd {
    if (this.cause !== undefined || !isOf(error, Snooze)) return this.ending(runErrorOf(error), this.wait(error));
    const wait = waitUntil(error, this.#host.context.clock.now());
    if (wait !== undefined) return { type: 'snoozed', wait };
    return this.failure(new TypeError('Snooze takes milliseconds, a string such as 30s, or a valid Date'));
  }

  wait(error: unknown): Milliseconds | undefined {
    // The run that was called has had its own attempts.
    if (isOf(error, RunFailedError)) return undefined;
    const { ids, clock } = this.#host.context;
    return retryWait(this.policy, { error, attempt: this.run.attempt }, ids.fraction(), clock.now());
  }

  get #handler(): Handler<unknown, unknown> | undefined {
    const { handler, thread } = this.policy;
    return thread === undefined ? handler : this.#host.queue.machine?.inThread(thread);
  }

  get #now(): Milliseconds {
    return this.#host.context.clock.monotonic();
  }

  /** Of the JSON of a result or the value of a step. */
  get #mostBytes(): number {
    return this.#host.context.settings.functions.maximumValueBytes;
  }

  #runContext(): RunContext {
    const { run, policy } = this;
    const attempt = this;
    return {
      id: runId(run),
      attempt: run.attempt,
      isLastAttempt: run.attempt >= policy.retry.attempts,
      meta: run.meta ?? {},
      dueAt: new Date(run.dueAt),
      get signal() {
        return attempt.signal;
      },
      log: {
        info: (text) => this.#log('info', text),
        error: (text) => this.#log('error', text),
      },
      progress: (value) => this.#progress(value),
      heartbeat: () => this.#hear(),
      step: (name, work) => unobserved(this.#step(name, work)),
      call: (name, fn, ...input) => unobserved(this.#call(name, { fn, input: input[0] })) as Promise<never>,
      commit: (result, rows) => this.#commit(result, rows),
    };
  }

  #hear(): void {
    this.#heardAt = this.#now;
  }

  #log(level: LogLine['level'], text: string): void {
    if (this.hasEnded) return;
    const line = { at: this.#host.context.clock.now(), level, text: stringOf(text).slice(0, longestLine) };
    this.#lines.push(line);
    this.#size += line.text.length;
    if (this.#size > 2 * longestLog) {
      this.#lines = [...latestLines(this.#lines)];
      this.#size = longestLog;
    }
    this.#host.queue.noted(this);
  }

  #progress(value: Json): void {
    const progress = keptProgress(value);
    this.#hear();
    if (this.hasEnded) return;
    this.#progressed = progress;
    this.#host.queue.noted(this);
  }

  #commit<T>(result: T, rows: HostRows): T {
    if (!('alongside' in this.#host.context.storage))
      throw new NonRetryableError('run.commit needs a store that has the tables of the host, such as sqliteStorage');
    if (typeof rows !== 'function') throw new NonRetryableError('run.commit: the second argument is a function');
    if (this.rows !== undefined) throw new NonRetryableError('run.commit is called once in an attempt');
    this.rows = rows;
    return result;
  }

  async #step<T>(name: string, work: () => T | Promise<T>): Promise<T> {
    const { done, all } = await this.#known(name);
    // Of a run that was called by this name, only a result counts.
    if (done !== undefined && (done.called === undefined || done.called.outcome === 'succeeded'))
      return done.value as T;
    const value = await work();
    const stored = kept(`value of the step '${name}'`, value, this.#mostBytes);
    const step = { run: this.run.number, name, ...(stored === undefined ? {} : { value: stored }) };
    await this.#write(name, (tx) => tx.put(steps, step));
    all.set(name, step);
    this.#hear();
    return value;
  }

  async #call(name: string, request: CallRequest): Promise<Json | undefined> {
    const { done, all } = await this.#known(name);
    if (done !== undefined && done.called === undefined) return done.value;
    const ended = done?.called?.outcome === undefined ? await this.#callRun(name, done, request) : done;
    all.set(name, ended);
    const { number = 0, function: called = '', outcome = 'cancelled', error } = ended.called ?? {};
    if (outcome === 'succeeded') return ended.value;
    throw new RunFailedError(runId({ function: called, number }), outcome, error ?? null);
  }

  /** What a name stands for so far. Each name is used once in an attempt. */
  async #known(
    name: string,
  ): Promise<{ readonly done: StoredStep | undefined; readonly all: Map<string, StoredStep> }> {
    if (typeof name !== 'string' || name === '' || name.length > 256)
      throw new NonRetryableError('the name of a step is a string of 1 to 256 characters');
    if (this.#named.has(name)) throw new NonRetryableError(`the step '${name}' is used twice in one attempt`);
    this.#named.add(name);
    this.#hear();
    this.#steps ??= this.#readSteps();
    const all = await this.#steps;
    const done = all.get(name);
    if (done === undefined && all.size >= maximumSteps)
      throw new NonRetryableError(`a run has at most ${maximumSteps} steps`);
    return { done, all };
  }

  /** Calls a run, or continues to wait for the one that was called before, until it has ended. */
  async #callRun(name: string, called: StoredStep | undefined, request: CallRequest): Promise<StoredStep> {
    const { policies, queue } = this.#host;
    const order =
      called === undefined
        ? await orderOf(policies, { ...request, mostBytes: this.#mostBytes, caller: 'run.call' })
        : undefined;
    queue.waits(this);
    try {
      const number = await this.#write(name, (tx, run) => {
        const found = called?.called?.number ?? putCalled(tx, run, name, order);
        if (typeof found === 'number') tx.put(runs, { ...run, state: 'waiting' });
        return found;
      });
      if (typeof number !== 'number') throw number;
      await unlessAborted(this, queue.untilEnded(number));
    } catch (error) {
      queue.goesOn(this);
      throw error;
    }
    await queue.resume(this);
    const all = await this.#readSteps();
    return all.get(name) ?? { run: this.run.number, name };
  }

  /** Steps and called runs of this run, by name. */
  async #readSteps(): Promise<Map<string, StoredStep>> {
    const { number } = this.run;
    const read = await this.#host.context.storage.read((view) => view.list(steps, { prefix: [number] }));
    if (read.isErr()) throw new Error(`the steps of the run cannot be read: ${read.error.message}`);
    return new Map(read.value.map(({ record }) => [record.name, record]));
  }

  /** A write counts only for the start that is stored. */
  async #write<T>(name: string, work: (tx: Transaction, run: StoredRun) => T): Promise<T> {
    const written = await commit(this.#host.context, hostPrincipal, (tx): Result<T, { readonly message: string }> => {
      const run = ownRun(tx, this);
      return run === undefined ? err({ message: lost }) : ok(work(tx, run));
    });
    if (written.isOk()) return written.value.value;
    if (written.error.message === lost) this.abort('lost', Number.POSITIVE_INFINITY);
    throw new Error(`the step '${name}' is not stored: ${written.error.message}`);
  }
}

const lost = 'another process has the run';

/** The stored run of an attempt, if it is still in the start that the attempt began. */
export function ownRun(view: ReadView, { run }: Attempt): StoredRun | undefined {
  const stored = view.get(runs, [run.number])?.record;
  return isSameStart(stored, run) ? stored : undefined;
}

const unknownError: RunError = { name: 'Error', message: 'the attempt failed', stack: '' };

function reasonOf(cause: AbortCause): Error {
  const error = new Error(`the attempt is over: ${cause}`);
  error.name = cause;
  return error;
}

/** A value of the handler as it is kept. `most`: bytes of its JSON. */
export function kept(what: string, value: unknown, most: number): Json | undefined {
  if (value === undefined) return undefined;
  const stored = storedJson(what, value, most);
  if (stored.isErr()) throw new NonRetryableError(stored.error.message);
  return stored.value.value;
}

export function keptProgress(value: unknown): Json {
  const progress = kept('progress', value, mostProgressBytes);
  if (progress === undefined) throw new NonRetryableError('the progress is not JSON: the value is undefined');
  return progress;
}

/** A handler may end without having waited for what it began, whose failure must not end the process. */
function unobserved<T>(begun: Promise<T>): Promise<T> {
  begun.catch(() => undefined);
  return begun;
}

/** Enqueues the run that another one calls; its number, or why it is not. */
function putCalled(
  tx: Transaction,
  parent: StoredRun,
  step: string,
  order: Order | undefined,
): number | FunctionsError {
  if (order === undefined) return notFound(`called as '${step}'`);
  if (parent.cancelling !== undefined)
    return new FunctionsError('run_not_found', 'the run is cancelled: it calls nothing more');
  const full = countNew(tx, order.policy.name);
  if (full !== undefined) return full;
  const number = tx.index;
  const run = newRunOf(order, {}, number, tx.now);
  const trace = parent.trace === undefined ? {} : { trace: parent.trace };
  const owned = { ...run, ...trace, parent: { run: parent.number, function: parent.function, step } };
  putNewRun(tx, owned, order.text?.length ?? 0);
  tx.put(steps, { run: parent.number, name: step, called: { number, function: run.function } });
  return number;
}

/** The end of a wait, or the reason of an abort. */
export function unlessAborted<T>({ signal }: Attempt, wait: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    wait.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
