import { type ChildProcess, spawn } from 'node:child_process';
import { setMaxListeners } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { err } from 'neverthrow';
import { commandRefused, type TaskUsage } from '../../../src/agent/link/node-command.js';
import { checkOptions } from '../../../src/options/check-options.js';
import { either, listOf, oneOf, optional, text } from '../../../src/options/option-kinds.js';
import { resultOr } from '../../../src/shared/values.js';
import { makeFolder } from '../disk/folders.js';
import { identityOf, isAlive } from '../disk/process-identity.js';
import type { TaskPaths } from '../disk/task-target.js';
import { lackOf } from '../disk/text-file.js';
import {
  type Collector,
  dismissCollector,
  livingCollector,
  removeAttempt,
  startCollector,
} from '../logs/log-collector.js';
import { untilPossible, within } from '../waiting.js';
import { attemptScript, claimForRunner, lostExit, readExit, readIdentity } from './raw-exec-attempt.js';
import { type Command, commandFault, parseRawExecConfig } from './raw-exec-config.js';
import { runWithPipes } from './raw-exec-session.js';
import { runInTerminal } from './raw-exec-terminal.js';
import {
  knownSignal,
  type RecoverOutcome,
  type RunningTask,
  type StartOutcome,
  type TaskDriver,
  type TaskStart,
} from './task-driver.js';
import { endStrays, groupUsage, hasProcesses } from './task-processes.js';

/** Milliseconds between two checks of a process that is not our child. */
const pollInterval = 100;
/** Milliseconds that the end of a task waits for its last output. */
const logTimeout = 2000;
/** Milliseconds between two starts of a collector that ended before its task. */
const collectorPause = 500;

/** Which of the runner's environment variables tasks inherit. */
export interface RawExecOptions {
  /** Names of environment variables that tasks inherit; `all` passes all of them, including secrets. */
  readonly inherit?: readonly string[] | 'all';
}

const harmless = ['PATH', 'HOME', 'USER', 'SHELL', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR'];

/**
 * Runs commands of the host, each in a separate process group: `driver = "raw_exec"`,
 * `config { command = "…", args = […], work_dir = "…" }`. No isolation: whoever may submit jobs may run anything.
 */
export function rawExecDriver(options: RawExecOptions = {}): TaskDriver {
  checkOptions<RawExecOptions>('rawExecDriver', options, { inherit: optional(either(oneOf('all'), listOf(text))) });
  /** The running processes, by the folders of their attempts. */
  const running = new Map<string, Process>();
  const kept = <T extends StartOutcome | RecoverOutcome>(start: TaskStart, outcome: T): T => {
    if (outcome.type !== 'running' || !(outcome.task instanceof Process)) return outcome;
    const folder = attemptDirectory(start);
    running.set(folder, outcome.task);
    outcome.task.ended.addEventListener('abort', () => running.delete(folder));
    return outcome;
  };
  return {
    name: 'raw_exec',
    survives: true,
    start: async (start) => kept(start, await startProcess(start, options)),
    recover: async (start) => kept(start, await recover(start)),
    exec: async (start, request) => {
      const taskEnded = running.get(attemptDirectory(start))?.ended;
      if (taskEnded === undefined) return err(commandRefused('not_found', `task "${start.task}" is not running.`));
      const directory = start.paths?.root ?? '/';
      const environment = { ...inherited(options), ...start.environment };
      const begun = (pid: number) => noteCommand(attemptDirectory(start), pid);
      const whole = { ...request, taskEnded, directory, environment, begun };
      return request.terminal ? runInTerminal(whole) : runWithPipes(whole);
    },
  };
}

async function startProcess(start: TaskStart, options: RawExecOptions): Promise<StartOutcome> {
  const { paths } = start;
  if (paths === null) return failed('The driver raw_exec needs a runner with a data directory');
  const environment = { ...inherited(options), ...start.environment };
  const command = parseRawExecConfig(start.config, paths.root);
  if (typeof command === 'string') return { ...failed(command), refused: true };
  const fault = commandFault(command.command, command.directory, environment['PATH'] ?? '');
  if (fault !== undefined) return failed(fault);
  const attempt = attemptDirectory(start);
  mkdirSync(attempt, { recursive: true });
  await forgetAttempt(paths, start.attempt - 1);
  const logs = await openLogs(start, paths, 'first');
  if (logs === undefined) throw lackOf('The pipes for its output could not be made');
  const child = spawnAttempt(attempt, command, environment, start.logs.disabled ? 'none' : 'pipes');
  if (child.pid === undefined) {
    dismissCollector(attempt);
    throw lackOf('The operating system could not start a process');
  }
  return { type: 'running', task: new Process(start, child.pid, endOf(child), logs) };
}

function failed(message: string): Extract<StartOutcome, { readonly type: 'start_failed' }> {
  return { type: 'start_failed', message, recoverable: false };
}

function spawnAttempt(
  attempt: string,
  { command, args, directory }: Command,
  environment: Readonly<Record<string, string>>,
  logs: 'pipes' | 'none',
): ChildProcess {
  const child = spawn('/bin/sh', ['-c', attemptScript, 'signalbox-task', attempt, logs, command, ...args], {
    cwd: directory,
    env: environment,
    detached: true,
    stdio: 'ignore',
  });
  child.on('error', () => undefined);
  child.unref();
  return child;
}

function endOf(child: ChildProcess): Promise<void> {
  return new Promise((done) => {
    child.once('exit', () => done());
    child.once('error', () => done());
  });
}

async function recover(start: TaskStart): Promise<RecoverOutcome> {
  const attempt = attemptDirectory(start);
  endLeftCommands(attempt);
  if (claimForRunner(attempt)) {
    dismissCollector(attempt);
    return { type: 'never_started' };
  }
  const identity = await readIdentity(attempt, () => hasProcesses(start));
  if (identity === undefined || !isAlive(identity)) {
    await endStrays(start);
    return { type: 'exited', exit: readExit(attempt) ?? lostExit };
  }
  const logs = start.paths === null ? noLogs : await findLogs(start, start.paths);
  return { type: 'running', task: new Process(start, identity.pid, endOfStranger(identity), logs) };
}

/** Resolves when a process that is not our child has ended; polls it. */
function endOfStranger(identity: Parameters<typeof isAlive>[0]): Promise<void> {
  return new Promise<void>((done) => {
    const timer = setInterval(() => {
      if (isAlive(identity)) return;
      clearInterval(timer);
      done();
    }, pollInterval);
    timer.unref();
  });
}

/** A running attempt and the collector of its output. */
class Process implements RunningTask {
  readonly exited: Promise<Awaited<RunningTask['exited']>>;
  readonly #ending = new AbortController();
  readonly #start: TaskStart;
  readonly #pid: number;
  #collected: Promise<void>;
  #over = false;

  constructor(start: TaskStart, pid: number, ended: Promise<void>, logs: Logs) {
    this.#start = start;
    this.#pid = pid;
    // Each exec command listens for the task's end, and there may be many.
    setMaxListeners(0, this.#ending.signal);
    this.#collected = this.#collect(logs);
    this.exited = this.#end(ended);
  }

  /**
   * Aborts when its first process has ended, before the task's other processes are ended, and when the runner releases it: exec
   * commands end with the runner.
   */
  get ended(): AbortSignal {
    return this.#ending.signal;
  }

  signal(name: string): void {
    this.#send(knownSignal(name) ?? 'SIGINT');
  }

  destroy(): void {
    this.#send('SIGKILL');
  }

  release(): void {
    this.#over = true;
    this.#ending.abort();
  }

  usage(): Promise<TaskUsage> {
    return groupUsage(this.#pid);
  }

  /** No process of the task may outlive its first process: a restart would run concurrently. */
  async #end(ended: Promise<void>): Promise<Awaited<RunningTask['exited']>> {
    await ended;
    this.#over = true;
    this.#ending.abort();
    this.destroy();
    await endStrays(this.#start);
    const attempt = attemptDirectory(this.#start);
    dismissCollector(attempt, this.#collected);
    await within(logTimeout, this.#collected);
    // A successful exit must never be taken for a failure, which would run the task again.
    return untilPossible(() => readExit(attempt) ?? lostExit);
  }

  /** Restarts a collector that ended before its task: the pipes are still open. */
  async #collect(logs: Logs): Promise<void> {
    await logs.ended;
    while (!this.#over && this.#start.paths !== null && !this.#start.logs.disabled) {
      await new Promise((done) => setTimeout(done, collectorPause).unref());
      if (this.#over) return;
      const next = await openLogs(this.#start, this.#start.paths, 'again').catch(() => undefined);
      await next?.ended;
    }
  }

  #send(signal: NodeJS.Signals): void {
    try {
      process.kill(-this.#pid, signal);
    } catch {
      // The process group has already ended; `exited` reports it.
    }
  }
}

type Logs = Pick<Collector, 'ended'>;

const noLogs: Logs = { ended: Promise.resolve() };

/** Undefined if no log can be written. */
async function openLogs(start: TaskStart, paths: TaskPaths, when: 'first' | 'again'): Promise<Logs | undefined> {
  if (start.logs.disabled) return noLogs;
  // Another task of the allocation may have removed the folder.
  if (when === 'first') await makeFolder(paths.logs);
  const collector = await startCollector({
    attempt: attemptDirectory(start),
    base: join(paths.logs, start.task),
    limits: start.logs,
    when,
  });
  return collector.ready ? collector : undefined;
}

/** Finds the collector, which kept running while the runner was away, or starts it again. */
async function findLogs(start: TaskStart, paths: TaskPaths): Promise<Logs> {
  const collector = livingCollector(attemptDirectory(start));
  if (collector !== undefined) return { ended: endOfStranger(collector) };
  return (await openLogs(start, paths, 'again')) ?? noLogs;
}

function inherited(options: RawExecOptions): Record<string, string> {
  const wanted = options.inherit ?? harmless;
  const names = wanted === 'all' ? Object.keys(process.env) : wanted;
  const environment: Record<string, string> = {};
  for (const name of names) {
    const value = process.env[name];
    if (value !== undefined) environment[name] = value;
  }
  return environment;
}

function attemptDirectory({ paths, attempt }: TaskStart): string {
  return attemptPath(paths?.notes ?? '', attempt);
}

function attemptPath(notes: string, attempt: number): string {
  return join(notes, 'attempts', String(attempt));
}

/** Removes the files of earlier attempts, which are not needed once the next attempt has its folder. */
async function forgetAttempt(paths: TaskPaths, attempt: number): Promise<void> {
  if (attempt < 1) return;
  await removeAttempt(attemptPath(paths.notes, attempt));
}

/*
 * A command in a task's environment ends when its caller disconnects. A killed runner cannot end it: the next runner does, by notes
 * that name the first process of each running command.
 */

/** Records a started command. Call the returned function at its end. */
export function noteCommand(attempt: string, pid: number): () => void {
  const file = join(commandsOf(attempt), String(pid));
  try {
    mkdirSync(commandsOf(attempt), { recursive: true });
    writeFileSync(file, JSON.stringify(identityOf(pid)), { mode: 0o600 });
  } catch {
    // On a full disk the command runs without a note.
  }
  return () => rmSync(file, { force: true });
}

/** Ends the commands of an attempt that an earlier runner left behind, each with its process group. */
function endLeftCommands(attempt: string): void {
  for (const name of resultOr<readonly string[]>([], () => readdirSync(commandsOf(attempt)))) {
    const file = join(commandsOf(attempt), name);
    try {
      const { pid, startTime } = JSON.parse(readFileSync(file, 'utf8')) as Partial<ReturnType<typeof identityOf>>;
      // Without the start time, the number may belong to another process by now.
      if (
        typeof pid === 'number' &&
        pid > 1 &&
        typeof startTime === 'string' &&
        startTime !== '' &&
        isAlive({ pid, startTime })
      )
        process.kill(-pid, 'SIGKILL');
    } catch {
      // It has ended meanwhile, or its note is incomplete.
    }
    rmSync(file, { force: true });
  }
}

function commandsOf(attempt: string): string {
  return join(attempt, 'commands');
}
