import { err, errAsync, ok, type Result, ResultAsync } from 'neverthrow';
import type { Principal } from '../../../access/principal.js';
import { type Diagnostic, renderDiagnostics } from '../../../hcl/diagnostics/diagnostic.js';
import type { Steps } from '../../../hcl/steps.js';
import { type InvalidRequest, invalidRequest } from '../../../jobs/errors.js';
import { type ParsedJob, parseJobInSteps } from '../../../jobs/parse-job.js';
import type { EngineContext } from '../../context/engine-context.js';

/** A job specification to parse; the caller needs `parse-job` in the namespace. */
interface ParseJobSourceInput {
  /** `default` when absent. */
  readonly namespace?: string;
  /** The specification, in the configuration language. */
  readonly source: string;
  /** Values of variables, in the form of a variable file. */
  readonly variables?: string;
  /** Fills unset fields with their defaults. */
  readonly canonicalize?: boolean;
  /** Parses the source as HCL 1, in which `${…}` is literal. */
  readonly hcl1?: boolean;
}

/** The source is not a valid job specification; `message` lists every problem with its position. */
export interface UnreadableSource {
  readonly type: 'unreadable_source';
  /** All errors and warnings, with their positions. */
  readonly diagnostics: readonly Diagnostic[];
  readonly message: string;
}

/**
 * The job that a specification describes (job interface, parse). Stores nothing and does not validate. A large string is read in
 * several turns of the event loop.
 */
export function parseJobSource(
  context: EngineContext,
  _caller: Principal,
  input: ParseJobSourceInput,
): ResultAsync<ParsedJob, InvalidRequest | UnreadableSource> {
  if (input.source.trim() === '') return errAsync(invalidRequest('JobHCL', 'Job spec is empty'));
  return new ResultAsync(parse(context, input));
}

async function parse(context: EngineContext, input: ParseJobSourceInput): Promise<Result<ParsedJob, UnreadableSource>> {
  const { source, canonicalize = false, hcl1 = false, variables = '' } = input;
  const ids = { next: () => context.ids.next('uuid') };
  const parsed = await inTurns(parseJobInSteps(source, { canonicalize, hcl1, variables, ids }));
  if (parsed.isOk()) return ok(parsed.value);
  const diagnostics = parsed.error;
  return err({
    type: 'unreadable_source',
    diagnostics,
    message: 'Failed to parse job: ' + renderDiagnostics(diagnostics),
  });
}

/** Does work in parts, each in its own turn of the event loop, so that other work continues in between. */
async function inTurns<Value>(steps: Steps<Value>): Promise<Value> {
  for (;;) {
    const step = steps.next(true);
    if (step.done === true) return step.value;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
