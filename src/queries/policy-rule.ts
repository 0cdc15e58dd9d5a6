import { err, ok, type Result } from 'neverthrow';
import type { FilterSyntaxError } from '../filter/parse-filter.js';
import type { JobPolicy, PolicyLevel } from '../jobs/admission/job-policy.js';
import { compileFilter } from './filters/index.js';

/** A policy as data: a filter expression over the job as it would be stored, such as `"owner" not in Meta`. */
export interface PolicyRule {
  readonly name: string;
  readonly level: PolicyLevel;
  /** Jobs that match are refused. The language of the lists' `filter`. */
  readonly refuse: string;
  /** The message for callers; the expression itself when absent. */
  readonly message?: string;
}

/** A rule of the settings whose filter expression cannot be read. */
export interface FaultyPolicyRule {
  /** The name of the rule. */
  readonly name: string;
  /** Where and why the expression cannot be read. */
  readonly fault: FilterSyntaxError;
}

/** The policy of a rule. An expression that names what the job does not have is found when a job is asked about, and refuses it. */
export function policyOfRule({ name, level, refuse, message }: PolicyRule): Result<JobPolicy, FaultyPolicyRule> {
  const compiled = compileFilter.job(refuse);
  if (compiled.isErr()) return err({ name, fault: compiled.error });
  const { matches } = compiled.value;
  const reason = message ?? `it is one of those with ${refuse}`;
  return ok({
    name,
    level,
    refuse: ({ job }) =>
      matches(job).match(
        (hit) => (hit ? reason : undefined),
        (fault) => `its rule cannot be asked: ${fault.message}`,
      ),
  });
}
