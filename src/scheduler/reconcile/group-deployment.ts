import type { Job } from '../../jobs/document/job.js';
import type { TaskGroup } from '../../jobs/document/task-group.js';
import { unixNanosFromInstant } from '../../shared/instant.js';
import type { Allocation } from '../allocation.js';
import {
  type Deployment,
  type DeploymentState,
  deploymentDescriptions,
  isActiveDeployment,
} from '../deployment/deployment.js';
import type { DeploymentUpdate, Intents } from './intents.js';
import { isCurrent, type JobSituation } from './situation.js';

/** The job's deployments that affect the present decisions. */
export interface DeploymentStanding {
  /** The current version's deployment, unless it was successful; failed and cancelled ones are included. */
  current: Deployment | undefined;
  /** A deployment that is over, whose canaries must be stopped. */
  readonly old: Deployment | undefined;
  readonly paused: boolean;
  readonly failed: boolean;
}

/** Ends deployments of older versions. `latest` is the job's newest deployment. */
export function standingOf(
  latest: Deployment | undefined,
  { job }: JobSituation,
  intents: Intents,
): DeploymentStanding {
  if (latest === undefined) return { current: undefined, old: undefined, paused: false, failed: false };
  const outdated = (description: string): DeploymentStanding => {
    if (isActiveDeployment(latest)) intents.deploymentUpdates.push(cancelled(latest, description));
    return { current: undefined, old: latest, paused: false, failed: false };
  };
  if (job === undefined || job.Stop) return outdated(deploymentDescriptions.jobStopped);
  if (latest.JobCreateIndex !== job.CreateIndex || latest.JobVersion !== job.Version) {
    return outdated(deploymentDescriptions.newerVersion);
  }
  if (latest.Status === 'successful') return { current: undefined, old: latest, paused: false, failed: false };
  return {
    current: latest,
    old: undefined,
    paused: latest.Status === 'paused' || latest.Status === 'pending' || latest.Status === 'initializing',
    failed: latest.Status === 'failed',
  };
}

function cancelled({ ID }: Deployment, description: string): DeploymentUpdate {
  return { deploymentId: ID, status: 'cancelled', description };
}

type MutableDeploymentState = { -readonly [K in keyof DeploymentState]: DeploymentState[K] };

/** One group's part in a deployment, while the group is being reconciled. */
export interface GroupDeployment {
  readonly state: MutableDeploymentState;
  /** Whether the deployment had the group before: its total is then kept. */
  readonly existed: boolean;
}

export function groupDeploymentOf({ current }: DeploymentStanding, group: TaskGroup): GroupDeployment {
  const states = current?.TaskGroups ?? {};
  const stored = Object.hasOwn(states, group.Name) ? states[group.Name] : undefined;
  return stored === undefined ? { state: newState(group), existed: false } : { state: { ...stored }, existed: true };
}

/** Whether canaries wait for promotion. */
export function isCanarying({ state }: GroupDeployment): boolean {
  return state.DesiredCanaries !== 0 && !state.Promoted;
}

/** Whether deployments change the group: it has an update block with `max_parallel` of at least 1. */
export function isDeployed({ Update: update }: TaskGroup): boolean {
  return update !== null && update.MaxParallel > 0;
}

interface DeploymentRequest {
  readonly job: Job;
  readonly group: TaskGroup;
  /** Number of considered allocations of the group. */
  readonly allocations: readonly Allocation[];
  /** How many of them are replaced or updated in place, now or later. */
  readonly updated: number;
  /** How many are missing. */
  readonly placed: number;
}

/**
 * Adds the group to the deployment, or to a new one, when something is placed or updated. Placements that merely complete the
 * count of an already running version do not start a deployment.
 */
export function joinDeployment(
  part: GroupDeployment,
  { job, group, allocations, updated, placed }: DeploymentRequest,
  standing: DeploymentStanding,
  context: { readonly situation: JobSituation; readonly intents: Intents },
): void {
  const { intents, situation } = context;
  const DesiredTotal = updated + placed;
  if (part.existed || !isDeployed(group) || DesiredTotal === 0) return;
  if (updated === 0 && allocations.some((allocation) => isCurrent(allocation, job))) return;
  const state = { ...part.state, DesiredTotal };
  if (intents.joined === undefined) {
    const deployment = standing.current ?? newDeployment(job, situation);
    intents.joined = { ...deployment.TaskGroups };
    standing.current = { ...deployment, TaskGroups: intents.joined };
    intents.deployment = standing.current;
  }
  setOwn(intents.joined, group.Name, state);
}

/** Defines the member even for names such as `__proto__`, which an assignment would treat differently. */
function setOwn(states: Record<string, DeploymentState>, name: string, value: DeploymentState): void {
  Object.defineProperty(states, name, { value, enumerable: true, configurable: true, writable: true });
}

/** Describes a deployment with canaries by what they wait for. */
export function describedPromotion(deployment: Deployment): Deployment {
  const withCanaries = Object.values(deployment.TaskGroups).filter((state) => state.DesiredCanaries > 0);
  if (!withCanaries.some((state) => !state.Promoted)) return deployment;
  const automatic = withCanaries.every((state) => state.AutoPromote);
  const { autoPromotion, needsPromotion } = deploymentDescriptions;
  return { ...deployment, StatusDescription: automatic ? autoPromotion : needsPromotion };
}

export function newDeployment(job: Job, { evaluation, now, ids }: JobSituation): Deployment {
  const nanos = unixNanosFromInstant(now);
  return {
    ID: ids.next('deployment'),
    Namespace: job.Namespace,
    JobID: job.ID,
    JobVersion: job.Version,
    JobModifyIndex: job.ModifyIndex,
    JobSpecModifyIndex: job.JobModifyIndex,
    JobCreateIndex: job.CreateIndex,
    IsMultiregion: false,
    TaskGroups: {},
    Status: 'running',
    StatusDescription: deploymentDescriptions.running,
    EvalPriority: evaluation.Priority,
    CreateIndex: 0,
    ModifyIndex: 0,
    CreateTime: nanos,
    ModifyTime: nanos,
  };
}

function newState(group: TaskGroup): MutableDeploymentState {
  const update = isDeployed(group) ? group.Update : null;
  return {
    AutoRevert: update?.AutoRevert ?? false,
    AutoPromote: update?.AutoPromote ?? false,
    ProgressDeadline: update?.ProgressDeadline ?? 0,
    RequireProgressBy: null,
    Promoted: false,
    PlacedCanaries: null,
    DesiredCanaries: 0,
    DesiredTotal: 0,
    PlacedAllocs: 0,
    HealthyAllocs: 0,
    UnhealthyAllocs: 0,
  };
}
