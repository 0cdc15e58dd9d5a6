import { err, ok, type Result } from 'neverthrow';
import type { JobOfFunction } from '../../../functions/errors.js';
import { registrationOf } from '../../../jobs/changes/decide-registration.js';
import { annotateDiff } from '../../../jobs/diff/annotate-diff.js';
import { jobDiff } from '../../../jobs/diff/diff-jobs.js';
import type { JobDiff } from '../../../jobs/diff/job-diff.js';
import type { Job } from '../../../jobs/document/job.js';
import type { InvalidJob, PolicyRefused, QuotaExceeded } from '../../../jobs/errors.js';
import { nextLaunch } from '../../../jobs/periodic/next-launch.js';
import { timeZone, utc } from '../../../jobs/periodic/time-zone.js';
import { warningsText } from '../../../jobs/validation/problem-texts.js';
import type { AllocationMetric } from '../../../scheduler/allocation-metric.js';
import type { Evaluation, PlanAnnotations } from '../../../scheduler/evaluation.js';
import type { SchedulingResult } from '../../../scheduler/plan/outcome.js';
import { schedulingSteps } from '../../../scheduler/schedule.js';
import type { Steps } from '../../../scheduler/steps.js';
import { type Instant, isoFromInstant } from '../../../shared/instant.js';
import { refusedForFunction } from '../../records/function-jobs.js';
import { readJobRow } from '../../records/jobs/job-rows.js';
import { writeRegistration } from '../../records/jobs/write-registration.js';
import type { KnownCluster } from '../../records/scheduling/known-cluster.js';
import { newEvaluation } from '../../records/scheduling/new-evaluation.js';
import { snapshotInSteps } from '../../records/scheduling/scheduling-snapshot.js';
import type { Transaction } from '../../write-transaction.js';
import { checkDemands } from './check-policies.js';
import { checkQuota, keptWarnings } from './check-quota.js';
import type { JobRegistration } from './register-job.js';
import { type PlanSeal, sealOf } from './sealed-plan.js';

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
  /** For `applyPlan`: registers the job only if the plan's inputs are unchanged. */
  readonly seal: PlanSeal;
}

export interface PlanRequest {
  readonly registration: JobRegistration;
  /** Whether the plan contains the differences from the registered job. */
  readonly diff: boolean;
}

export type PlanRefusal = InvalidJob | PolicyRefused | QuotaExceeded | JobOfFunction;

/** A plan, and the state that it is based on. */
export interface MadePlan {
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
export function* planInSteps(
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
  const seal = sealOf(tx, jobToSeal(registration, decided.job), registration.policyOverride === true);
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

/** The job with the preserved counts and resources: `applyPlan` registers it unchanged. */
function jobToSeal({ job, preserveCounts = false, preserveResources = false }: JobRegistration, decided: Job): Job {
  return preserveCounts || preserveResources ? submitted(decided, job) : job;
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
