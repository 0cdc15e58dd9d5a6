import { type ChildProcess, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { constants } from 'node:os';
import { resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { getSystemErrorMap } from 'node:util';
import { err, ok, type Result } from 'neverthrow';
import {
  type CommandInput,
  type CommandOutput,
  type CommandRefused,
  commandRefused,
} from '../../../src/agent/link/node-command.js';
import { commandFault } from './raw-exec-config.js';
import type { ExecRequest } from './task-driver.js';

/** The most bytes of a data message. */
const messageBytes = 4096;
/** Milliseconds to wait for the last output after the end of a command that left no processes behind. */
const lastOutput = 500;

/** A command in a task's environment, connected by pipes. */
export function runWithPipes(request: ExecRequest): Result<AsyncIterable<CommandOutput>, CommandRefused> {
  const fault = startFault(request);
  if (fault !== undefined) return err(fault);
  const [command = '', ...args] = request.command;
  const { directory, environment } = request;
  const child = spawn(command, args, { cwd: directory, env: environment, detached: true, stdio: 'pipe' });
  if (child.pid === undefined) {
    child.once('error', () => undefined);
    return err(notStarted(`fork/exec ${command}: resource temporarily unavailable`));
  }
  const ended = request.begun(child.pid);
  // Processes that the command left behind may hold the other ends while the task runs.
  const closePipes = (): void => {
    for (const pipe of child.stdio) pipe?.destroy();
  };
  const outlet = commandOutlet(request, () => {
    if (child.exitCode === null && child.signalCode === null) killGroup(child);
    closePipes();
  });
  const streams = (['stdout', 'stderr'] as const).map((name) => pump(child[name] as Readable, name, outlet));
  child.stdin?.on('error', () => undefined);
  feed(child, request.input).catch(() => outlet.end());
  const exited = new Promise<number>((resolve) => {
    child.once('exit', (code, by) => {
      ended();
      if (request.leftovers === 'end') {
        killGroup(child);
        // A process that has left the group still holds them.
        setTimeout(closePipes, lastOutput).unref();
      }
      resolve(code ?? 128 + (by === null ? 9 : constants.signals[by]));
    });
    child.once('error', () => resolve(127));
  });
  Promise.all([exited, ...streams]).then(
    ([code]) => {
      outlet.push({ type: 'exited', code });
      outlet.end();
    },
    () => outlet.end(),
  );
  return ok(outlet);
}

/** Why a command cannot be started, in the words of Nomad's `raw_exec` driver. */
export function startFault({ command, directory, environment }: ExecRequest): CommandRefused | undefined {
  const [name = ''] = command;
  if (name === '') return notStarted('exec: no command');
  if (command.some((text) => text.includes('\0'))) {
    return notStarted(`fork/exec ${name.replaceAll('\0', '')}: invalid argument`);
  }
  if (commandFault(name, directory, environment['PATH'] ?? '') === undefined) return undefined;
  if (!name.includes('/')) return notStarted(`exec: ${JSON.stringify(name)}: executable file not found in $PATH`);
  return notStarted(`fork/exec ${name}: ${fileFault(resolve(directory, name))}`);
}

function notStarted(fault: string): CommandRefused {
  return commandRefused('failed', `rpc error: code = Unknown desc = failed to start command: ${fault}`);
}

/** The system's error message for a file that cannot be executed. */
function fileFault(path: string): string {
  try {
    statSync(path);
    return 'permission denied';
  } catch (error) {
    const { errno } = error as NodeJS.ErrnoException;
    return getSystemErrorMap().get(errno ?? 0)?.[1] ?? 'no such file or directory';
  }
}

/** Forwards output as fast as it is consumed. */
async function pump(readable: Readable, stream: 'stdout' | 'stderr', outlet: Outlet): Promise<void> {
  try {
    for await (const chunk of readable as AsyncIterable<Buffer>) {
      for (let at = 0; at < chunk.length; at += messageBytes) {
        const taken = await outlet.put({ type: 'data', stream, bytes: chunk.subarray(at, at + messageBytes) });
        if (!taken) return;
      }
    }
  } catch {
    // The pipe broke when its process ended.
  }
  outlet.push({ type: 'closed', stream });
}

async function feed(child: ChildProcess, input: AsyncIterable<CommandInput>): Promise<void> {
  const { stdin } = child;
  if (stdin === null) return;
  for await (const message of input) {
    if (message.type === 'end') stdin.end();
    else if (message.type === 'data' && stdin.writable && !stdin.write(message.bytes)) await drained(stdin);
  }
}

function drained(stdin: Writable): Promise<void> {
  return new Promise((resume) => {
    const settle = (): void => {
      stdin.removeListener('drain', settle).removeListener('close', settle);
      resume();
    };
    stdin.on('drain', settle).on('close', settle);
  });
}

/** Only while the process runs or directly at its end: later its number may belong to another group. */
function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}

/** Queued messages at which `put` starts to block. */
const room = 16;

/** A bounded queue of output between its producer and the caller. Closing the iterator, or `end`, notifies the producer. */
export class Outlet implements AsyncIterable<CommandOutput> {
  readonly #queue: CommandOutput[] = [];
  readonly #onEnd: () => void;
  #taker: (() => void) | undefined;
  readonly #putters: (() => void)[] = [];
  #ended = false;

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  push(output: CommandOutput): void {
    if (this.#ended) return;
    this.#queue.push(output);
    this.#wake();
  }

  /** Resolves when there is room for more; false if the reader has ended. */
  async put(output: CommandOutput): Promise<boolean> {
    this.push(output);
    while (!this.#ended && this.#queue.length >= room) await new Promise<void>((resume) => this.#putters.push(resume));
    return !this.#ended;
  }

  /** Queued messages are still delivered. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#onEnd();
    this.#wake();
    this.#release();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<CommandOutput> {
    try {
      for (;;) {
        const next = this.#queue.shift();
        if (this.#queue.length < room) this.#release();
        if (next !== undefined) yield next;
        else if (this.#ended) return;
        else await new Promise<void>((resume) => (this.#taker = resume));
      }
    } finally {
      this.end();
    }
  }

  #wake(): void {
    this.#taker?.();
    this.#taker = undefined;
  }

  #release(): void {
    for (const resume of this.#putters.splice(0)) resume();
  }
}

/** The output of a command in a task's environment. It ends with the caller's connection or with the task, which the caller sees. */
export function commandOutlet(
  { signal, taskEnded }: Pick<ExecRequest, 'signal' | 'taskEnded'>,
  onEnd: () => void,
): Outlet {
  const endWithAsker = (): void => outlet.end();
  const endWithTask = (): void => {
    outlet.push({ type: 'failed', message: 'plugin is shut down' });
    outlet.end();
  };
  const outlet = new Outlet(() => {
    signal.removeEventListener('abort', endWithAsker);
    taskEnded.removeEventListener('abort', endWithTask);
    onEnd();
  });
  signal.addEventListener('abort', endWithAsker);
  taskEnded.addEventListener('abort', endWithTask);
  // An aborted signal fires no further events.
  if (signal.aborted) endWithAsker();
  if (taskEnded.aborted) endWithTask();
  return outlet;
}
