import type { Job } from '../document/job.js';
import type { PolicyRefused } from '../errors.js';

/**
 * How binding a policy is: `advisory` warns, `soft-mandatory` refuses unless the caller overrides it (`PolicyOverride`, which
 * needs the capability `policy-override`), `hard-mandatory` always refuses.
 */
export type PolicyLevel = 'advisory' | 'soft-mandatory' | 'hard-mandatory';

/** All levels of policies, from the weakest to the strongest. */
export const policyLevels = ['advisory', 'soft-mandatory', 'hard-mandatory'] as const satisfies readonly PolicyLevel[];

/** The inputs of a policy. */
export interface PolicyQuestion {
  /** The job as it would be stored, with all defaults. */
  readonly job: Job;
  /** The job that is registered now; undefined for a new one. */
  readonly existing: Job | undefined;
  /** Name of the caller's token; empty when it has none. */
  readonly callerName: string;
}

/** A requirement of the host on jobs, beyond the rules of the interface. */
export interface JobPolicy {
  /** Shown to callers before the reason. */
  readonly name: string;
  readonly level: PolicyLevel;
  /**
   * The reason why the job violates the policy; undefined if it does not. It is called for registrations, updates, reverts,
   * scalings, plans and validations, possibly more than once, and must neither wait nor change anything. A policy that throws
   * counts as violated; its exception is logged and never returned to callers.
   */
  readonly refuse: (question: PolicyQuestion) => string | undefined;
}

/** The results of the policies for a job: warnings for the caller, and reasons to refuse it. */
interface PolicyResult {
  readonly warnings: readonly string[];
  readonly refusals: readonly string[];
}

/** Evaluates every policy. `override` turns the refusals of soft-mandatory ones into warnings. */
export function evaluatePolicies(
  policies: readonly JobPolicy[],
  question: PolicyQuestion,
  override: boolean,
): PolicyResult {
  const warnings: string[] = [];
  const refusals: string[] = [];
  for (const policy of policies) {
    const reason = reasonOf(policy, question);
    if (reason === undefined) continue;
    const { name, level } = policy;
    if (level === 'advisory') warnings.push(`policy ${name} advises against this job: ${reason}`);
    else if (level === 'hard-mandatory') refusals.push(`policy ${name} refuses this job: ${reason}`);
    else if (override) warnings.push(`policy ${name} was overridden: ${reason}`);
    else refusals.push(`policy ${name} refuses this job (PolicyOverride would pass it): ${reason}`);
  }
  return { warnings, refusals };
}

/** The result of a host's function is not trusted: every value except undefined and null is a refusal, and so is an exception. */
function reasonOf({ refuse }: JobPolicy, question: PolicyQuestion): string | undefined {
  try {
    const reason: unknown = refuse(question);
    if (reason === undefined || reason === null) return undefined;
    return typeof reason === 'string' && reason !== '' ? reason : 'it gives no reason';
  } catch {
    return 'it failed';
  }
}

export function policyRefused(refusals: readonly string[]): PolicyRefused {
  return { type: 'policy_refused', message: refusals.join('\n') };
}
