import { err, errAsync, ok, type Result, ResultAsync } from 'neverthrow';
import type { Principal } from '../../../access/principal.js';
import type { RegistrationsDisabled } from '../../../jobs/errors.js';
import { documentWarnings } from '../../../jobs/validation/document-warnings.js';
import type { StorageError } from '../../../ports/storage.js';
import { finish } from '../../../scheduler/steps.js';
import { authorise } from '../../authorise.js';
import { rehearse, rehearseInSteps } from '../../commit.js';
import type { EngineContext } from '../../context/engine-context.js';
import { refreshCluster } from '../../context/learn-cluster.js';
import { stepsInTurns } from '../../context/steps-in-turns.js';
import { clusterAt, needsTurns } from '../../records/scheduling/known-cluster.js';
import { isLarge } from '../../records/scheduling/large-jobs.js';
import { inputChangesSince, watchOf } from '../../records/scheduling/plan-basis.js';
import { readInStep } from '../../records/scheduling/scheduling-snapshot.js';
import type { Transaction } from '../../write-transaction.js';
import { faultsOrRefusal } from './check-job.js';
import { functionWarnings } from './function-warnings.js';
import { type JobPlan, type MadePlan, type PlanRefusal, type PlanRequest, planInSteps } from './plan-steps.js';
import { type JobRegistration, type RegisterJobError, type RegisterJobInput, readAdmitted } from './register-job.js';

/** The job whose registration is planned, in the form that `registerJob` accepts. */
interface PlanJobInput extends Pick<RegisterJobInput, 'job' | 'fromWire' | 'jobId' | 'namespace' | 'region'> {
  /** Whether the answer contains the differences from the registered job. */
  readonly diff?: boolean;
  /** Turns refusals of soft-mandatory policies into warnings; needs `policy-override`. */
  readonly policyOverride?: boolean;
  /** Plans with the stored counts of existing groups, like a registration that preserves them. */
  readonly preserveCounts?: boolean;
  /** The same for the resources of tasks. */
  readonly preserveResources?: boolean;
}

/** A plan changes nothing, so it is allowed while registrations are disabled. */
type PlanJobError = Exclude<RegisterJobError, RegistrationsDisabled>;

/**
 * Plans a registration: the registration itself and the scheduling of its evaluation, on a copy of the state that is discarded. Neither a
 * change that would be refused as a transition nor the index that a registration may require is checked.
 */
export function planJob(
  context: EngineContext,
  caller: Principal,
  input: PlanJobInput,
): ResultAsync<JobPlan, PlanJobError> {
  const read = readAdmitted(context, caller, input);
  if (read.isErr()) return errAsync(read.error);
  const registration: JobRegistration = {
    job: read.value.job,
    version: read.value.submitted.Version,
    capabilities: ['submit-job', 'plan-job'],
    policyOverride: input.policyOverride,
    preserveCounts: input.preserveCounts,
    preserveResources: input.preserveResources,
    triggeredBy: 'job-register',
    warnings: [
      ...(input.fromWire === true ? [] : documentWarnings(input.job, read.value.submitted)),
      ...functionWarnings(context, read.value.job),
    ],
  };
  const { capabilities, policyOverride, job } = registration;
  const allowed = authorise(caller, job.Namespace, capabilities).andThen(() =>
    policyOverride === true ? authorise(caller, job.Namespace, ['policy-override']) : ok(undefined),
  );
  if (allowed.isErr()) return faultsOrRefusal(context, job, allowed.error);
  const request: PlanRequest = { registration, diff: input.diff === true };
  return new ResultAsync(madePlan(context, caller, request)).map(({ plan, known }) => {
    context.cluster.remember(known);
    return plan;
  });
}

/** In one view, or for a large job in steps, between which the event loop runs. */
async function madePlan(
  context: EngineContext,
  caller: Principal,
  request: PlanRequest,
): Promise<Result<MadePlan, PlanRefusal | StorageError>> {
  const behind = await context.storage.read((view) => needsTurns(view, context.cluster.known));
  if (behind.isErr()) return err(behind.error);
  const ready = behind.value ? await refreshCluster(context) : ok(undefined);
  if (ready.isErr()) return err(ready.error);
  const inTurns = () => plannedInTurns(context, caller, request);
  for (const attempt of [() => plannedIfSmall(context, caller, request), inTurns, inTurns]) {
    const plan = await attempt();
    if (plan.isErr()) return err(plan.error);
    if (plan.value !== undefined) return ok(plan.value);
  }
  return rehearse(context, caller, (tx) => plannedWithin(tx, context, request));
}

/** Undefined for a job whose evaluation would be decided in steps as well. */
function plannedIfSmall(context: EngineContext, caller: Principal, request: PlanRequest) {
  const { job } = request.registration;
  const whose = { Namespace: job.Namespace, JobID: job.ID };
  const nodes = context.cluster.known?.cluster.nodeStates.length ?? 0;
  const { decidedAtOnce } = context.settings.scheduling;
  return rehearse(context, caller, (tx) =>
    isLarge(tx, { whose, job, nodes }, decidedAtOnce) ? ok(undefined) : plannedWithin(tx, context, request),
  );
}

function plannedWithin(tx: Transaction, { cluster }: EngineContext, request: PlanRequest) {
  const known = clusterAt(tx, cluster.known);
  return finish(planInSteps(tx, request, { known, page: Number.POSITIVE_INFINITY }));
}

/** Undefined when an input of the plan has changed in the meantime. */
async function plannedInTurns(
  context: EngineContext,
  caller: Principal,
  request: PlanRequest,
): Promise<Result<MadePlan | undefined, PlanRefusal | StorageError>> {
  const work = rehearseInSteps(context, caller, (tx) =>
    planInSteps(tx, request, { known: clusterAt(tx, context.cluster.known), page: readInStep }),
  );
  const planned = await stepsInTurns(context, work, new AbortController().signal);
  if (planned.isErr()) return err(planned.error);
  if (planned.value === undefined) return ok(undefined);
  if (planned.value.isErr()) return err(planned.value.error);
  const { value: plan } = planned.value;
  const { registration } = request;
  const whose = { Namespace: registration.job.Namespace, JobID: registration.job.ID };
  const seen = { whose, job: plan.current, cluster: plan.known.cluster };
  return context.storage.read((view) =>
    inputChangesSince(view, seen, watchOf(plan)) === undefined ? undefined : plan,
  );
}
