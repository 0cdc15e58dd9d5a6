import { err, ok, type Result } from 'neverthrow';
import { decodeFileInSteps, type VariableFile } from '../hcl/decode/decode-file.js';
import type { Diagnostic } from '../hcl/diagnostics/diagnostic.js';
import type { Budget } from '../hcl/evaluate/budget.js';
import { type FileAccess, fileFunctions } from '../hcl/functions/files.js';
import { hclFunctions } from '../hcl/functions/index.js';
import { pathFunctions } from '../hcl/functions/path-pattern.js';
import { finish, type Steps } from '../hcl/steps.js';
import { canonicaliseSubmitted } from './canonical/canonicalise-job.js';
import type { SubmittedJob } from './document/submitted-job.js';
import { jobFromSpecification, specificationSchema } from './specification/read-specification.js';

/** How `parseJob` reads a specification. */
export interface ParseJobOptions {
  /** Values of variables: `name = value` lines, or their JSON form. */
  readonly variables?: string;
  /** Further sources like `variables`, with their names in diagnostics; later ones override earlier ones, and all override `variables`. */
  readonly variableFiles?: readonly VariableFile[];
  /** Single values by name; they override all sources. */
  readonly variableFlags?: Readonly<Record<string, string>>;
  /** Single values by name, as in an environment: undeclared ones are ignored, and all other sources override them. */
  readonly variableEnvironment?: Readonly<Record<string, string>>;
  /** Values for undeclared variables: true refuses them, false warns. Default: refused in `variableFlags` only. */
  readonly strictVariables?: boolean;
  /** The files for the file functions, which fail without it. */
  readonly files?: FileAccess;
  /** Fills unset fields with their defaults. */
  readonly canonicalize?: boolean;
  /** Parses the source as HCL 1, in which `${…}` is literal. */
  readonly hcl1?: boolean;
  /** The source of new UUIDs and salts; without it the functions that need them are undefined. */
  readonly ids?: { next(kind: 'uuid'): string };
  /** The budget of the evaluation; see `createBudget`. */
  readonly budget?: Budget;
}

/** The functions of job files: path functions always, file functions with `files`, random ones with `ids`. */
function functionsFor({ ids, files }: ParseJobOptions): typeof hclFunctions {
  const functions = new Map(hclFunctions);
  for (const each of [...pathFunctions, ...(files === undefined ? [] : fileFunctions(files))]) {
    functions.set(each.name, each);
  }
  if (ids === undefined) for (const name of ['uuidv4', 'bcrypt']) functions.delete(name);
  return functions;
}

/** A parsed specification. */
export interface ParsedJob {
  /** The submitted form; null where no value was given. */
  readonly job: SubmittedJob;
  /** Warnings about the source. */
  readonly warnings: readonly Diagnostic[];
}

/**
 * The job that a specification in HCL (or in the JSON form of HCL) describes: the parse operation of the job interface.
 * Synchronous and pure; checks the language and the table of the specification, not the meaning (see `validateJob`).
 * Errors are all problems found, sorted by position. Without `files` the file functions fail.
 *
 * A source that costs more than the budget of one step is refused; a service uses `parseJobSource`, which takes several steps.
 */
export function parseJob(source: string, options: ParseJobOptions = {}): Result<ParsedJob, Diagnostic[]> {
  return finish(parseJobInSteps(source, options));
}

/** The same in parts, for large sources. */
export function* parseJobInSteps(
  source: string,
  options: ParseJobOptions = {},
): Steps<Result<ParsedJob, Diagnostic[]>> {
  const { canonicalize: _canonicalize, files: _files, ids: _ids, ...given } = options;
  const decoded = yield* decodeFileInSteps<SubmittedJob>(source, {
    schema: specificationSchema,
    interpret: jobFromSpecification,
    ...given,
    ids: options.ids ?? { next: () => '' },
    functions: functionsFor(options),
  });
  if (decoded.isErr()) return err(decoded.error);
  const { value, warnings } = decoded.value;
  yield;
  const job = options.canonicalize === true ? canonicaliseSubmitted(value) : value;
  yield;
  return ok({ job, warnings });
}
