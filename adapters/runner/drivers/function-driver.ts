import { join } from 'node:path';
import { type StreamEnd, tailLength, tailLines } from '../../../src/agent/output/output-tail.js';
import type { TaskExit } from '../../../src/agent/task/decide-restart.js';
import { checkArgument } from '../../../src/options/check-options.js';
import { callable, mapOf } from '../../../src/options/option-kinds.js';
import { resultOr } from '../../../src/shared/values.js';
import { LogWriter } from '../logs/log-collector.js';
import type { RunningTask, TaskDriver, TaskStart } from './task-driver.js';

/** The argument of a function of the host service. */
export interface FunctionCall {
  /** Decoded dispatch payload; null if there is none. */
  readonly payload: Buffer | null;
  /** Meta of job, group and task together. */
  readonly meta: Readonly<Record<string, string>>;
  readonly environment: Readonly<Record<string, string>>;
  /** The rest of the task's `Config`. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly allocationId: string;
  readonly task: string;
  /** 1 for the first start, higher after restarts. */
  readonly attempt: number;
  /** Aborts when the task must end. */
  readonly signal: AbortSignal;
  /** Lines for the task's log: `stdout` and, for errors, `stderr`. */
  readonly log: { info(line: string): void; error(line: string): void };
}

/** A task in the host's program: succeeds if it returns or resolves, fails if it throws or rejects. */
export type TaskFunction = (call: FunctionCall) => unknown;

/**
 * Runs functions of the embedding service as tasks: `driver = "function"`, `config { function = "name" }`. A function
 * ends with its process; a function that was running when the process was killed counts as failed.
 */
export function functionDriver(functions: Readonly<Record<string, TaskFunction>>): TaskDriver {
  checkArgument('functionDriver', 'functions', functions, mapOf(callable));
  return {
    name: 'function',
    survives: false,
    functions: Object.keys(functions),
    async start(start) {
      const name = start.config['function'];
      const run = typeof name === 'string' && Object.hasOwn(functions, name) ? functions[name] : undefined;
      if (run === undefined) {
        const message = `The task's config names no function of this service: expected "function" to be one of ${Object.keys(functions).join(', ') || '(none)'}`;
        return { type: 'start_failed', message, recoverable: false };
      }
      return { type: 'running', task: call(run, start) };
    },
    async recover() {
      return {
        type: 'exited',
        exit: { type: 'exited', code: 1, signal: 0, message: 'The service ended while the function was running' },
      };
    },
  };
}

function call(run: TaskFunction, start: TaskStart): RunningTask {
  const controller = new AbortController();
  let abandon: (exit: TaskExit) => void = () => undefined;
  const abandoned = new Promise<TaskExit>((resolve) => {
    abandon = resolve;
  });
  const output = new FunctionOutput(start);
  const { stack } = new Error();
  const { function: _name, ...config } = start.config;
  const finished = (async (): Promise<TaskExit> => {
    try {
      await run({
        payload: start.payload === null ? null : Buffer.from(start.payload),
        meta: start.meta,
        environment: start.environment,
        config,
        allocationId: start.allocationId,
        task: start.task,
        attempt: start.attempt,
        signal: controller.signal,
        log: { info: (line) => output.write('stdout', line), error: (line) => output.write('stderr', line) },
      });
      return { type: 'exited', code: 0, signal: 0 };
    } catch (error) {
      output.write('stderr', errorText(error, stack));
      start.failed?.(errorLine(error));
      return { type: 'exited', code: 1, signal: 0, message: errorMessage(error).slice(0, 1024) };
    } finally {
      output.close();
    }
  })();
  return {
    exited: Promise.race([finished, abandoned]),
    ...(start.paths === null ? { lastOutput: () => output.ends() } : {}),
    signal: () => controller.abort(),
    destroy: () => {
      controller.abort();
      abandon({ type: 'exited', code: 137, signal: 9, message: 'The function did not end in time and was abandoned' });
    },
    release: () => controller.abort(),
  };
}

type TaskStream = 'stdout' | 'stderr';

/** The log of a function: in the files of its task or, without a disk, its last lines in memory for alerts. */
class FunctionOutput {
  readonly #writers: Readonly<Record<TaskStream, LogWriter>> | null;
  readonly #last: Readonly<Record<TaskStream, string[]>> = { stdout: [], stderr: [] };

  constructor({ paths, task, logs }: TaskStart) {
    const writer = (folder: string, stream: TaskStream) => new LogWriter(join(folder, `${task}.${stream}`), logs);
    this.#writers =
      paths === null ? null : { stdout: writer(paths.logs, 'stdout'), stderr: writer(paths.logs, 'stderr') };
  }

  write(stream: TaskStream, line: string): void {
    if (this.#writers !== null) {
      this.#writers[stream].line(line);
      return;
    }
    const last = this.#last[stream];
    last.push(...`${line}`.slice(-tailLength).split('\n'));
    last.splice(0, last.length - tailLines);
  }

  ends(): Readonly<Record<TaskStream, StreamEnd>> {
    const endOf = (stream: TaskStream): StreamEnd => ({ text: this.#last[stream].join('\n'), isCut: false });
    return { stdout: endOf('stdout'), stderr: endOf('stderr') };
  }

  close(): void {
    this.#writers?.stdout.close();
    this.#writers?.stderr.close();
  }
}

/** The most UTF-16 units of an error in the log of a task. */
const longestText = 16_384;
/** The longest chain of causes that is printed. */
const deepest = 8;
/** The most errors of an `AggregateError` that are printed. */
const mostErrors = 8;
/** The most UTF-16 units of an error on one line. */
const longestLine = 300;

/**
 * Formats a thrown value for the log of its task: the stack, then the stacks of its causes. Other properties of errors are left out:
 * libraries keep requests with credentials there. `caller`: the stack of the function's caller, whose frames are cut off.
 */
export function errorText(thrown: unknown, caller = ''): string {
  const lines: string[] = [];
  addError(lines, thrown, { introduction: '', depth: 0, known: new Set(framesOf(caller)) });
  const text = lines.join('\n');
  return text.length > longestText ? `${text.slice(0, longestText)}\n…` : text;
}

/** Only its message. */
export function errorMessage(thrown: unknown): string {
  return guarded(() => (isErrorLike(thrown) ? String(thrown.message) : String(thrown)));
}

/** Its kind and message on one line, for the log of the engine. */
export function errorLine(thrown: unknown): string {
  const name = guarded(() => (isErrorLike(thrown) && typeof thrown.name === 'string' ? thrown.name : ''));
  const message = errorMessage(thrown);
  const line = (name === '' || name === 'Error' ? message : `${name}: ${message}`)
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim();
  return line.length > longestLine ? `${line.slice(0, longestLine)}…` : line;
}

interface PrintedError {
  readonly introduction: string;
  /** Its depth in the chain of causes. */
  readonly depth: number;
  /** Frames to cut off at the end of its stack. */
  readonly known: ReadonlySet<string>;
}

function addError(lines: string[], thrown: unknown, { introduction, depth, known }: PrintedError): void {
  const text = guarded(() => ownText(thrown));
  lines.push(introduction + withoutFrames(text, known));
  if (depth >= deepest || !isErrorLike(thrown)) return;
  const below = { depth: depth + 1, known: new Set([...known, ...framesOf(text)]) };
  const { errors, cause } = guardedParts(thrown);
  for (const [at, error] of errors.slice(0, mostErrors).entries()) {
    addError(lines, error, { introduction: `Error ${at + 1} of ${errors.length}: `, ...below });
  }
  if (cause !== undefined) addError(lines, cause, { introduction: 'Caused by: ', ...below });
}

const isFrame = (line: string): boolean => /^\s+at /.test(line);

function framesOf(stack: string): string[] {
  return stack.split('\n').filter(isFrame);
}

/** Keeps at least the first frame. */
function withoutFrames(text: string, known: ReadonlySet<string>): string {
  const lines = text.split('\n');
  const first = lines.findIndex(isFrame);
  while (first >= 0 && lines.length > first + 1 && known.has(lines.at(-1) ?? '')) lines.pop();
  return lines.join('\n');
}

/** The stack begins with the message unless the message was changed later. */
function ownText(thrown: unknown): string {
  if (!isErrorLike(thrown)) return String(thrown);
  const message = String(thrown.message);
  const stack = typeof thrown.stack === 'string' ? thrown.stack : '';
  if (stack.includes(message) && stack !== '') return stack;
  return stack === '' ? `${String(thrown.name)}: ${message}` : `${String(thrown.name)}: ${message}\n${stack}`;
}

interface ErrorLike {
  readonly name: unknown;
  readonly message: unknown;
  readonly stack?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
}

/** Errors of other realms, such as those of `node:vm` and of test runners, too. */
function isErrorLike(thrown: unknown): thrown is ErrorLike {
  return typeof thrown === 'object' && thrown !== null && (thrown instanceof Error || 'stack' in thrown);
}

function guardedParts(error: ErrorLike): { readonly errors: readonly unknown[]; readonly cause: unknown } {
  return resultOr({ errors: [], cause: undefined }, () => {
    return { errors: Array.isArray(error.errors) ? error.errors : [], cause: error.cause };
  });
}

/** A function may throw anything, even an object with throwing getters. */
function guarded(read: () => string): string {
  return resultOr('an error that cannot be printed', read);
}
