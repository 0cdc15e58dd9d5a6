import type { FunctionPolicy, Json, RunContext, SchemaIssue, SchemaResult } from '../../functions/define-function.js';
import { NonRetryableError, Snooze } from '../../functions/define-function.js';
import { jsonFault, longestValue } from '../../functions/json-fault.js';
import { retryWait, waitUntil } from '../../functions/retry-wait.js';
import { type AttemptEnd, cancellation, type RunError, runId, type StoredRun } from '../../functions/run.js';
import type { Milliseconds } from '../../shared/duration.js';
import type { EngineContext } from '../context/engine-context.js';

/** Why an attempt should end; the name of the reason of its signal. */
type AbortCause = 'cancelled' | 'timed_out' | 'stopping' | 'lost';

const longestMessage = 1024;
const longestStack = 8192;
const maximumSteps = 1000;

/** The input of a queued run does not fit the code that would run it. */
class InvalidInput extends NonRetryableError {
  override readonly name = 'InvalidInput' as 'NonRetryableError';
}

/** One call of a handler in this process. */
export class Attempt {
  readonly run: StoredRun;
  readonly policy: FunctionPolicy;
  /** By the monotonic clock: when it times out, or when it is given up after an abort. */
  deadline: Milliseconds;
  /** Why it was aborted. */
  cause: AbortCause | undefined;
  /** Its end has been noted: a later one has no effect. */
  hasEnded = false;
  #reason = 'the run was cancelled';
  #controller: AbortController | undefined;
  /** Values of finished steps; read at the first step. */
  #steps: Promise<Map<string, Json | undefined>> | undefined;
  readonly #named = new Set<string>();

  constructor(run: StoredRun, policy: FunctionPolicy, now: Milliseconds) {
    this.run = run;
    this.policy = policy;
    this.deadline = now + policy.timeout;
  }

  /** Made when the handler asks for it: most never do. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.cause !== undefined && !this.#controller.signal.aborted) this.#controller.abort(reasonOf(this.cause));
    return this.#controller.signal;
  }

  /** Aborts the signal of the handler, and when it is given up. */
  abort(cause: AbortCause, until: Milliseconds, reason?: string): void {
    if (this.cause !== undefined) return;
    this.cause = cause;
    this.deadline = until;
    if (reason !== undefined) this.#reason = reason;
    this.#controller?.abort(reasonOf(cause));
  }

  /** What is recorded when the handler is given up, or fails after an abort. */
  ending(error: RunError | undefined, wait: Milliseconds | undefined): AttemptEnd {
    if (this.cause === 'cancelled') return { type: 'cancelled', error: cancellation(this.#reason) };
    if (this.cause === 'stopping' || this.cause === 'lost') return { type: 'handed_back' };
    if (this.cause !== 'timed_out') return { type: 'failed', error: error ?? unknownError, wait };
    const message = `the attempt took longer than ${this.policy.timeout} ms`;
    return { type: 'timed_out', error: error ?? { name: 'TimedOut', message, stack: '' }, wait };
  }

  /** Calls the handler. Never rejects. */
  async perform(context: EngineContext, input: Json | undefined, tools: StepTools): Promise<AttemptEnd> {
    try {
      const { policy } = this;
      const parsed = await parsedInput(policy, this.run, input);
      const result: unknown = await policy.handler?.(parsed, this.#context(tools));
      if (this.cause === 'cancelled' || this.cause === 'timed_out')
        return this.ending(undefined, this.wait(context, undefined));
      const fault = result === undefined ? undefined : valueFault('result', result);
      if (fault !== undefined) throw new NonRetryableError(fault.message);
      return { type: 'succeeded', result: result as Json | undefined };
    } catch (error) {
      if (error instanceof Snooze && this.cause === undefined)
        return { type: 'snoozed', wait: waitUntil(error.wait, context.clock.now()) };
      return this.ending(runErrorOf(error), this.wait(context, error));
    }
  }

  wait(context: EngineContext, error: unknown): Milliseconds | undefined {
    const failure = { error, attempt: this.run.attempt };
    return retryWait(this.policy, failure, context.ids.fraction(), context.clock.now());
  }

  #context(tools: StepTools): RunContext {
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
      step: (name, work) => this.#step(tools, name, work),
    };
  }

  async #step<T>(tools: StepTools, name: string, work: () => T | Promise<T>): Promise<T> {
    if (typeof name !== 'string' || name === '' || name.length > 256)
      throw new NonRetryableError('the name of a step is a string of 1 to 256 characters');
    if (this.#named.has(name)) throw new NonRetryableError(`the step '${name}' is used twice in one attempt`);
    this.#named.add(name);
    this.#steps ??= tools.finished();
    const finished = await this.#steps;
    if (finished.has(name)) return finished.get(name) as T;
    if (finished.size >= maximumSteps) throw new NonRetryableError(`a run has at most ${maximumSteps} steps`);
    const value = await work();
    const fault = value === undefined ? undefined : valueFault(`value of the step '${name}'`, value);
    if (fault !== undefined) throw new NonRetryableError(fault.message);
    await tools.keep(name, value as Json | undefined);
    finished.set(name, value as Json | undefined);
    return value;
  }
}

/** Reads and stores the finished steps of a run. */
interface StepTools {
  finished(): Promise<Map<string, Json | undefined>>;
  keep(name: string, value: Json | undefined): Promise<void>;
}

const unknownError: RunError = { name: 'Error', message: 'the attempt failed', stack: '' };

function reasonOf(cause: AbortCause): Error {
  const error = new Error(`the attempt is over: ${cause}`);
  error.name = cause;
  return error;
}

/** Why a value cannot be stored; undefined when it can. */
export function valueFault(
  what: string,
  value: unknown,
): { readonly type: 'not_json' | 'too_large'; readonly message: string } | undefined {
  const fault = jsonFault(value);
  if (fault !== undefined) return { type: 'not_json', message: `the ${what} is not JSON: ${fault}` };
  const size = JSON.stringify(value).length;
  if (size <= longestValue) return undefined;
  return { type: 'too_large', message: `the ${what} has ${size} characters: at most ${longestValue} are kept` };
}

async function parsedInput(policy: FunctionPolicy, run: StoredRun, stored: Json | undefined): Promise<unknown> {
  const isOlder = run.version < policy.version && policy.migrate !== undefined;
  const input = isOlder ? policy.migrate?.(stored as Json, run.version) : stored;
  if (policy.input === undefined) return input;
  const checked = policy.input['~standard'].validate(input);
  const { issues, value } = (checked instanceof Promise ? await checked : checked) as SchemaResult<unknown> & {
    readonly value?: unknown;
  };
  if (issues !== undefined) throw new InvalidInput(issuesText(issues));
  return value;
}

/** The issues of a schema in one line, with their paths. */
export function issuesText(issues: readonly SchemaIssue[]): string {
  const shown = issues.slice(0, 5).map(({ message, path = [] }) => {
    const place = path.map((part) => String(typeof part === 'object' ? part.key : part)).join('.');
    return place === '' ? message : `${place}: ${message}`;
  });
  return [...shown, ...(issues.length > shown.length ? [`${issues.length - shown.length} more`] : [])].join('; ');
}

/** What was thrown, cut to what is kept. */
function runErrorOf(thrown: unknown): RunError {
  if (!(thrown instanceof Error)) return { name: 'Error', message: textOf(thrown).slice(0, longestMessage), stack: '' };
  const { code } = thrown as { readonly code?: unknown };
  return {
    name: String(thrown.name).slice(0, 128),
    message: String(thrown.message).slice(0, longestMessage),
    stack: String(thrown.stack ?? '').slice(0, longestStack),
    ...(typeof code === 'string' ? { code: code.slice(0, 128) } : {}),
  };
}

function textOf(thrown: unknown): string {
  try {
    return typeof thrown === 'string' ? thrown : `thrown: ${JSON.stringify(thrown) ?? String(thrown)}`;
  } catch {
    return 'something that cannot be printed was thrown';
  }
}
