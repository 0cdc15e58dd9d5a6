import type { Job } from '../../jobs/document/job.js';
import { isLauncher } from '../../jobs/job-record.js';
import { instantFromUnixNanos } from '../../shared/instant.js';
import { type Allocation, isTerminalAllocation } from '../allocation.js';
import { type Deployment, isActiveDeployment } from '../deployment/deployment.js';
import type { Evaluation } from '../evaluation.js';
import type { Node } from '../node.js';
import { isOutOfReach } from '../node-silence.js';
import { type CollectionTime, collectableEvaluation, type EvaluationInQuestion } from './collectable-evaluation.js';

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

interface CollectableJob {
  readonly evaluations: readonly Evaluation[];
  readonly allocations: readonly Allocation[];
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
): CollectableJob | undefined {
  if (tagged || !hasEnded(job) || instantFromUnixNanos(job.SubmitTime) > time.cutoff) return undefined;
  const gone: Allocation[] = [];
  for (const one of evaluations) {
    const { evaluation, allocations } = collectableEvaluation({ ...one, job }, time, true);
    if (!evaluation) return undefined;
    gone.push(...allocations);
  }
  return { evaluations: evaluations.map(({ evaluation }) => evaluation), allocations: gone };
}
