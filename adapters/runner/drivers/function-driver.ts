import { join } from 'node:path';
import { type StreamEnd, tailLength, tailLines } from '../../../src/agent/output/output-tail.js';
import type { TaskExit } from '../../../src/agent/task/decide-restart.js';
import { checkArgument } from '../../../src/options/check-options.js';
import { callable, mapOf } from '../../../src/options/option-kinds.js';
import { LogWriter } from '../logs/log-files.js';
import { errorLine, errorMessage, errorText } from './error-text.js';
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
