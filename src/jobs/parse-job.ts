import { err, ok, type Result } from 'neverthrow';
import { decodeFileInSteps } from '../hcl/decode/decode-file.js';
import type { Diagnostic } from '../hcl/diagnostics/diagnostic.js';
import type { Budget } from '../hcl/evaluate/budget.js';
import { hclFunctions } from '../hcl/functions/index.js';
import { finish, type Steps } from '../hcl/steps.js';
import { canonicaliseSubmitted } from './canonical/canonicalise-submitted.js';
import type { SubmittedJob } from './document/submitted-job.js';
import { jobFromSpecification, specificationSchema } from './specification/read-specification.js';

/** How `parseJob` reads a specification. */
export interface ParseJobOptions {
  /** Values of variables: `name = value` lines, or their JSON form. */
  readonly variables?: string;
  /** Single values by name; they win over `variables`. */
  readonly variableFlags?: Readonly<Record<string, string>>;
  /** Fills unset fields with their defaults. */
  readonly canonicalize?: boolean;
  /** Reads the text in the literal mode for version 1 of the language. */
  readonly hcl1?: boolean;
  /** Where new UUIDs and salts come from; without it the functions that need them do not exist. */
  readonly ids?: { next(kind: 'uuid'): string };
  /** What the evaluation may cost at most; see `createBudget`. */
  readonly budget?: Budget;
}

/** The functions whose results do not depend on chance, collected on first use. */
function functionsWithoutChance(): typeof hclFunctions {
  certain ??= new Map([...hclFunctions].filter(([name]) => name !== 'uuidv4' && name !== 'bcrypt'));
  return certain;
}

let certain: typeof hclFunctions | undefined;

/** A specification that could be read. */
export interface ParsedJob {
  /** The submitted form: null where nothing was given. */
  readonly job: SubmittedJob;
  /** What is questionable about the text. */
  readonly warnings: readonly Diagnostic[];
}

/**
 * The job that a specification in HCL (or in the JSON form of HCL) describes: the parse operation of the job interface.
 * Synchronous and pure; checks the language and the table of the specification, not the meaning (see `validateJob`).
 * Errors are all problems found, sorted by position. Files are out of reach: file functions fail.
 *
 * A text that costs more than the budget of one turn is refused; a service reads texts by `parseJobSource`, which takes several.
 */
export function parseJob(source: string, options: ParseJobOptions = {}): Result<ParsedJob, Diagnostic[]> {
  return finish(parseJobInSteps(source, options));
}

/** The same in parts, for texts that may be large. */
export function* parseJobInSteps(
  source: string,
  options: ParseJobOptions = {},
): Steps<Result<ParsedJob, Diagnostic[]>> {
  const decoded = yield* decodeFileInSteps<SubmittedJob>(source, {
    schema: specificationSchema,
    interpret: jobFromSpecification,
    ids: options.ids ?? { next: () => '' },
    ...(options.ids === undefined ? { functions: functionsWithoutChance() } : {}),
    ...(options.variables === undefined ? {} : { variables: options.variables }),
    ...(options.variableFlags === undefined ? {} : { variableFlags: options.variableFlags }),
    ...(options.budget === undefined ? {} : { budget: options.budget }),
    ...(options.hcl1 === undefined ? {} : { hcl1: options.hcl1 }),
  });
  if (decoded.isErr()) return err(decoded.error);
  const { value, warnings } = decoded.value;
  yield;
  const job = options.canonicalize === true ? canonicaliseSubmitted(value) : value;
  yield;
  return ok({ job, warnings });
}
