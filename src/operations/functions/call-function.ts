import {
  type FunctionDefinition,
  type FunctionPolicy,
  type Handler,
  type HostRows,
  type Json,
  NonRetryableError,
  policyOf,
  type RunContext,
} from '../../functions/define-function.js';
import { usualValueBytes } from '../../functions/value-limits.js';
import { kept, keptProgress } from './attempt.js';
import { parsedOf, storedOrThrow } from './enqueue.js';

/** How a function is called in a test. */
export interface CallFunctionOptions {
  /** `work/1` for a function `work` when absent. */
  readonly id?: string;
  /** From 1; 1 when absent. */
  readonly attempt?: number;
  readonly meta?: Readonly<Record<string, string>>;
  readonly dueAt?: Date;
  /** Aborts when the attempt should end. */
  readonly signal?: AbortSignal;
  /** Steps and calls that an earlier attempt has finished. */
  readonly steps?: Readonly<Record<string, Json | undefined>>;
}

/** What a handler has done in a call by a test. */
export interface FunctionCall<Out> {
  readonly result: Out;
  /** The values of its steps and calls, by name. */
  readonly steps: Readonly<Record<string, Json | undefined>>;
  readonly log: readonly { readonly level: 'info' | 'error'; readonly text: string }[];
  /** The last one. */
  readonly progress: Json | undefined;
  /** The statements of `run.commit`, which were not executed. */
  readonly rows: readonly { readonly text: string; readonly values: readonly unknown[] }[];
}

type CallArgs<In> = [In] extends [undefined]
  ? [input?: undefined, options?: CallFunctionOptions]
  : [input: In, options?: CallFunctionOptions];

/**
 * Calls the handler of a function once, without an engine or a store: input and result are checked as in a run, steps are kept for this
 * call only, and functions that it calls are called in the same way. Rejects with what the handler throws.
 */
export async function callFunction<In, Out>(
  fn: FunctionDefinition<In, Out>,
  ...args: CallArgs<In>
): Promise<FunctionCall<Out>> {
  const policy = policyOf(fn);
  if (policy === undefined) throw new TypeError('callFunction: the first argument is not made by defineFunction');
  const [input, options = {}] = args;
  const stored = input === undefined ? undefined : storedOrThrow(`input of ${policy.name}`, input, usualValueBytes);
  const parsed = await parsedOf(policy, stored?.value, `the input of ${policy.name}`);
  const handler = await handlerOf(policy);
  const call = new Call(policy, options);
  const result: unknown = await handler(parsed, call.context);
  return { ...call.seen(), result: kept('result', result, usualValueBytes) as Out };
}

async function handlerOf({ name, handler, thread }: FunctionPolicy): Promise<Handler<unknown, unknown>> {
  if (handler !== undefined) return handler;
  if (thread === undefined) throw new TypeError(`callFunction: ${name} has no handler here`);
  const module: { readonly default: Handler<unknown, unknown> } = await import(thread.href);
  return module.default;
}

class Call {
  readonly context: RunContext;
  readonly #steps: Map<string, Json | undefined>;
  readonly #named = new Set<string>();
  readonly #log: { readonly level: 'info' | 'error'; readonly text: string }[] = [];
  readonly #rows: { readonly text: string; readonly values: readonly unknown[] }[] = [];
  #progress: Json | undefined;

  constructor({ name, retry }: FunctionPolicy, options: CallFunctionOptions) {
    const { id = `${name}/1`, attempt = 1, meta = {}, dueAt = new Date(0) } = options;
    this.#steps = new Map(Object.entries(options.steps ?? {}));
    this.context = {
      ...{ id, attempt, meta, dueAt, isLastAttempt: attempt >= retry.attempts },
      signal: options.signal ?? new AbortController().signal,
      log: {
        info: (text) => void this.#log.push({ level: 'info', text }),
        error: (text) => void this.#log.push({ level: 'error', text }),
      },
      progress: (value) => {
        this.#progress = keptProgress(value);
      },
      heartbeat: () => undefined,
      step: (step, work) => this.#once(step, work),
      call: (step, fn, ...input) =>
        this.#once(step, async () => {
          const { result } = await callFunction(fn as FunctionDefinition<unknown, never>, input[0] as unknown);
          return result;
        }),
      commit: (result, rows) => this.#commit(result, rows),
    };
  }

  seen(): Omit<FunctionCall<never>, 'result'> {
    return { steps: Object.fromEntries(this.#steps), log: this.#log, progress: this.#progress, rows: this.#rows };
  }

  async #once<T>(name: string, work: () => T | Promise<T>): Promise<T> {
    if (this.#named.has(name)) throw new NonRetryableError(`the step '${name}' is used twice in one attempt`);
    this.#named.add(name);
    if (this.#steps.has(name)) return this.#steps.get(name) as T;
    const value = await work();
    this.#steps.set(name, kept(`value of the step '${name}'`, value, usualValueBytes));
    return value;
  }

  #commit<T>(result: T, rows: HostRows): T {
    rows({ run: (text, ...values) => void this.#rows.push({ text, values }) });
    return result;
  }
}
