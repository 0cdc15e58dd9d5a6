import { spawn } from 'node:child_process';
import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import type { TaskExit } from '../../../src/index.js';
import { followLog } from '../log-rotation.js';
import type { RecoverOutcome, RunningTask, StartOutcome, TaskDriver, TaskStart } from '../task-driver.js';

/**
 * What runs in front of the command, so that a task outlives the runner and is neither lost nor doubled:
 * 1. `mkdir claim` succeeds for exactly one of this script and a runner that came back and found no claim;
 * 2. the process notes who it is before the command begins;
 * 3. the exit code reaches the disk before the process ends, and then the rest of its process group is ended.
 * The traps keep the script alive while signals for the group reach the command.
 */
const script = `
d=$1; shift
mkdir "$d/claim" 2>/dev/null || exit 0
{ echo $$; cat /proc/$$/stat 2>/dev/null; } > "$d/claim/new" && mv "$d/claim/new" "$d/claim/process"
trap : INT TERM HUP QUIT USR1 USR2 ALRM
"$@"
echo $? > "$d/exit.new" && mv "$d/exit.new" "$d/exit"
kill -9 0
`;

/** How often a process that is not our child is looked at. */
const pollInterval = 100;
const claimPatience = 2000;

export interface RawExecOptions {
  /** Names of the host's variables that tasks get too; `all` hands over everything, secrets included. */
  readonly inherit?: readonly string[] | 'all';
}

const harmless = ['PATH', 'HOME', 'USER', 'SHELL', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR'];

/**
 * Runs commands of the host as they are, each in a process group of its own: `driver = "raw_exec"`,
 * `config { command = "…", args = […], work_dir = "…" }`. No isolation: whoever may submit jobs may run anything.
 */
export function rawExecDriver(options: RawExecOptions = {}): TaskDriver {
  return {
    name: 'raw_exec',
    survives: true,
    start: async (start) => startProcess(start, options),
    recover,
  };
}

function startProcess(start: TaskStart, options: RawExecOptions): StartOutcome {
  const failed = (message: string): StartOutcome => ({ type: 'start_failed', message, recoverable: false });
  const { paths } = start;
  if (paths === null) return failed('Commands need a runner with a data directory');
  const parsed = parseConfig(start);
  if (typeof parsed === 'string') return failed(parsed);
  const environment = { ...inherited(options), ...start.environment };
  const fault = commandFault(parsed.command, parsed.directory, environment['PATH'] ?? '');
  if (fault !== undefined) return failed(fault);
  const attempt = attemptDirectory(start);
  mkdirSync(attempt, { recursive: true });
  const [out, error] = openLogs(start);
  try {
    const child = spawn('/bin/sh', ['-c', script, 'signalbox-task', attempt, parsed.command, ...parsed.args], {
      cwd: parsed.directory,
      env: environment,
      detached: true,
      stdio: ['ignore', out, error],
    });
    const ended = new Promise<void>((done) => {
      child.once('exit', () => done());
      child.once('error', () => done());
    });
    if (child.pid === undefined) {
      child.once('error', () => undefined);
      return { type: 'start_failed', message: 'The operating system refused to start a process', recoverable: true };
    }
    child.unref();
    return { type: 'running', task: runningTask(start, child.pid, ended) };
  } finally {
    closeSync(out);
    closeSync(error);
  }
}

async function recover(start: TaskStart): Promise<RecoverOutcome> {
  const attempt = attemptDirectory(start);
  if (claimForRunner(attempt)) return { type: 'never_started' };
  const identity = await readIdentity(attempt);
  const exit = readExit(attempt);
  if (exit !== undefined) return { type: 'exited', exit };
  if (identity === undefined || !isAlive(identity)) return { type: 'exited', exit: readExit(attempt) ?? lostExit };
  const ended = new Promise<void>((done) => {
    const timer = setInterval(() => {
      if (isAlive(identity)) return;
      clearInterval(timer);
      done();
    }, pollInterval);
    timer.unref();
  });
  return { type: 'running', task: runningTask(start, identity.pid, ended) };
}

function runningTask(start: TaskStart, pid: number, ended: Promise<void>): RunningTask {
  const stopFollowing = followLog(start);
  const send = (signal: NodeJS.Signals): void => {
    try {
      process.kill(-pid, signal);
    } catch {
      // The group is gone already; `exited` tells.
    }
  };
  return {
    exited: ended.then(() => {
      stopFollowing();
      return readExit(attemptDirectory(start)) ?? lostExit;
    }),
    signal: (name) => send(signalNamed(name)),
    destroy: () => send('SIGKILL'),
    release: stopFollowing,
  };
}

/** The process vanished without leaving an exit code: killed, or the machine went down. */
const lostExit: TaskExit = { type: 'exited', code: 137, signal: 9 };

interface ParsedConfig {
  readonly command: string;
  readonly args: readonly string[];
  readonly directory: string;
}

function parseConfig(start: TaskStart): ParsedConfig | string {
  const { command, args = [], work_dir: directory } = start.config;
  if (typeof command !== 'string' || command === '')
    return 'The task\'s config needs "command", a text that is not empty';
  if (!Array.isArray(args) || !args.every((arg): arg is string => typeof arg === 'string'))
    return 'The task\'s config has "args" that is not a list of texts';
  if (directory !== undefined && (typeof directory !== 'string' || !isAbsolute(directory))) {
    return 'The task\'s config has "work_dir" that is not an absolute path';
  }
  const cwd = directory ?? start.paths?.root ?? '/';
  if ([command, ...args, cwd].some((text) => text.includes('\0'))) return "The task's config holds a NUL character";
  if (!isDirectory(cwd)) return `The working directory ${cwd} does not exist`;
  return { command, args, directory: cwd };
}

function commandFault(command: string, directory: string, path: string): string | undefined {
  const candidates = command.includes('/')
    ? [resolve(directory, command)]
    : path
        .split(delimiter)
        .filter((part) => part !== '')
        .map((part) => join(part, command));
  return candidates.some(isExecutable) ? undefined : `The command ${command} was not found, or may not be executed`;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
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

/** Appending, so that the log can be cut while the task writes. */
function openLogs(start: TaskStart): [number, number] {
  const open = (stream: string): number =>
    start.paths === null || start.logs.disabled
      ? openSync('/dev/null', 'a')
      : openSync(join(start.paths.logs, `${start.task}.${stream}`), 'a', 0o600);
  return [open('stdout'), open('stderr')];
}

function attemptDirectory(start: TaskStart): string {
  return join(start.paths?.notes ?? '', 'attempts', String(start.attempt));
}

/** True when the command of the attempt has not begun; from now on it cannot. */
function claimForRunner(attempt: string): boolean {
  mkdirSync(attempt, { recursive: true });
  try {
    mkdirSync(join(attempt, 'claim'));
    return true;
  } catch {
    return false;
  }
}

function readExit(attempt: string): TaskExit | undefined {
  const file = join(attempt, 'exit');
  if (!existsSync(file)) return undefined;
  const code = Number.parseInt(readFileSync(file, 'utf8'), 10);
  if (!Number.isInteger(code)) return lostExit;
  // The shell reports the end by signal n as 128 + n.
  return { type: 'exited', code, signal: code > 128 && code <= 128 + 64 ? code - 128 : 0 };
}

interface ProcessIdentity {
  readonly pid: number;
  /** When the process started, in the kernel's own count: tells it from a later one with the same number. Empty where /proc is missing. */
  readonly startTime: string;
}

async function readIdentity(attempt: string): Promise<ProcessIdentity | undefined> {
  const file = join(attempt, 'claim', 'process');
  const patience = Date.now() + claimPatience;
  while (!existsSync(file)) {
    if (existsSync(join(attempt, 'exit')) || Date.now() > patience) return undefined;
    await new Promise((done) => setTimeout(done, 10));
  }
  const [first = '', ...rest] = readFileSync(file, 'utf8').split('\n');
  const pid = Number.parseInt(first, 10);
  return Number.isInteger(pid) && pid > 1 ? { pid, startTime: startTimeFromStat(rest.join('\n')) } : undefined;
}

function isAlive({ pid, startTime }: ProcessIdentity): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (startTime === '') return true;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return startTimeFromStat(stat) === startTime && !/\) Z /.test(stat);
  } catch {
    return false;
  }
}

/** Field 22 of /proc/<pid>/stat, counted after the command name, which may itself hold spaces and brackets. */
function startTimeFromStat(stat: string): string {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}

const signalNames: ReadonlySet<string> = new Set([
  'SIGINT',
  'SIGTERM',
  'SIGHUP',
  'SIGQUIT',
  'SIGUSR1',
  'SIGUSR2',
  'SIGKILL',
  'SIGALRM',
  'SIGABRT',
  'SIGCONT',
  'SIGSTOP',
]);

function signalNamed(name: string): NodeJS.Signals {
  const full = name.startsWith('SIG') ? name : `SIG${name}`;
  return (signalNames.has(full) ? full : 'SIGINT') as NodeJS.Signals;
}
