import type { Job } from '../../jobs/document/job.js';
import { isLauncher } from '../../jobs/job-record.js';
import { allocationOutcome } from '../../jobs/runs/job-run.js';
import { type Instant, instantFromUnixNanos, unixNanosFromInstant } from '../../shared/instant.js';
import { type Allocation, isTerminalAllocation } from '../allocation.js';
import { type Deployment, isActiveDeployment } from '../deployment/deployment.js';
import { type Evaluation, isTerminalEvaluation } from '../evaluation.js';
import type { Node } from '../node.js';
import { isOutOfReach } from '../node-silence.js';
import { isRescheduling } from '../reconcile/reschedule.js';

/** Whether the deployment is over and all its allocations have ended. Reads allocations up to the first that has not. */
export function isCollectableDeployment(
  deployment: Deployment,
  allocations: Iterable<Allocation>,
  { cutoff }: CollectionTime,
): boolean {
  if (isActiveDeployment(deployment) || instantFromUnixNanos(deployment.ModifyTime) > cutoff) return false;
  return areOver(allocations);
}

/** Whether the node has been down or disconnected for long enough and all its allocations have ended. */
export function isCollectableNode(
  node: Pick<Node, 'Status' | 'StatusUpdatedAt'>,
  allocations: Iterable<Allocation>,
  { cutoff }: CollectionTime,
): boolean {
  return isOutOfReach(node) && node.StatusUpdatedAt * 1000 <= cutoff && areOver(allocations);
}

function areOver(allocations: Iterable<Allocation>): boolean {
  for (const allocation of allocations) if (!isTerminalAllocation(allocation)) return false;
  return true;
}

interface JobInQuestion {
  readonly job: Job;
  /** Whether a version of it has a tag, so that a user may want to revert to it. */
  readonly tagged: boolean;
  readonly evaluations: readonly Pick<EvaluationInQuestion, 'evaluation' | 'allocations'>[];
}

/**
 * Whether the job has ended or was stopped: batch work has ended when it is dead, a service or a parent of instances only
 * when it was stopped.
 */
export function hasEnded(job: Job): boolean {
  if (isLauncher(job)) return job.Stop;
  return job.Status === 'dead' && (job.Stop || job.Type === 'batch' || job.Type === 'sysbatch');
}

/** Everything that is removed with the job; undefined when the job is kept. */
export function collectableJob(
  { job, tagged, evaluations }: JobInQuestion,
  time: CollectionTime,
): { readonly evaluations: readonly Evaluation[]; readonly allocations: readonly Allocation[] } | undefined {
  if (tagged || !hasEnded(job) || instantFromUnixNanos(job.SubmitTime) > time.cutoff) return undefined;
  const gone: Allocation[] = [];
  for (const one of evaluations) {
    const { evaluation, allocations } = collectableEvaluation({ ...one, job }, time, true);
    if (!evaluation) return undefined;
    gone.push(...allocations);
  }
  return { evaluations: evaluations.map(({ evaluation }) => evaluation), allocations: gone };
}

interface EvaluationInQuestion {
  readonly evaluation: Evaluation;
  /** All allocations of the evaluation. */
  readonly allocations: readonly Allocation[];
  /** Undefined when the job was purged. */
  readonly job: Job | undefined;
}

export interface CollectionTime {
  readonly now: Instant;
  /** Records changed after this time are kept. */
  readonly cutoff: Instant;
  /** Failed allocations changed after this time are kept as well; absent: same as `cutoff`. */
  readonly failuresFrom?: Instant;
}

interface CollectableEvaluation {
  /** Whether the evaluation itself may be removed. */
  readonly evaluation: boolean;
  /** Allocations that may be removed, even if the evaluation is kept. */
  readonly allocations: readonly Allocation[];
}

const nothing: CollectableEvaluation = { evaluation: false, allocations: [] };

/**
 * The parts of an evaluation that may be collected. Allocations of the current version of a batch job that has not ended are kept:
 * they record completed work. `endsJob`: the job itself is being collected, so being dead is enough.
 */
export function collectableEvaluation(
  { evaluation, allocations, job }: EvaluationInQuestion,
  time: CollectionTime,
  endsJob = false,
): CollectableEvaluation {
  if (!isTerminalEvaluation(evaluation) || isRecent(evaluation, time)) return nothing;
  const over = job === undefined || (job.Status === 'dead' && (job.Stop || endsJob));
  const batch = evaluation.Type === 'batch' && !over;
  const gone = allocations.filter((allocation) =>
    batch ? isOfOlderVersion(allocation, job, time) : isCollectableAllocation(allocation, job, time),
  );
  return { evaluation: gone.length === allocations.length, allocations: gone };
}

/**
 * Whether the allocation ended long enough ago and needs no follow-up: a failed one that its group's policy may still replace is kept,
 * because its replacement inherits its count of attempts.
 */
export function isCollectableAllocation(allocation: Allocation, job: Job | undefined, time: CollectionTime): boolean {
  if (!isTerminalAllocation(allocation) || isRecentAllocation(allocation, time)) return false;
  if (allocation.ClientStatus === 'running') return false;
  if (job === undefined || job.Stop || job.Status === 'dead') return true;
  if (allocation.DesiredStatus === 'stop' || allocation.ClientStatus !== 'failed') return true;
  return allocation.NextAllocation !== undefined || !mayBeReplaced(allocation, job, time);
}

function mayBeReplaced({ TaskGroup, RescheduleTracker: tracker }: Allocation, job: Job, { now }: CollectionTime) {
  const policy = job.TaskGroups.find(({ Name }) => Name === TaskGroup)?.ReschedulePolicy ?? null;
  if (!isRescheduling(policy)) return false;
  const last = tracker?.Events?.at(-1);
  if (policy.Unlimited || last === undefined) return true;
  return unixNanosFromInstant(now) - last.RescheduleTime <= policy.Interval;
}

function isOfOlderVersion(allocation: Allocation, job: Job | undefined, time: CollectionTime): boolean {
  const older = job === undefined || allocation.CreateIndex < job.JobModifyIndex;
  return older && isTerminalAllocation(allocation) && !isRecentAllocation(allocation, time);
}

function isRecentAllocation(allocation: Allocation, time: CollectionTime): boolean {
  const { cutoff, failuresFrom = cutoff } = time;
  return isRecent(allocation, { cutoff: isFailure(allocation) ? Math.min(cutoff, failuresFrom) : cutoff });
}

function isFailure(allocation: Allocation): boolean {
  const outcome = allocationOutcome(allocation);
  return outcome === 'failed' || outcome === 'timed_out' || outcome === 'lost';
}

function isRecent(
  { ModifyTime }: { readonly ModifyTime: number },
  { cutoff }: Pick<CollectionTime, 'cutoff'>,
): boolean {
  return instantFromUnixNanos(ModifyTime) > cutoff;
}
