import type { Job } from '../../jobs/document/job.js';
import { jobs, jobVersions } from '../../jobs/job-record.js';
import { type Allocation, allocations } from '../../scheduler/allocation.js';
import { blockedRequirements } from '../../scheduler/blocked/blocked-requirement.js';
import { requirementNames } from '../../scheduler/blocked/requirement-names.js';
import type { PutAllocation } from '../../scheduler/cluster/cluster.js';
import { withAllocation } from '../../scheduler/deployment/count-allocations.js';
import { type Deployment, deployments } from '../../scheduler/deployment/deployment.js';
import { type Evaluation, type EvaluationStatus, evaluations } from '../../scheduler/evaluation.js';
import {
  isPreempted,
  movedResult,
  type PlanPart,
  partsInSteps,
  type SchedulingResult,
  wholeOf,
} from '../../scheduler/plan/outcome.js';
import { schedule, schedulingSteps } from '../../scheduler/schedule.js';
import { byIdInSteps, finish } from '../../scheduler/steps.js';
import { unixNanosFromInstant } from '../../shared/instant.js';
import { type SteppedWork, steppedWork } from '../context/steps-in-turns.js';
import { readJobRow, readJobVersion } from '../records/jobs/job-rows.js';
import { clusterAfter, clusterAt, isLarge, type KnownCluster } from '../records/scheduling/known-cluster.js';
import { newEvaluation } from '../records/scheduling/new-evaluation.js';
import { allows, changesSince, type PlanBasis, type PlanWatch, watchOf } from '../records/scheduling/plan-basis.js';
import { readInStep, readSchedulingSnapshot, snapshotInSteps } from '../records/scheduling/scheduling-snapshot.js';
import type { Transaction } from '../write-transaction.js';

interface ProcessedEvaluation {
  readonly evaluation: Evaluation;
  /** The cluster after the write. */
  readonly cluster: KnownCluster;
}

/** A plan that takes longer than a write should. Its steps continue after the write that began it. */
export interface BegunEvaluation extends SteppedWork<DecidedPlan> {
  readonly evaluation: Evaluation;
  /** Index of the last write before it. */
  readonly index: number;
  readonly known: KnownCluster;
}

/** A decided plan; it is written only while its inputs are unchanged. */
export interface DecidedPlan {
  readonly basis: PlanBasis;
  readonly known: KnownCluster;
  readonly result: SchedulingResult;
  /** In writing order. */
  readonly parts: readonly PlanPart[];
}

/**
 * Processes one evaluation from reading the job to writing the plan, all in the caller's transaction: nothing can change
 * between decision and commit, so a plan is never refused and no lease is needed. `known` is the cluster that the caller
 * cached after the previous write, if any.
 */
export function processEvaluation(tx: Transaction, evaluation: Evaluation, known?: KnownCluster): ProcessedEvaluation {
  const processed = beginEvaluation(tx, evaluation, { known, atMost: Number.POSITIVE_INFINITY });
  if (processed.type === 'begun') throw new Error('an evaluation without a limit must be processed at once');
  return processed;
}

/** `processEvaluation`, unless the job has or wants more than `atMost` allocations: then the plan is only begun and nothing is written. */
export function beginEvaluation(
  tx: Transaction,
  evaluation: Evaluation,
  { known, atMost }: { readonly known: KnownCluster | undefined; readonly atMost: number },
): (ProcessedEvaluation & { readonly type: 'processed' }) | (BegunEvaluation & { readonly type: 'begun' }) {
  const cluster = clusterAt(tx, known);
  const job = readJobRow(tx, evaluation.Namespace, evaluation.JobID)?.record;
  if (isLarge(tx, { whose: evaluation, job, nodes: cluster.cluster.nodeStates.length }, atMost)) {
    return { type: 'begun', ...begin(tx, evaluation, cluster) };
  }
  const snapshot = readSchedulingSnapshot(tx, evaluation, cluster.cluster, tx.stopwatch);
  const result = schedule(snapshot, evaluation, tx.now, tx.ids);
  const whole = { result, first: true, last: true };
  return {
    type: 'processed',
    ...writeResult(tx, whole, {
      known: cluster,
      snapshot,
      existing: finish(byIdInSteps(snapshot.allocations)),
      seen: tx.index,
    }),
  };
}

/** Reads nothing yet, so that even the first step may use another view. */
function begin(
  { index: next, now, ids, stopwatch, settings }: Transaction,
  evaluation: Evaluation,
  known: KnownCluster,
) {
  const index = next - 1;
  const work = steppedWork(function* (current): Generator<void, DecidedPlan> {
    const parts = { cluster: known.cluster, stopwatch, index: next, page: readInStep };
    const snapshot = yield* snapshotInSteps(current, evaluation, parts);
    yield;
    const result = yield* schedulingSteps(snapshot, evaluation, now, ids);
    const existing = yield* byIdInSteps(snapshot.allocations);
    const cut = yield* partsInSteps(result, settings.scheduling.writtenAtOnce);
    return { basis: { index, evaluation, snapshot, existing }, known, result, parts: cut };
  });
  return { evaluation, index, known, ...work };
}

/** The progress of writing a plan that was decided before. */
export interface WrittenSoFar {
  readonly known: KnownCluster;
  readonly watch: PlanWatch;
}

/** Writes a plan that was decided before, or a part of it; undefined, with nothing written, when its inputs have changed. */
export function writeDecided(
  tx: Transaction,
  { basis, known, result: decided }: DecidedPlan,
  { part, before }: { readonly part: PlanPart; readonly before: WrittenSoFar } = {
    part: wholeOf(decided),
    before: { known, watch: watchOf(basis) },
  },
): (ProcessedEvaluation & { readonly watch: PlanWatch }) | undefined {
  const watch = changesSince(tx, basis, before.watch);
  if (watch === undefined || !allows(watch, part)) return undefined;
  const result = movedResult(partOf(decided, part), basis.index + 1, tx.index);
  const { snapshot, existing, index: seen } = basis;
  const made = { known: clusterAt(tx, before.known), snapshot, existing, seen };
  return { ...writeResult(tx, { result, first: part.first, last: part.last }, made), watch };
}

/** The records of one part. Delayed evaluations are stored before the allocations that refer to them. */
function partOf(result: SchedulingResult, { allocations: own, first, last }: PlanPart): SchedulingResult {
  const followUps = result.followUps.filter(({ Status }) => (Status === 'pending' ? first : last));
  const { decided } = result;
  return {
    ...result,
    allocations: own,
    followUps,
    preemptions: result.preemptions.filter(({ Namespace, JobID }) =>
      own.some((one) => isPreempted(one) && one.JobID === JobID && one.Namespace === Namespace),
    ),
    decided: { ...decided, uncounted: first ? decided.uncounted : [] },
  };
}

interface Decided extends Pick<PlanBasis, 'snapshot' | 'existing'> {
  readonly known: KnownCluster;
  /** Index of the last write that the plan knows of. */
  readonly seen: number;
}

/** A part of a plan with the indexes of its write. */
interface DecidedPart extends Pick<PlanPart, 'first' | 'last'> {
  readonly result: SchedulingResult;
}

function writeResult(
  tx: Transaction,
  part: DecidedPart,
  { known, snapshot, existing, seen }: Decided,
): ProcessedEvaluation {
  const { result, last } = part;
  // Allocations of other jobs were preempted, and may have changed since the plan was decided.
  const changes = result.allocations.flatMap((after) => {
    const own = existing.get(after.ID);
    if (own !== undefined) return [{ before: own, after: withOwnTracker(after, own) }];
    const known = tx.get(allocations, [after.ID])?.record;
    if (!isPreempted(after))
      return [{ before: known, after: known === undefined ? after : withOwnTracker(after, known) }];
    return known === undefined ? [] : [{ before: known, after: preemptedAs(after, known) }];
  });
  const processed = { evaluation: result.evaluation, cluster: clusterAfter(known, changes, tx) };
  if (changes.length === 0 && isBlockedAsBefore(tx, part, { job: snapshot.job, seen })) return processed;
  writePlan(tx, { ...part, changes, job: snapshot.job, seen });
  if (last) tellFinished(tx, result.evaluation);
  return processed;
}

/**
 * Whether a blocked evaluation was retried with the same result, so that its record keeps its index. An engine retries all of them when it
 * starts.
 */
function isBlockedAsBefore(
  tx: Transaction,
  { result, first, last }: DecidedPart,
  { job, seen }: Pick<Plan, 'job' | 'seen'>,
): boolean {
  const { evaluation, followUps, preemptions, decided, stableVersion, looksAgain } = result;
  if (!first || !last || evaluation.Status !== 'blocked' || looksAgain || stableVersion !== undefined) return false;
  if (followUps.length + preemptions.length + decided.uncounted.length > 0) return false;
  const stored = tx.get(evaluations, [evaluation.ID])?.record;
  if (stored === undefined || findingsOf(stored) !== findingsOf(evaluation)) return false;
  const waitsFor = tx.list(blockedRequirements, { prefix: [evaluation.ID] }).map(({ record }) => record.requirement);
  const names = requirementNames(job, evaluation);
  const isSame = names.length === waitsFor.length && names.every((name) => waitsFor.includes(name));
  return isSame && superseded(tx, result, seen).length === 0;
}

/** The findings of an evaluation that readers see, without the times of the decision. */
function findingsOf(evaluation: Evaluation): string {
  const { ModifyIndex: _index, ModifyTime: _time, SnapshotIndex: _snapshot, ...found } = evaluation;
  return JSON.stringify(found, (key, value: unknown) => {
    if (key === 'AllocationTime') return undefined;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

/** Fails an evaluation that cannot be processed, so that it does not block its job forever. */
export function failEvaluation(tx: Transaction, evaluation: Evaluation, description: string): void {
  const failed = ended(tx, evaluation, 'failed', description);
  tx.put(evaluations, failed);
  tellFinished(tx, failed);
}

function tellFinished(tx: Transaction, { Namespace, ID, JobID, Status }: Evaluation): void {
  tx.emit('evaluation.finished', { namespace: Namespace, evaluationId: ID, jobId: JobID, status: Status });
}

interface Plan extends DecidedPart {
  readonly changes: readonly PutAllocation[];
  readonly job: Job | undefined;
  /** Index of the last write that the plan knows of. */
  readonly seen: number;
}

function writePlan(tx: Transaction, plan: Plan): void {
  const { result, changes, job, last } = plan;
  for (const deployment of countedDeployments(tx, result.decided.uncounted, changes)) tx.put(deployments, deployment);
  for (const { after } of changes) tx.put(allocations, after);
  if (last && job !== undefined && result.stableVersion !== undefined) markStable(tx, job, result.stableVersion);
  for (const evaluation of [...(last ? endingsOf(tx, plan) : []), ...result.followUps]) tx.put(evaluations, evaluation);
  for (const evaluation of result.preemptions.flatMap((one) => preemptionWithin(tx, one)))
    tx.put(evaluations, evaluation);
  tx.unfinished = !last;
}

/** No evaluation while another one of the job is pending. The plan's own may have been processed since an earlier part. */
function preemptionWithin(tx: Transaction, evaluation: Evaluation): readonly Evaluation[] {
  const { ID, Namespace, JobID } = evaluation;
  const open = tx.list(evaluations, { index: 'open_by_job', prefix: [Namespace, JobID] });
  if (open.some(({ record }) => record.Status === 'pending' && record.WaitUntil === undefined)) return [];
  return [tx.get(evaluations, [ID]) === undefined ? evaluation : { ...evaluation, ID: tx.ids.next('evaluation') }];
}

/** The evaluation itself, those that it supersedes, and a further one if the job has to be evaluated once more. */
function endingsOf(tx: Transaction, { result, job, seen }: Plan): readonly Evaluation[] {
  const again =
    job !== undefined && result.looksAgain ? [newEvaluation(tx, job, { triggeredBy: 'alloc-failure' })] : [];
  return [...superseded(tx, result, seen), result.evaluation, ...again];
}

/** Marks a version whose deployment succeeded: a failed update may revert to it. */
function markStable(tx: Transaction, job: Job, version: number): void {
  const row = readJobVersion(tx, job.Namespace, job.ID, version)?.record;
  if (row === undefined || row.Stable) return;
  tx.put(job.Version === version ? jobs : jobVersions, { ...row, Stable: true, ModifyIndex: tx.index });
}

/**
 * The whole job was evaluated, so its other evaluations that are due are cancelled, unless they were created since. A blocked one is
 * cancelled only if there is a new blocked one in its place.
 */
function superseded(tx: Transaction, result: SchedulingResult, seen: number): Evaluation[] {
  const { ID, Namespace, JobID } = result.evaluation;
  const blockedAnew = result.followUps.some((followUp) => followUp.Status === 'blocked');
  const canceled: Evaluation[] = [];
  for (const { record } of tx.list(evaluations, { index: 'open_by_job', prefix: [Namespace, JobID] })) {
    if (record.ID === ID || record.WaitUntil !== undefined || record.CreateIndex > seen) continue;
    if (record.Status === 'blocked' && !blockedAnew) continue;
    canceled.push(ended(tx, record, 'canceled', supersededBecause(record)));
  }
  return canceled;
}

/** Existing clients compare these strings. */
function supersededBecause({ Status, JobID }: Evaluation): string {
  return Status === 'blocked'
    ? `existing blocked evaluation exists for job "${JobID}"`
    : 'canceled after more recent eval was processed';
}

function ended(
  tx: Transaction,
  evaluation: Evaluation,
  status: Extract<EvaluationStatus, 'failed' | 'canceled'>,
  description: string,
): Evaluation {
  return {
    ...evaluation,
    Status: status,
    StatusDescription: description,
    ModifyIndex: tx.index,
    ModifyTime: unixNanosFromInstant(tx.now),
  };
}

/** Created and changed deployments, and deployments whose counts the changed allocations change, with their new counts. */
function countedDeployments(
  tx: Transaction,
  uncounted: readonly Deployment[],
  changes: readonly PutAllocation[],
): readonly Deployment[] {
  const counted = new Map(uncounted.map((deployment) => [deployment.ID, deployment]));
  const stamps = { ModifyIndex: tx.index, ModifyTime: unixNanosFromInstant(tx.now) };
  for (const { before, after } of changes) {
    if (after.DeploymentID === undefined) continue;
    const was = counted.get(after.DeploymentID) ?? tx.get(deployments, [after.DeploymentID])?.record;
    const is = was && withAllocation(was, before, after);
    if (is !== undefined && is !== was) counted.set(is.ID, { ...is, ...stamps });
  }
  return [...counted.values()];
}

function preemptedAs(after: Allocation, known: Allocation): Allocation {
  const { DesiredStatus, DesiredDescription, PreemptedByAllocation, ModifyIndex, AllocModifyIndex, ModifyTime } = after;
  const eviction = { DesiredStatus, ModifyIndex, AllocModifyIndex, ModifyTime };
  return {
    ...known,
    ...eviction,
    ...(DesiredDescription === undefined ? {} : { DesiredDescription }),
    ...(PreemptedByAllocation === undefined ? {} : { PreemptedByAllocation }),
  };
}

/** An allocation that is being replaced keeps its stored tracker: its replacement's tracker has the event. */
function withOwnTracker(after: Allocation, before: Allocation): Allocation {
  if (after.NextAllocation === before.NextAllocation || after.RescheduleTracker === before.RescheduleTracker)
    return after;
  const { RescheduleTracker: _, ...replaced } = after;
  return before.RescheduleTracker === undefined
    ? replaced
    : { ...replaced, RescheduleTracker: before.RescheduleTracker };
}

/** The maximum number of counted evaluations; beyond it the oldest are dropped. */
const mostCounted = 1000;

/** The failures of evaluations that an engine will retry. */
export class EvaluationFailures {
  /** How often the processing of an evaluation has thrown. */
  readonly faults = new Counts();
  /** How often the plan of an evaluation was outdated. */
  readonly conflicts = new Counts();
  /** How the store failed at the last attempt; undefined when it did not. */
  storeFailure: string | undefined;
}

/**
 * Counts by ID. Another engine, or a newer evaluation of the job, may end a counted evaluation unnoticed, so the number of entries is
 * bounded.
 */
class Counts {
  readonly #counts = new Map<string, number>();

  get size(): number {
    return this.#counts.size;
  }

  /** The count since it was last reset. */
  of(id: string): number {
    return this.#counts.get(id) ?? 0;
  }

  count(id: string): void {
    const count = this.of(id) + 1;
    this.#counts.delete(id);
    this.#counts.set(id, count);
    const [oldest] = this.#counts.keys();
    if (oldest !== undefined && this.#counts.size > mostCounted) this.#counts.delete(oldest);
  }

  forget(id: string): void {
    this.#counts.delete(id);
  }
}
