import { err, ok, type Result } from 'neverthrow';
import { evaluatePolicies, policyRefused } from '../../../jobs/admission/job-policy.js';
import type { Job } from '../../../jobs/document/job.js';
import type { InvalidJob, PolicyRefused } from '../../../jobs/errors.js';
import type { Transaction } from '../../write-transaction.js';
import { checkJob } from './check-job.js';

/** The warnings of the host's policies about a job to register, or all their refusals in one error. */
export function checkPolicies(
  tx: Transaction,
  job: Job,
  existing: Job | undefined,
  override: boolean,
): Result<readonly string[], PolicyRefused> {
  if (tx.policies.length === 0) return ok([]);
  const { warnings, refusals } = evaluatePolicies(tx.policies, { job, existing, callerName: tx.caller.name }, override);
  return refusals.length === 0 ? ok(warnings) : err(policyRefused(refusals));
}

/** The warnings about a document to register, or its refusal: first by the rules of the interface, then by the policies. */
export function checkDemands(
  tx: Transaction,
  { job, policyOverride }: { readonly job: Job; readonly policyOverride?: boolean | undefined },
  existing: Job | undefined,
): Result<readonly string[], InvalidJob | PolicyRefused> {
  return checkJob(tx, job, tx.settings, tx.now).andThen((warnings) =>
    checkPolicies(tx, job, existing, policyOverride === true).map((texts) => [...warnings, ...texts]),
  );
}
