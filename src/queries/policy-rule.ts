import { err, ok, type Result } from 'neverthrow';
import { filterCompiler } from '../filter/compile-filter.js';
import type { FilterSyntaxError } from '../filter/parse-filter.js';
import type { JobPolicy, PolicyLevel } from '../jobs/admission/job-policy.js';
import { jobSchema } from '../jobs/record-schemas.js';

/** A policy as data: a filter expression over the job as it would be stored, such as `"owner" not in Meta`. */
export interface PolicyRule {
  readonly name: string;
  readonly level: PolicyLevel;
  /** Matching jobs are rejected. In the language of the lists' `filter`. */
  readonly refuse: string;
  /** The message for callers; defaults to the expression. */
  readonly message?: string;
}

/** A policy rule whose filter expression is invalid. */
export interface FaultyPolicyRule {
  /** The name of the rule. */
  readonly name: string;
  /** Position and problem of the expression. */
  readonly fault: FilterSyntaxError;
}

const compileJobFilter = filterCompiler(jobSchema);

/** The policy of a rule. An expression that names a member that the job lacks fails when a job is checked, and rejects it. */
export function policyOfRule({ name, level, refuse, message }: PolicyRule): Result<JobPolicy, FaultyPolicyRule> {
  const compiled = compileJobFilter(refuse);
  if (compiled.isErr()) return err({ name, fault: compiled.error });
  const { matches } = compiled.value;
  const reason = message ?? `it matches ${refuse}`;
  return ok({
    name,
    level,
    refuse: ({ job }) =>
      matches(job).match(
        (hit) => (hit ? reason : undefined),
        (fault) => `its rule cannot be evaluated: ${fault.message}`,
      ),
  });
}
