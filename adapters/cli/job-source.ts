import { randomUUID } from 'node:crypto';
import { dirname } from 'node:path';
import { parseJob, renderDiagnostics, type SubmittedJob } from '../../src/index.js';
import { isRecord } from '../../src/shared/values.js';
import { filesBelow } from './job-files.js';
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
