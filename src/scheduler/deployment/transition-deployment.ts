import { ok, type Result } from 'neverthrow';
import { equalSpec } from '../../jobs/document/equal-spec.js';
import type { Job } from '../../jobs/document/job.js';
import type { Instant, WriteStamp } from '../../shared/instant.js';
import { own } from '../../shared/values.js';
import { type Allocation, isFailing, isTerminalAllocation } from '../allocation.js';
import { hasAttemptsLeft } from '../reconcile/reschedule.js';
import {
  changed,
  type DeploymentChange,
  healthyOf,
  pauseDeployment,
  promoteDeployment,
  resumeDeployment,
  setAllocationHealth,
  whenActive,
} from './actions.js';
import {
  type Deployment,
  type DeploymentState,
  deploymentDescriptions,
  isActiveDeployment,
  rollbackDescriptions,
} from './deployment.js';
import type { DeploymentError } from './deployment-errors.js';

/** An event of a deployment. */
export type DeploymentEvent =
  /** Allocations were placed or replaced, or have reported their health: `changed`, if the caller knows them. */
  | { readonly type: 'allocations_changed'; readonly changed?: readonly Allocation[] }
  /** The time of `progressDeadlineOf` was reached. */
  | { readonly type: 'deadline' }
  | { readonly type: 'pause' }
  | { readonly type: 'resume' }
  | { readonly type: 'fail' }
  /** Groups whose canaries are promoted; absent: all. */
  | { readonly type: 'promote'; readonly groups?: readonly string[] }
  | { readonly type: 'set_health'; readonly healthy: readonly string[]; readonly unhealthy: readonly string[] };

/** A deployment with the state that its rules consider. */
export interface WatchedDeployment extends WatchedAllocations {
  readonly deployment: Deployment;
  /** The job as currently registered. */
  readonly job: Job;
  /** The job version that is being deployed. */
  readonly version: Job;
  /** All kept versions, newest first: candidates for a revert. Read only when a deployment fails. */
  readonly versions: () => readonly Job[];
  /** Index of the newest state that an evaluation of the job has seen. */
  readonly evaluatedIndex: number;
}

/** The allocations of a deployment, as its rules need them. Each member may be a getter that reads the store on demand. */
interface WatchedAllocations {
  /** All of them. There may be many. */
  readonly allocations: readonly Allocation[];
  /** Allocations that are unhealthy or have failed. */
  readonly failing: readonly Allocation[];
  /** Allocations that are healthy and have not failed. */
  readonly healthy: readonly Allocation[];
  /** The allocations with these IDs. */
  readonly named: (ids: readonly string[]) => readonly Allocation[];
  /** Placed canaries. */
  readonly canaries: readonly Allocation[];
  /** Index of the write by which the last of them became healthy; 0 when none is healthy. */
  readonly healthyIndex: number;
}

/** The same, derived from a list of all allocations of the deployment. */
export function watchedAllocations(deployment: Deployment, allocations: readonly Allocation[]): WatchedAllocations {
  const canaries = new Set(placedCanaries(deployment));
  return {
    allocations,
    failing: allocations.filter(isFailing),
    healthy: allocations.filter((each) => each.DeploymentStatus?.Healthy === true && !isFailing(each)),
    named: (ids) => {
      const names = new Set(ids);
      return allocations.filter(({ ID }) => names.has(ID));
    },
    canaries: allocations.filter(({ ID }) => canaries.has(ID)),
    healthyIndex: newestHealth(allocations),
  };
}

/** IDs of the placed canaries of all groups. */
export function placedCanaries({ TaskGroups }: Deployment): readonly string[] {
  return Object.values(TaskGroups).flatMap(({ PlacedCanaries }) => PlacedCanaries ?? []);
}

/** Index of the write by which the last allocation became healthy; 0 when none is. */
export function newestHealth(allocations: readonly Allocation[]): number {
  return allocations.reduce(
    (newest, { DeploymentStatus: status }) =>
      status?.Healthy === true ? Math.max(newest, status.ModifyIndex) : newest,
    0,
  );
}

/** Effects of a transition besides storing the deployment. */
type DeploymentEffect =
  /** Creates an evaluation with trigger `deployment-watcher`, named after the deployment. */
  | { readonly type: 'evaluate' }
  /** Registers this version of the job again; its evaluation handles the rest. */
  | { readonly type: 'revert'; readonly version: number };

export interface DeploymentStep {
  readonly deployment: Deployment;
  /** Changed allocations. */
  readonly allocations: readonly Allocation[];
  readonly effects: readonly DeploymentEffect[];
}

/** Applies an event to a deployment. Records are complete; the same deployment object means no change. */
export function transitionDeployment(
  watched: WatchedDeployment,
  event: DeploymentEvent,
  write: WriteStamp,
): Result<DeploymentStep, DeploymentError> {
  const { deployment } = watched;
  switch (event.type) {
    case 'allocations_changed':
      return ok(afterChange(watched, event.changed, write));
    case 'deadline':
      return ok(afterDeadline(watched, write));
    case 'pause':
      return pauseDeployment(deployment, write).map(stepOf);
    case 'resume':
      return resumeDeployment(deployment, write).map(stepOf);
    case 'fail':
      return whenActive(deployment, 'fail').map(() =>
        failed(watched, deploymentDescriptions.failedByUser, revertsAny(deployment), write),
      );
    case 'promote':
      return promoteDeployment(deployment, watched.canaries, event.groups, write).map(stepOf);
    case 'set_health':
      return setAllocationHealth(deployment, watched.named([...event.healthy, ...event.unhealthy]), event, write).map(
        (change) => afterHealth(watched, change, write),
      );
  }
}

/**
 * When the deployment fails unless another allocation is healthy by then; undefined without a deadline. A group whose canaries
 * are healthy waits for promotion without a limit.
 */
export function progressDeadlineOf({
  deployment,
  allocations,
}: Pick<WatchedDeployment, 'deployment' | 'allocations'>): Instant | undefined {
  if (!isActiveDeployment(deployment) || deployment.Status === 'paused') return undefined;
  let earliest: Instant | undefined;
  for (const [group, state] of Object.entries(deployment.TaskGroups)) {
    if (state.RequireProgressBy === null || hasProgressed(state) || isDone(group, state, allocations)) continue;
    const by = Date.parse(state.RequireProgressBy);
    earliest = earliest === undefined ? by : Math.min(earliest, by);
  }
  return earliest;
}

function afterChange(
  watched: WatchedDeployment,
  known: readonly Allocation[] | undefined,
  write: WriteStamp,
): DeploymentStep {
  const { deployment } = watched;
  if (!isActiveDeployment(deployment)) return { deployment, allocations: [], effects: [] };
  const unhealthy = unhealthyOf(watched, known);
  const hopeless = unhealthy.filter((allocation) => isBeyondReplacement(allocation, watched, write));
  if (hopeless.length > 0) {
    const reverts = hopeless.some(({ TaskGroup }) => own(deployment.TaskGroups, TaskGroup)?.AutoRevert === true);
    return failed(watched, deploymentDescriptions.unhealthy, reverts, write);
  }
  const marked = unhealthy
    .filter(({ DesiredTransition }) => DesiredTransition.Reschedule !== true)
    .map((allocation) => withRescheduleFlag(allocation, write));
  const promoted = autoPromoted(watched, write);
  const evaluates = marked.length > 0 || promoted !== undefined || hasNews(watched, known ?? []);
  return {
    deployment: promoted?.deployment ?? deployment,
    allocations: [...marked, ...(promoted?.allocations ?? [])],
    effects: evaluates ? [{ type: 'evaluate' }] : [],
  };
}

/**
 * Unhealthy allocations, replaced only at the deployment's request. If the changes are known, the counters show whether others
 * can be unhealthy: they count every unhealthy allocation ever, in the groups of the deployment.
 */
function unhealthyOf(watched: WatchedDeployment, known: readonly Allocation[] | undefined): readonly Allocation[] {
  const { deployment } = watched;
  const hasNone = Object.values(deployment.TaskGroups).every(({ UnhealthyAllocs }) => UnhealthyAllocs === 0);
  const candidates = known !== undefined && hasNone ? known : watched.failing;
  return candidates.filter(
    (allocation) => allocation.DeploymentStatus?.Healthy === false || failsOutside(deployment, allocation),
  );
}

/** Whether it has failed in a group that is changed without deployments, but has the ID of the other groups' deployment. */
export function failsOutside({ TaskGroups }: Deployment, { TaskGroup, ClientStatus }: Allocation): boolean {
  return ClientStatus === 'failed' && !Object.hasOwn(TaskGroups, TaskGroup);
}

/** Whether an allocation has become healthy since the job's last evaluation: one of the known changes, or any. */
function hasNews(watched: WatchedDeployment, known: readonly Allocation[]): boolean {
  const { evaluatedIndex } = watched;
  return newestHealth(known) > evaluatedIndex || watched.healthyIndex > evaluatedIndex;
}

function afterDeadline(watched: WatchedDeployment, write: WriteStamp): DeploymentStep {
  const { deployment } = watched;
  const unchanged = { deployment, allocations: [], effects: [] };
  if (!isActiveDeployment(deployment) || deployment.Status === 'paused') return unchanged;
  const waiting = Object.entries(deployment.TaskGroups).filter(
    ([group, state]) => !hasProgressed(state) && !isDone(group, state, watched.healthy),
  );
  const isLate = waiting.some(([, { RequireProgressBy: by }]) => by !== null && Date.parse(by) <= write.now);
  if (!isLate) return unchanged;
  // All unfinished groups fail together with the late one, even if they have time left.
  const reverts = waiting.some(([, state]) => state.AutoRevert);
  return failed(watched, deploymentDescriptions.progressDeadline, reverts, write);
}

/** An allocation reported as unhealthy fails its deployment at once. */
function afterHealth(
  watched: WatchedDeployment,
  change: DeploymentChange & { readonly unhealthyGroups: readonly string[] },
  write: WriteStamp,
): DeploymentStep {
  if (change.unhealthyGroups.length === 0) return stepOf(change);
  const { deployment, allocations } = change;
  const reverts = change.unhealthyGroups.some((group) => own(deployment.TaskGroups, group)?.AutoRevert === true);
  const step = failed({ ...watched, deployment }, deploymentDescriptions.unhealthy, reverts, write);
  return { ...step, allocations };
}

function failed(watched: WatchedDeployment, description: string, reverts: boolean, write: WriteStamp): DeploymentStep {
  const target = reverts ? rollbackOf(watched) : undefined;
  const words = target === undefined ? description : `${description} - ${target.words}`;
  const { deployment } = changed(watched.deployment, 'failed', words, write);
  const revert: DeploymentEffect[] = target?.version === undefined ? [] : [{ type: 'revert', version: target.version }];
  return { deployment, allocations: [], effects: [...revert, { type: 'evaluate' }] };
}

/** The newest stable version, unless it equals the current job. */
function rollbackOf({ job, versions }: WatchedDeployment): {
  readonly version: number | undefined;
  readonly words: string;
} {
  const stable = versions().find((version) => version.Stable);
  if (stable === undefined) return { version: undefined, words: rollbackDescriptions.none };
  if (equalSpec(stable, { ...job, VersionTag: stable.VersionTag })) {
    return {
      version: undefined,
      words: rollbackDescriptions.same(stable.Version),
    };
  }
  return { version: stable.Version, words: rollbackDescriptions.to(stable.Version) };
}

/** Whether it is unhealthy and will not be replaced. */
function isBeyondReplacement(
  allocation: Allocation,
  { deployment, version }: WatchedDeployment,
  { now }: WriteStamp,
): boolean {
  const state = own(deployment.TaskGroups, allocation.TaskGroup);
  if (state === undefined) return false;
  const group = version.TaskGroups.find(({ Name }) => Name === allocation.TaskGroup);
  return state.ProgressDeadline === 0 || !hasAttemptsLeft(allocation, group?.ReschedulePolicy ?? null, now);
}

/** Promotes the canaries automatically once all of them are healthy, if the job allows it (`auto_promote`). */
function autoPromoted(watched: WatchedDeployment, write: WriteStamp): DeploymentChange | undefined {
  const { deployment } = watched;
  const waiting = Object.values(deployment.TaskGroups).filter((state) => state.DesiredCanaries > 0);
  if (!waiting.some((state) => !state.Promoted)) return undefined;
  const ready = waiting.every(
    (state) => state.AutoPromote && healthyOf(state, watched.canaries).length >= state.DesiredCanaries,
  );
  if (!ready) return undefined;
  return promoteDeployment(deployment, watched.canaries, undefined, write).unwrapOr(undefined);
}

function withRescheduleFlag(allocation: Allocation, { index }: WriteStamp): Allocation {
  return {
    ...allocation,
    DesiredTransition: { ...allocation.DesiredTransition, Reschedule: true },
    ModifyIndex: index,
    AllocModifyIndex: index,
  };
}

/** Whether enough allocations are healthy for the group's current stage. */
function hasProgressed(state: DeploymentState): boolean {
  const canarying = state.DesiredCanaries > 0 && !state.Promoted;
  return (canarying && state.HealthyAllocs >= state.DesiredCanaries) || state.HealthyAllocs >= state.DesiredTotal;
}

/** Whether nothing waits for promotion and enough live allocations are healthy. */
function isDone(group: string, state: DeploymentState, allocations: readonly Allocation[]): boolean {
  if (state.DesiredCanaries > 0 && !state.Promoted) return false;
  const healthy = allocations.filter(
    (allocation) =>
      allocation.TaskGroup === group &&
      !isTerminalAllocation(allocation) &&
      allocation.DeploymentStatus?.Healthy === true,
  );
  return healthy.length >= state.DesiredTotal;
}

function revertsAny(deployment: Deployment): boolean {
  return Object.values(deployment.TaskGroups).some((state) => state.AutoRevert);
}

function stepOf({ deployment, allocations, evaluates }: DeploymentChange): DeploymentStep {
  return { deployment, allocations, effects: evaluates ? [{ type: 'evaluate' }] : [] };
}
