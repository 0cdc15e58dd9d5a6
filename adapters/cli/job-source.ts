import { randomUUID } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import { renderDiagnostics } from '../../src/hcl/index.js';
import { type FileAccess, parseJob, type SubmittedJob } from '../../src/jobs/index.js';
import { isRecord, messageOf, resultOr } from '../../src/shared/values.js';
import { findJsonFault, jsonValueOf } from './json-fault.js';
import { Stopped, StoppedInColour } from './stopped.js';
import type { Terminal } from './terminal.js';

/** A parsed job file, with its source for the server. */
export interface JobSource {
  readonly job: SubmittedJob | Readonly<Record<string, unknown>>;
  readonly submission: {
    readonly Source: string;
    readonly Format: 'hcl2' | 'hcl1' | 'json';
    readonly VariableFlags: Readonly<Record<string, string>>;
    readonly Variables: string;
  };
}

interface JobSourceOptions {
  /** `name=value` strings. */
  readonly flags: readonly string[];
  /** Files of variables; a later one wins. */
  readonly files: readonly string[];
  /** Whether values for variables that are not declared are refused. */
  readonly strict: boolean;
  readonly canonicalize: boolean;
  readonly hcl1: boolean;
}

/**
 * Reads a job file: HCL, or JSON if the name ends in `.json` or standard input is a JSON job. Rejects with `Stopped`, which lists
 * every problem with its location.
 */
export async function readJobSource(path: string, options: JobSourceOptions, terminal: Terminal): Promise<JobSource> {
  const source = await terminal.read(path);
  const variableFiles = await Promise.all(
    options.files.map(async (name) => ({ name, text: await terminal.read(name) })),
  );
  const variableFlags = flagsFrom(options.flags);
  const variables = variableFiles.map(({ text }) => text).join('\n');
  const submission = { Source: source, VariableFlags: variableFlags, Variables: variables };
  if (path.endsWith('.json') || (path === '-' && isJobDocument(source))) {
    refuseForJson(path, options);
    return { job: jobFromJson(source, path), submission: { ...submission, Format: 'json' } };
  }
  const { canonicalize, hcl1, strict } = options;
  const parsed = parseJob(source, {
    variableFiles,
    variableFlags,
    variableEnvironment: variablesIn(terminal.environment),
    strictVariables: strict,
    canonicalize,
    hcl1,
    ids: { next: () => randomUUID() },
    files: filesBelow(path === '-' ? '.' : dirname(path)),
  });
  if (parsed.isErr()) {
    const diagnostics = parsed.error.map((diagnostic) =>
      diagnostic.file === 'job' ? { ...diagnostic, file: path } : diagnostic,
    );
    throw new StoppedInColour(
      `${path === '-' ? 'standard input' : path} is invalid\n\n${renderDiagnostics(diagnostics, { colour: terminal.colours })}`,
    );
  }
  const { job, warnings } = parsed.value;
  if (warnings.length > 0) terminal.error(renderDiagnostics(warnings, { colour: terminal.colours }) + '\n\n');
  return { job, submission: { ...submission, Format: hcl1 ? 'hcl1' : 'hcl2' } };
}

/** Refuses options of HCL for a JSON document. */
function refuseForJson(path: string, { flags, files, hcl1 }: JobSourceOptions): void {
  const given = [flags.length > 0 ? '-var' : '', files.length > 0 ? '-var-file' : '', hcl1 ? '-hcl1' : ''];
  const names = given.filter((name) => name !== '').join(' and ');
  if (names === '') return;
  const what = path === '-' ? 'standard input' : path;
  throw new Stopped(`${what} is a JSON document, which has no variables and no version: leave ${names} out`, 2);
}

/** Prefixes of environment variables with values of variables; the last one wins. */
const variablePrefixes = ['NOMAD_VAR_', 'SIGNALBOX_VAR_'];

function variablesIn(environment: Terminal['environment']): Readonly<Record<string, string>> {
  const values: [string, string][] = [];
  for (const prefix of variablePrefixes) {
    for (const [name, value] of Object.entries(environment)) {
      if (value !== undefined && name.startsWith(prefix)) values.push([name.slice(prefix.length), value]);
    }
  }
  return Object.fromEntries(values);
}

/** Whether the source is output of `job inspect` or a bare job; HCL in JSON syntax has a `job` member instead. */
function isJobDocument(source: string): boolean {
  if (!/^\ufeff?\s*\{/.test(source) || findJsonFault(source) !== undefined) return false;
  const document: unknown = jsonValueOf(source);
  return isRecord(document) && (isRecord(document['Job']) || typeof document['ID'] === 'string');
}

/** The document itself, or the body of a registration around it. */
function jobFromJson(source: string, path: string): Readonly<Record<string, unknown>> {
  const fault = findJsonFault(source);
  if (fault !== undefined) throw new Stopped(`${path}:${fault.line}:${fault.column}: ${fault.message}`);
  const document: unknown = jsonValueOf(source);
  const job = isRecord(document) && isRecord(document['Job']) ? document['Job'] : document;
  if (!isRecord(job)) throw new Stopped(`${path}: expected a JSON object with a job`);
  return job;
}

function flagsFrom(texts: readonly string[]): Readonly<Record<string, string>> {
  const flags: Record<string, string> = {};
  for (const text of texts) {
    const equals = text.indexOf('=');
    if (equals < 1) throw new Stopped(`--var takes name=value, not ${JSON.stringify(text)}`, 2);
    flags[text.slice(0, equals)] = text.slice(equals + 1);
  }
  return flags;
}

/** The most files and folders in one listing. */
const mostEntries = 10_000;

/**
 * The files below a folder, for the file functions of a job file. A path that leads out of the folder, by `..`, as an absolute path or
 * through a symbolic link, is refused; so is everything that is not a regular file.
 */
export function filesBelow(folder: string): FileAccess {
  const root = resolve(folder);
  /** The real path; undefined if it does not exist. */
  const located = (path: string): Result<string | undefined, string> => {
    if (path.includes('\0')) return err('a path cannot contain a NUL character');
    const wanted = resolve(root, path);
    try {
      const [real, realRoot] = [realpathSync(wanted), realpathSync(root)];
      return isBelow(real, realRoot) ? ok(real) : err(outside(path, root));
    } catch (error) {
      if (!isBelow(wanted, root) && !isBelow(wanted, rootOf(root))) return err(outside(path, root));
      return isMissing(error) ? ok(undefined) : err(`${path} cannot be read: ${messageOf(error)}`);
    }
  };
  return {
    folder: root,
    home: homedir() || undefined,
    read: (path, limit) =>
      located(path).andThen((real) =>
        real === undefined ? err(`there is no file ${path} in ${root}`) : contentOf(real, path, limit),
      ),
    exists: (path) =>
      located(path).andThen((real) => {
        if (real === undefined) return ok(false);
        const stats = statSync(real, { throwIfNoEntry: false });
        if (stats === undefined) return ok(false);
        return stats.isFile() ? ok(true) : err(`${path} is not a regular file`);
      }),
    list: (path) =>
      located(path).andThen((real) =>
        real === undefined ? err(`there is no folder ${path} in ${root}`) : filesIn(real, path, realpathSync(root)),
      ),
  };
}

function rootOf(root: string): string {
  return resultOr(root, () => realpathSync(root));
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || !(way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way));
}

function outside(path: string, root: string): string {
  return `${path} is outside ${root}: a job file can only read files below its folder`;
}

function contentOf(real: string, path: string, limit: number): Result<Uint8Array, string> {
  let file: number | undefined;
  try {
    // Opening a pipe without a writer would wait for one.
    file = openSync(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    if (!fstatSync(file).isFile()) return err(`${path} is not a regular file`);
    const bytes = Buffer.alloc(limit + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = readSync(file, bytes, length, bytes.length - length, null);
    }
    return length > limit ? err(`${path} is larger than ${limit} bytes`) : ok(bytes.subarray(0, length));
  } catch (error) {
    return err(`${path} cannot be read: ${messageOf(error)}`);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Links to folders are not followed; links to files are, within the root. */
function filesIn(folder: string, path: string, root: string): Result<readonly string[], string> {
  const found: string[] = [];
  const open = [''];
  let entries = 0;
  try {
    for (let below = open.pop(); below !== undefined; below = open.pop()) {
      for (const entry of readdirSync(resolve(folder, below), { withFileTypes: true })) {
        entries += 1;
        if (entries > mostEntries) return err(`${path} contains more than ${mostEntries} files and folders`);
        const name = below === '' ? entry.name : `${below}/${entry.name}`;
        if (entry.isDirectory()) open.push(name);
        else if (entry.isFile() || (entry.isSymbolicLink() && isFileBelow(resolve(folder, name), root)))
          found.push(name);
      }
    }
    return ok(found);
  } catch (error) {
    return err(`${path} cannot be listed: ${messageOf(error)}`);
  }
}

function isFileBelow(path: string, root: string): boolean {
  try {
    const real = realpathSync(path);
    return isBelow(real, root) && statSync(real).isFile();
  } catch {
    return false;
  }
}

function isMissing(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ENOENT' || code === 'ENOTDIR';
}
