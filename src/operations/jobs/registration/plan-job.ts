import { err, errAsync, ok, type Result, ResultAsync } from 'neverthrow';
import { authorise } from '../../../access/allows.js';
import type { Principal } from '../../../access/principal.js';
import type { JobOfFunction } from '../../../functions/errors.js';
import { registrationOf } from '../../../jobs/changes/decide-registration.js';
import { annotateDiff } from '../../../jobs/diff/annotate-diff.js';
import { jobDiff } from '../../../jobs/diff/diff-jobs.js';
import type { JobDiff } from '../../../jobs/diff/job-diff.js';
import type { Job } from '../../../jobs/document/job.js';
import type { InvalidJob, PolicyRefused, QuotaExceeded, RegistrationsDisabled } from '../../../jobs/errors.js';
import { nextLaunch, timeZone, utc } from '../../../jobs/periodic/decide-launch.js';
import { documentWarnings } from '../../../jobs/validation/job-warnings.js';
import { warningsText } from '../../../jobs/validation/problems.js';
import type { StorageError } from '../../../ports/storage.js';
import type { AllocationMetric } from '../../../scheduler/allocation-metric.js';
import type { Evaluation, PlanAnnotations } from '../../../scheduler/evaluation.js';
import type { SchedulingResult } from '../../../scheduler/plan/outcome.js';
import { schedulingSteps } from '../../../scheduler/schedule.js';
import { finish, type Steps } from '../../../scheduler/steps.js';
import { type Instant, isoFromInstant } from '../../../shared/instant.js';
import { rehearse, rehearseInSteps } from '../../commit.js';
import type { EngineContext } from '../../context/engine-context.js';
import { refreshCluster } from '../../context/learn-cluster.js';
import { stepsInTurns } from '../../context/steps-in-turns.js';
import { refusedForFunction } from '../../records/function-jobs.js';
import { readJobRow, writeRegistration } from '../../records/jobs/job-rows.js';
import { clusterAt, isLarge, type KnownCluster, needsTurns } from '../../records/scheduling/known-cluster.js';
import { newEvaluation } from '../../records/scheduling/new-evaluation.js';
import { inputChangesSince, watchOf } from '../../records/scheduling/plan-basis.js';
import { readInStep, snapshotInSteps } from '../../records/scheduling/scheduling-snapshot.js';
import type { Transaction } from '../../write-transaction.js';
import { checkDemands, checkQuota, faultsOrRefusal, functionWarnings, keptWarnings } from './check-registration.js';
import { type PlanOutdated, sealOf } from './plan-seal.js';
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
export type PlanJobError = Exclude<RegisterJobError, RegistrationsDisabled | PlanOutdated>;

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
    policyOverride: input.policyOverride,
    preserveCounts: input.preserveCounts,
    preserveResources: input.preserveResources,
    triggeredBy: 'job-register',
    warnings: [
      ...(input.fromWire === true ? [] : documentWarnings(input.job, read.value.submitted)),
      ...functionWarnings(context, read.value.job),
    ],
  };
  const { policyOverride, job } = registration;
  const allowed = authorise(caller, job.Namespace, ['submit-job', 'plan-job']).andThen(() =>
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

/** The evaluation of a plan, which is never stored. */
export type PlannedEvaluation = Omit<Evaluation, 'SnapshotIndex' | 'CreateIndex' | 'ModifyIndex'>;

/** The effect that a registration would have now (job interface, plan). Nothing is stored. */
export interface JobPlan {
  /** The planned changes of each group as counts, and the allocations that would be preempted. */
  readonly annotations: PlanAnnotations | null;
  /** Groups that could not be placed, with the reasons; null when all were placed. */
  readonly failedPlacements: Readonly<Record<string, AllocationMetric>> | null;
  /** Index of the current specification: pass it as `jobModifyIndex` with `enforceIndex` to register only if the job is unchanged. 0 for a new job. */
  readonly jobModifyIndex: number;
  /** Follow-up evaluations, such as a blocked one; null when there are none. */
  readonly createdEvaluations: readonly PlannedEvaluation[] | null;
  /** Null unless requested. */
  readonly diff: JobDiff | null;
  /** The next launch, RFC 3339; null for a job without a schedule. */
  readonly nextPeriodicLaunch: string | null;
  /** Warnings about the document, as one string; empty when there are none. */
  readonly warnings: string;
  /** Index of the state that the plan is based on. */
  readonly index: number;
  /** For a registration of the same document with the same options: it is refused if what this plan relied on has changed. */
  readonly seal: string;
}

interface PlanRequest {
  readonly registration: JobRegistration;
  /** Whether the plan contains the differences from the registered job. */
  readonly diff: boolean;
}

type PlanRefusal = InvalidJob | PolicyRefused | QuotaExceeded | JobOfFunction;

/** A plan, and the state that it is based on. */
interface MadePlan {
  readonly plan: JobPlan;
  readonly known: KnownCluster;
  /** The registered job; undefined for a new one. */
  readonly current: Job | undefined;
  /** Index of the last write before the plan was begun. */
  readonly index: number;
}

interface PlanMeans {
  readonly known: KnownCluster;
  /** Allocations read in one step. */
  readonly page: number;
}

/**
 * The registration itself and the scheduling of its evaluation, in a transaction that is discarded. The registration is one step; reading
 * and deciding take many.
 */
function* planInSteps(
  tx: Transaction,
  { registration, diff: withDiff }: PlanRequest,
  { known, page }: PlanMeans,
): Steps<Result<MadePlan, PlanRefusal>> {
  const { job, version, preserveCounts, preserveResources } = registration;
  const current = readJobRow(tx, job.Namespace, job.ID)?.record;
  const checked = checkPlanned(tx, registration, current);
  if (checked.isErr()) return err(checked.error);
  const request = { job, version, preserveCounts, preserveResources, policyId: () => tx.ids.next('uuid') };
  const kept = checkQuota(tx, registrationOf(current, request, tx.index, tx.now));
  if (kept.isErr()) return err(kept.error);
  const decided = kept.value;
  const seal = sealOf(registration, current, tx.index - 1);
  const planned = writeRegistration(tx, decided, { triggeredBy: 'job-register' }, undefined).job;
  const result = yield* scheduleInSteps(tx, planned, { known, page });
  const { PlanAnnotations: annotations = null, FailedTGAllocs: failedPlacements = null } = result.evaluation;
  const diff = withDiff
    ? annotateDiff(jobDiff(current ?? null, submitted(decided.job, job), whole), annotations)
    : null;
  const jobModifyIndex = current?.JobModifyIndex ?? 0;
  const plan: JobPlan = {
    annotations,
    failedPlacements,
    jobModifyIndex,
    createdEvaluations: result.followUps.length === 0 ? null : result.followUps.map((one) => neverStored(one, current)),
    diff,
    nextPeriodicLaunch: nextLaunchOf(job, tx.now),
    warnings: warningsText([...checked.value, ...keptWarnings(decided), ...(registration.warnings ?? [])]),
    index: jobModifyIndex,
    seal,
  };
  return ok({ plan, known, current, index: tx.index - 1 });
}

function checkPlanned(tx: Transaction, registration: JobRegistration, current: Job | undefined) {
  const { Namespace: namespace, ID: jobId } = registration.job;
  const ofFunction = refusedForFunction(tx, { namespace, jobId }, 'planned');
  return ofFunction === undefined ? checkDemands(tx, registration, current) : err(ofFunction);
}

const whole = { contextual: true, complete: true };

/** The document with the IDs that a registration would assign to its scaling policies. */
function submitted(decided: Job, job: Job): Job {
  return { ...job, TaskGroups: decided.TaskGroups };
}

/** Plans the job as it would be registered. A parent of instances is planned like an instance. */
function* scheduleInSteps(tx: Transaction, job: Job, { known, page }: PlanMeans): Steps<SchedulingResult> {
  const evaluation = { ...newEvaluation(tx, job, { triggeredBy: 'job-register' }), AnnotatePlan: true };
  const parts = { cluster: known.cluster, stopwatch: tx.stopwatch, index: tx.index, page };
  const snapshot = yield* snapshotInSteps(() => tx, evaluation, parts);
  return yield* schedulingSteps(snapshot, evaluation, tx.now, tx.ids);
}

/** A planned evaluation has no write index. For an existing job, its JobModifyIndex is the current one plus one. */
function neverStored(evaluation: Evaluation, current: Job | undefined): PlannedEvaluation {
  const {
    SnapshotIndex: _,
    JobModifyIndex: _job,
    CreateIndex: _created,
    ModifyIndex: _modified,
    ...planned
  } = evaluation;
  return current === undefined ? planned : { ...planned, JobModifyIndex: current.JobModifyIndex + 1 };
}

function nextLaunchOf({ Periodic: periodic }: Job, now: Instant): string | null {
  if (periodic?.Enabled !== true) return null;
  const next = nextLaunch(periodic, now).unwrapOr(undefined);
  return next === undefined ? null : isoInZone(next, (timeZone(periodic.TimeZone) ?? utc).offsetAt(next));
}

/** Local time in whole seconds. `offset` in seconds. */
function isoInZone(instant: Instant, offset: number): string {
  const wall = isoFromInstant(instant + offset * 1000).slice(0, 19);
  if (offset === 0) return `${wall}Z`;
  const minutes = Math.abs(Math.trunc(offset / 60));
  const [hours, rest] = [Math.trunc(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'));
  return `${wall}${offset < 0 ? '-' : '+'}${hours}:${rest}`;
}
