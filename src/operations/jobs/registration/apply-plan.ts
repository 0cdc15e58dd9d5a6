import { errAsync, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../../access/principal.js';
import { commit } from '../../commit.js';
import type { EngineContext } from '../../context/engine-context.js';
import { authoriseRegistration, type Registered, type RegisterJobError, registerWithin } from './register-job.js';
import { checkSeal, type PlanOutdated, type PlanSeal } from './sealed-plan.js';

/**
 * Registers a planned job only if the plan's inputs are unchanged, so that the effect is as
 * planned. In a busy installation a plan is soon outdated: create another one then.
 */
export function applyPlan(
  context: EngineContext,
  caller: Principal,
  seal: PlanSeal,
): ResultAsync<Registered, RegisterJobError | PlanOutdated> {
  const registration = {
    job: { ...seal.job, NomadTokenID: caller.accessor },
    version: null,
    capabilities: ['submit-job', 'register-job'] as const,
    policyOverride: seal.policyOverride,
    triggeredBy: 'job-register' as const,
  };
  const allowed = authoriseRegistration(caller, registration);
  if (allowed.isErr()) return errAsync(allowed.error);
  return commit(context, caller, (tx) => checkSeal(tx, seal).andThen(() => registerWithin(tx, registration))).map(
    ({ value }) => value,
  );
}
