import { hasLoneSurrogate, quoted } from '../../shared/values.js';
import type { Job } from '../document/job.js';
import type { Task } from '../document/task.js';
import type { TaskGroup } from '../document/task-group.js';
import { byteLength, type Report, within } from './problems.js';

/*
 * Strings that no path of the interface, no file name and no process can have: IDs, names, arguments, environments and signals.
 */

/**
 * The endings of paths below `/v1/job/` that name an operation (job interface, routing). A job whose ID ends in one could not
 * be addressed: the path would be taken for the operation on another job.
 */
export const operationSuffixes: readonly string[] = [
  'evaluate',
  'allocations',
  'evaluations',
  'periodic/force',
  'plan',
  'summary',
  'dispatch',
  'dispatch/payload',
  'versions',
  'revert',
  'deployments',
  'deployment',
  'stable',
  'scale',
  'services',
  'submission',
  'actions',
  'action',
  'tag',
];

/** The maximum length of an ID as written in a path, in bytes; servers and clients truncate much longer paths. */
const maximumIdLength = 8_000;

/** An ID may be any string that a path of the interface can name. */
export function validateJobId(id: string, report: Report): void {
  const problem = jobIdProblem(id);
  if (problem !== undefined) report(problem);
}

export function jobIdProblem(id: string): string | undefined {
  if (id === '') return 'the job has no ID';
  if (id.includes(' ')) return 'the job ID must not contain a space';
  if (id.includes('\0')) return 'the job ID must not contain NUL';
  return unreachable(id);
}

/** Why the ID cannot be written in a path. */
export function unreachable(id: string): string | undefined {
  if (hasLoneSurrogate(id)) return 'the job ID contains half of a surrogate pair, which no path can carry';
  // A UTF-16 unit takes at most nine characters in a path.
  if (
    id.length * 9 > maximumIdLength &&
    (id.length > maximumIdLength || encodeURIComponent(id).length > maximumIdLength)
  ) {
    return `the job ID is longer than ${maximumIdLength} bytes as written in a path`;
  }
  if (id.includes('.') && id.split('/').some((part) => part === '.' || part === '..')) {
    return 'a part of the job ID is "." or "..", which clients remove from paths';
  }
  const suffix = id.includes('/') ? operationSuffixes.find((name) => id.endsWith(`/${name}`)) : undefined;
  if (suffix === undefined) return undefined;
  return `the job ID ends in ${quoted(`/${suffix}`)}, so its path would be read as an operation on another job`;
}

/** Bytes of the name of a group or task: it becomes part of file names, which have 255. */
const maximumNameLength = 128;

/** The name of a group. */
export function validateName(name: string, report: Report): void {
  if (name === '') report('a name is required');
  else validateFileName(name, report);
}

export function validateTaskName(name: string, report: Report): void {
  if (name === '') report('a name is required');
  // The shared directory of an allocation has this name.
  else if (name === 'alloc') report('the name "alloc" is taken');
  else if (/[/\\]/.test(name)) report('the name must not contain a slash or a backslash');
  else validateFileName(name, report);
}

function validateFileName(name: string, report: Report): void {
  if (name.includes('\0')) report('the name must not contain NUL');
  else if (name === '.' || name === '..') report(`the name must not be ${quoted(name)}`);
  else if (hasLoneSurrogate(name)) report('the name contains half of a surrogate pair');
  else if (name.length > maximumNameLength || byteLength(name) > maximumNameLength) {
    report(`the name must not be longer than ${maximumNameLength} bytes`);
  }
}

/*
 * Values with which no process can be started: strings that contain NUL, arguments and environments beyond the limits of the
 * operating system, unknown signals. Such a job would stay pending forever, so it is refused.
 */

const endAndPointer = 9;
const addedLater = 64 * 1024;

/** The maximum length of one argument or one `name=value` pair of the environment, in bytes without its terminator. */
export const maximumArgument = 131_071;
/**
 * The maximum size of all arguments and the environment of a process, in bytes with a terminator and a pointer for each: the
 * system's 2 MiB minus 64 KiB for the additions of the node and of a dispatch.
 */
const maximumArguments = 2 * 1024 * 1024 - addedLater;

type StringMap = Readonly<Record<string, string>> | null;

export function validateMeta({ Meta }: Pick<Job | TaskGroup, 'Meta'>, report: Report): void {
  validateMap('meta', Meta, report);
}

export function validateTaskStart(task: Task, group: TaskGroup, job: Job, report: Report): void {
  validateMap('env', task.Env, report);
  validateMap('meta', task.Meta, report);
  const command = commandOf(task);
  validateTexts('the command and its arguments', command, report);
  validatePaths(task, report);
  validatePrograms(task, report);
  validateSignals(task, report);
  const meta = sizeOfMap(job.Meta) + sizeOfMap(group.Meta) + sizeOfMap(task.Meta);
  const total = totalSize(task, meta, command);
  if (total > maximumArguments) report(tooMuch(total));
}

/** The size of arguments and environment; a task gets its meta twice: with the keys as written and in upper case. */
function totalSize(task: Task, metaSize: number, command: readonly string[]): number {
  return sizeOfMap(task.Env) + 2 * metaSize + sizeOfTexts(command);
}

function tooMuch(total: number): string {
  return `arguments, environment and meta take ${total} bytes, more than the ${maximumArguments} that a process can have`;
}

/** Why no instance of the job could start with this additional meta; small meta always fits. */
export function dispatchSizeProblem(parent: Job, meta: StringMap): string | undefined {
  const given = sizeOfMap(meta);
  if (given <= addedLater / 4) return undefined;
  for (const group of parent.TaskGroups) {
    for (const task of group.Tasks) {
      const meta = given + sizeOfMap(parent.Meta) + sizeOfMap(group.Meta) + sizeOfMap(task.Meta);
      const total = totalSize(task, meta, commandOf(task));
      if (total > maximumArguments) return `with it, ${tooMuch(total)}`;
    }
  }
  return undefined;
}

/** Checks a map whose entries become variables of the environment. */
function validateMap(what: string, map: StringMap, report: Report): void {
  const problem = mapProblem(map);
  if (problem !== undefined) report(`${what}: ${problem}`);
}

/** The problem of the first entry that cannot become a variable of the environment. */
export function mapProblem(map: StringMap): string | undefined {
  for (const key in map) {
    const value = map[key] ?? '';
    if (key.includes('\0')) return `the key ${quoted(key)} must not contain NUL`;
    if (value.includes('\0')) return `the value of ${quoted(key)} must not contain NUL`;
    if (isLonger(key, value)) return `${quoted(key)} and its value are longer than ${maximumArgument} bytes`;
  }
  return undefined;
}

function isLonger(key: string, value: string): boolean {
  const length = key.length + 1 + value.length;
  if (length * 3 <= maximumArgument) return false;
  return length > maximumArgument || byteLength(key) + 1 + byteLength(value) > maximumArgument;
}

function validateTexts(what: string, texts: readonly string[], report: Report): void {
  for (const text of texts) {
    if (text.includes('\0')) report(`${what} must not contain NUL`);
    else if (text.length * 3 > maximumArgument && byteLength(text) > maximumArgument) {
      report(`${what} must not be longer than ${maximumArgument} bytes each`);
    } else continue;
    return;
  }
}

/** Checks the strings of a driver's configuration that are passed to processes. */
function commandOf({ Config }: Task): string[] {
  if (Config === null) return [];
  const { command, args } = Config;
  const texts: string[] = typeof command === 'string' ? [command] : [];
  const given: readonly unknown[] = Array.isArray(args) ? args : [];
  for (const text of given) if (typeof text === 'string') texts.push(text);
  return texts;
}

function validatePaths(task: Task, report: Report): void {
  const check = (what: string, path: string): void => {
    if (path.includes('\0')) report(`${what} must not contain NUL`);
  };
  check('user', task.User);
  for (const artifact of task.Artifacts ?? []) check('the destination of an artifact', artifact.RelativeDest);
  for (const template of task.Templates ?? []) {
    check('the destination of a template', template.DestPath);
    check('the source of a template', template.SourcePath);
  }
  if (task.DispatchPayload !== null) check('the file of dispatch_payload', task.DispatchPayload.File);
  for (const mount of task.VolumeMounts ?? []) check('the destination of a volume_mount', mount.Destination);
  for (const identity of task.Identities ?? []) check('the file of an identity', identity.Filepath);
}

/** Checks further programs that are started for the task. */
function validatePrograms(task: Task, report: Report): void {
  for (const action of task.Actions ?? []) {
    validateProgram('the command and its arguments', action, within(report, 'action', action.Name));
  }
  for (const [index, { ChangeScript }] of (task.Templates ?? []).entries()) {
    if (ChangeScript !== null) validateProgram('change_script', ChangeScript, within(report, `template ${index + 1}`));
  }
  for (const { Checks } of task.Services ?? []) {
    for (const check of Checks ?? []) {
      validateProgram('the command and its arguments', check, within(report, 'check', check.Name));
    }
  }
}

function validateProgram(
  what: string,
  { Command, Args }: { readonly Command: string; readonly Args: readonly string[] | null },
  report: Report,
): void {
  validateTexts(what, [Command, ...(Args ?? [])], report);
}

function validateSignals(task: Task, report: Report): void {
  const unknown = (name: string): boolean => name !== '' && !isSignal(name);
  if (unknown(task.KillSignal)) report(`kill_signal names the unknown signal ${quoted(task.KillSignal)}`);
  for (const [index, template] of (task.Templates ?? []).entries()) {
    if (unknown(template.ChangeSignal)) {
      report(`template ${index + 1}: change_signal names the unknown signal ${quoted(template.ChangeSignal)}`);
    }
  }
  for (const identity of task.Identities ?? []) {
    if (unknown(identity.ChangeSignal)) {
      report(
        `identity ${quoted(identity.Name)}: change_signal names the unknown signal ${quoted(identity.ChangeSignal)}`,
      );
    }
  }
}

function sizeOfMap(map: StringMap): number {
  let size = 0;
  for (const key in map) size += sizeOf(key) + sizeOf(map[key] ?? '') + 1 + endAndPointer;
  return size;
}

function sizeOfTexts(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + sizeOf(text) + endAndPointer, 0);
}

/** Bytes; approximate for short strings, since only long ones can reach the limit. */
function sizeOf(text: string): number {
  return text.length < 256 ? text.length : byteLength(text);
}

/** The signals that a task can be sent: those of POSIX systems, by name. */
const signals: ReadonlySet<string> = new Set([
  'SIGABRT',
  'SIGALRM',
  'SIGBUS',
  'SIGCHLD',
  'SIGCONT',
  'SIGFPE',
  'SIGHUP',
  'SIGILL',
  'SIGINT',
  'SIGIO',
  'SIGIOT',
  'SIGKILL',
  'SIGPIPE',
  'SIGPOLL',
  'SIGPROF',
  'SIGPWR',
  'SIGQUIT',
  'SIGSEGV',
  'SIGSTKFLT',
  'SIGSTOP',
  'SIGSYS',
  'SIGTERM',
  'SIGTRAP',
  'SIGTSTP',
  'SIGTTIN',
  'SIGTTOU',
  'SIGURG',
  'SIGUSR1',
  'SIGUSR2',
  'SIGVTALRM',
  'SIGWINCH',
  'SIGXCPU',
  'SIGXFSZ',
]);

export function isSignal(name: string): boolean {
  return signals.has(name.toUpperCase());
}
