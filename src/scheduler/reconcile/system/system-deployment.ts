import type { Job } from '../../../jobs/document/job.js';
import type { TaskGroup } from '../../../jobs/document/task-group.js';
import { type Instant, isoFromInstant } from '../../../shared/instant.js';
import type { Allocation } from '../../allocation.js';
import {
  type Deployment,
  type DeploymentState,
  deploymentDescriptions,
  isActiveDeployment,
} from '../../deployment/deployment.js';
import {
  describedPromotion,
  type GroupDeployment,
  groupDeploymentOf,
  isCanarying,
  isDeployed,
  newDeployment,
} from '../group-deployment.js';
import type { Intents } from '../intents.js';
import { isCurrent, type JobSituation } from '../situation.js';

/** Findings of one evaluation about a group of a system job that concern its deployment. */
export interface SystemRollout {
  readonly group: TaskGroup;
  readonly part: GroupDeployment;
  /** Nodes that should run the group in the end. */
  readonly total: number;
  readonly updates: boolean;
  /** Whether any node should run it, or has run it until now. */
  readonly touched: boolean;
}

/** The deployment of a system job's allocations: that of the current version, even if it is over. */
export function systemDeploymentOf(
  latest: Deployment | undefined,
  job: Job | undefined,
  intents: Intents,
): Deployment | undefined {
  if (latest === undefined) return undefined;
  const current = job !== undefined && latest.JobVersion === job.Version && latest.JobCreateIndex === job.CreateIndex;
  if (current) return latest;
  const description = job === undefined ? deploymentDescriptions.jobStopped : deploymentDescriptions.newerVersion;
  if (isActiveDeployment(latest)) {
    intents.deploymentUpdates.push({ deploymentId: latest.ID, status: 'cancelled', description });
  }
  return undefined;
}

/** The group's part, with its canary percentage converted to a number. */
export function systemPartOf(
  { current, job }: { readonly current: Deployment | undefined; readonly job: Job },
  group: TaskGroup,
  replaced: readonly Allocation[],
  canaries: readonly Allocation[],
): GroupDeployment {
  const part = groupDeploymentOf({ current, old: undefined, paused: false, failed: false }, group);
  const percentage = group.Update?.Canary ?? 0;
  if (percentage > 0 && job.Version > 0 && isDeployed(group) && !part.state.Promoted) {
    const wanted = Math.ceil((percentage / 100) * (replaced.length + canaries.length));
    part.state.DesiredCanaries = Math.min(wanted, group.Update?.MaxParallel ?? 0);
  }
  return part;
}

/** Which of the allocations to replace get canaries: those with an earlier canary first, then in order. */
export function chooseCanaries(
  part: GroupDeployment,
  replaced: readonly Allocation[],
  canaries: readonly Allocation[],
): ReadonlySet<string> {
  if (!isCanarying(part)) return new Set();
  const missing = Math.max(part.state.DesiredCanaries - canaries.length, 0);
  const wasCanary = (allocation: Allocation): number => (allocation.DeploymentStatus?.Canary === true ? 0 : 1);
  const inOrder = [...replaced].sort((left, right) => wasCanary(left) - wasCanary(right));
  return new Set(inOrder.slice(0, missing).map(({ ID }) => ID));
}

/** Updates the deployment: groups, totals and status. */
export function settleSystemDeployment(
  rollouts: readonly SystemRollout[],
  {
    job,
    current,
    allocations,
  }: { readonly job: Job; readonly current: Deployment | undefined; readonly allocations: readonly Allocation[] },
  situation: JobSituation,
  intents: Intents,
): Deployment | undefined {
  let deployment = current;
  for (const rollout of rollouts) {
    const { group, part, total } = rollout;
    if (total > 0) part.state.DesiredTotal = total;
    if (!part.existed) {
      if (!joins(rollout, allocations, job)) continue;
      part.state.RequireProgressBy = progressBy(part.state, situation.now);
    }
    deployment ??= newDeployment(job, situation);
    deployment = { ...deployment, TaskGroups: { ...deployment.TaskGroups, [group.Name]: part.state } };
  }
  if (deployment === undefined) return undefined;
  const { ID: deploymentId } = deployment;
  if (current === undefined) {
    intents.deploymentUpdates.push({ deploymentId, status: 'running', description: deploymentDescriptions.running });
  } else if (deployment.Status === 'running') {
    deployment = describedPromotion(deployment);
  }
  intents.deployment = deployment;
  if (isComplete(deployment, rollouts)) {
    const { successful: description } = deploymentDescriptions;
    intents.deploymentUpdates.push({ deploymentId, status: 'successful', description });
  }
  return deployment;
}

/** The progress deadline counts from the start, even when no node has room yet. */
function progressBy({ ProgressDeadline }: DeploymentState, now: Instant): string | null {
  return ProgressDeadline === 0 ? null : isoFromInstant(now + ProgressDeadline / 1_000_000);
}

/** A group that some node runs, or should run, is added when the job is new there or has changed. */
function joins({ group, touched, updates }: SystemRollout, allocations: readonly Allocation[], job: Job): boolean {
  if (job.Type !== 'system' || !isDeployed(group) || !touched) return false;
  return (
    updates || !allocations.some((allocation) => allocation.TaskGroup === group.Name && isCurrent(allocation, job))
  );
}

/** Whether nothing is left to do and enough allocations are healthy. A group that no node may currently run does not count. */
function isComplete(deployment: Deployment, rollouts: readonly SystemRollout[]): boolean {
  if (!isActiveDeployment(deployment) && deployment.Status !== 'successful') return false;
  return rollouts.every(({ group, part, total }) => {
    if (total === 0) return true;
    if (isCanarying(part)) return false;
    const state = Object.hasOwn(deployment.TaskGroups, group.Name) ? deployment.TaskGroups[group.Name] : undefined;
    return state === undefined || state.HealthyAllocs >= state.DesiredTotal;
  });
}
