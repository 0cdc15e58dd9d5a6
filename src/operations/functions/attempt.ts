import {
  type FunctionPolicy,
  type Handler,
  type HostRows,
  type Json,
  NonRetryableError,
  type RunContext,
  type SchemaIssue,
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
  type StoredRun,
  type StoredStep,
} from '../../functions/run.js';
import { isOf, runErrorOf, stringOf } from '../../functions/run-error.js';
import { storedJson } from '../../functions/stored-json.js';
import { mostProgressBytes } from '../../functions/value-limits.js';
import type { Milliseconds } from '../../shared/duration.js';
import type { EngineContext } from '../context/engine-context.js';
import { RunFailedError } from './functions-api.js';

/** Why an attempt should end; the name of the reason of its signal. */
type AbortCause = 'cancelled' | 'timed_out' | 'stopping' | 'lost';

const maximumSteps = 1000;

/** The input of a queued run does not fit the code that would run it. */
class InvalidInput extends NonRetryableError {
  override readonly name = 'InvalidInput' as 'NonRetryableError';
}

/** What an attempt needs of the loop that runs it. */
export interface AttemptHost {
  readonly context: EngineContext;
  handlerOf(policy: FunctionPolicy): Handler<unknown, unknown> | undefined;
  /** Steps and called runs of this run, by name. */
  steps(attempt: Attempt): Promise<Map<string, StoredStep>>;
  keep(attempt: Attempt, name: string, value: Json | undefined): Promise<void>;
  /** Notes are to be stored. */
  noted(attempt: Attempt): void;
  /** Calls a run, or continues to wait for the one that was called before; resolves when it has ended. */
  call(attempt: Attempt, name: string, called: StoredStep | undefined, request: CallRequest): Promise<StoredStep>;
  /** Why outcomes cannot be stored with rows of the host; undefined when they can. */
  readonly commitFault: string | undefined;
}

/** How an attempt ended, and what it reported before that was not stored. */
export interface NotedEnd {
  readonly end: AttemptEnd;
  readonly notes: Notes;
}

/** A function that a run calls, and with what. */
export interface CallRequest {
  readonly fn: unknown;
  readonly input: unknown;
}

/** One call of a handler in this process. */
export class Attempt {
  readonly run: StoredRun;
  readonly policy: FunctionPolicy;
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
    policy: FunctionPolicy,
    host: AttemptHost,
  ) {
    this.run = run;
    this.policy = policy;
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
      const result: unknown = await this.#host.handlerOf(policy)?.(parsed, this.#runContext());
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
    this.#host.noted(this);
  }

  #progress(value: Json): void {
    const progress = keptProgress(value);
    this.#hear();
    if (this.hasEnded) return;
    this.#progressed = progress;
    this.#host.noted(this);
  }

  #commit<T>(result: T, rows: HostRows): T {
    if (this.#host.commitFault !== undefined) throw new NonRetryableError(this.#host.commitFault);
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
    await this.#host.keep(this, name, stored);
    all.set(name, { run: this.run.number, name, ...(stored === undefined ? {} : { value: stored }) });
    this.#hear();
    return value;
  }

  async #call(name: string, request: CallRequest): Promise<Json | undefined> {
    const { done, all } = await this.#known(name);
    if (done !== undefined && done.called === undefined) return done.value;
    const ended = done?.called?.outcome === undefined ? await this.#host.call(this, name, done, request) : done;
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
    this.#steps ??= this.#host.steps(this);
    const all = await this.#steps;
    const done = all.get(name);
    if (done === undefined && all.size >= maximumSteps)
      throw new NonRetryableError(`a run has at most ${maximumSteps} steps`);
    return { done, all };
  }
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

/** What the schema of a function makes of an input. Rejects with the exception that `refusal` makes of its issues. */
export async function parsedBy(
  { input: schema }: FunctionPolicy,
  input: unknown,
  refusal: (issues: string) => Error,
): Promise<unknown> {
  if (schema === undefined) return input;
  const checked = schema['~standard'].validate(input);
  const result = checked instanceof Promise ? await checked : checked;
  if (result.issues === undefined) return result.value;
  throw refusal(issuesText(result.issues));
}

/** The issues of a schema in one line, with their paths. */
function issuesText(issues: readonly SchemaIssue[]): string {
  const shown = issues.slice(0, 5).map(({ message, path = [] }) => {
    const place = path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.');
    return place === '' ? message : `${place}: ${message}`;
  });
  return [...shown, ...(issues.length > shown.length ? [`${issues.length - shown.length} more`] : [])].join('; ');
}
