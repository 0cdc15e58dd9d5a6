import type { Job } from '../../jobs/document/job.js';
import type { TaskGroup } from '../../jobs/document/task-group.js';
import { unixNanosFromInstant } from '../../shared/instant.js';
import { type Allocation, isTerminalAllocation } from '../allocation.js';
import {
  type Deployment,
  type DeploymentState,
  deploymentDescriptions,
  isActiveDeployment,
} from '../deployment/deployment.js';
import { examinedPerStep, type Steps } from '../steps.js';
import { type DeploymentUpdate, descriptions, type Intents, without } from './intents.js';
import type { NameIndex } from './names.js';
import { keepsRunning, onlyDurationDiffers } from './same-tasks.js';
import { classified, isCurrent, type JobSituation } from './situation.js';

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

interface SettledCanaries {
  /** Canaries of the current deployment that can stay, or that are waited for while their node is disconnected. */
  readonly canaries: readonly Allocation[];
  /** The group's allocations without the stopped canaries. */
  readonly rest: readonly Allocation[];
}

/**
 * Stops unpromoted canaries when their deployment is over, and those whose node is lost or draining. The latter are
 * not counted as stopped, because they are replaced.
 */
export function settleCanaries(
  all: readonly Allocation[],
  { standing, situation, intents, group }: Pick<GroupRequest, 'standing' | 'situation' | 'intents' | 'group'>,
): SettledCanaries {
  const unwanted = new Set(unpromotedCanaries(standing.old, group));
  if (standing.failed) for (const id of unpromotedCanaries(standing.current, group)) unwanted.add(id);
  const stopped = all.filter(({ ID }) => unwanted.has(ID));
  intents.stopAll(stopped, descriptions.notNeeded);
  intents.desired(group.Name).Stop += stopped.length;
  const rest = without(all, stopped);

  const placed = new Set(placedCanaries(standing.current, group));
  if (placed.size === 0) return { canaries: [], rest };
  const classes = classified(
    rest.filter(({ ID }) => placed.has(ID)),
    situation,
  );
  intents.stopAll(classes.migrating, descriptions.migrating);
  intents.stopAll(classes.lost, descriptions.lost, 'lost');
  const back = classes.reconnecting.filter(({ ClientStatus }) => ClientStatus !== 'failed');
  return {
    canaries: [...classes.untainted, ...classes.disconnecting, ...back],
    rest: without(without(rest, classes.migrating), classes.lost),
  };
}

/**
 * Whether further canaries are needed: something has to be replaced, there are too few, and none was promoted yet. A group without
 * deployments (`max_parallel` 0) has none, as nothing could promote them.
 */
export function wantsCanaries(
  group: TaskGroup,
  { state }: GroupDeployment,
  replaced: readonly Allocation[],
  canaries: readonly Allocation[],
): boolean {
  if (!isDeployed(group) || replaced.length === 0 || state.Promoted) return false;
  return canaries.length < (group.Update?.Canary ?? 0);
}

/** Plans the missing canaries, under the names of the allocations that they will replace. */
export function placeCanaries(
  { group, intents }: Pick<GroupRequest, 'group' | 'intents'>,
  replaced: readonly Allocation[],
  canaries: readonly Allocation[],
  names: NameIndex,
): void {
  const missing = (group.Update?.Canary ?? 0) - canaries.length;
  intents.desired(group.Name).Canary += missing;
  for (const name of names.nextCanaries(missing, canaries, replaced)) intents.place.push({ name, group, canary: true });
}

function unpromotedCanaries(deployment: Deployment | undefined, group: TaskGroup): readonly string[] {
  return stateOf(deployment, group)?.Promoted === true ? [] : placedCanaries(deployment, group);
}

/** IDs of the group's placed canaries. */
function placedCanaries(deployment: Deployment | undefined, group: TaskGroup): readonly string[] {
  return stateOf(deployment, group)?.PlacedCanaries ?? [];
}

function stateOf(deployment: Deployment | undefined, { Name }: TaskGroup): DeploymentState | undefined {
  const states = deployment?.TaskGroups ?? {};
  return Object.hasOwn(states, Name) ? states[Name] : undefined;
}

export type UpdateKind = 'ignore' | 'inPlace' | 'replace';

export interface SplitUpdates {
  readonly inPlace: readonly Allocation[];
  /** Allocations that cannot take over the change. */
  readonly replace: readonly Allocation[];
}

/** Divides allocations by how they reach the job's current version; those that run it already are ignored. Yields now and then. */
export function* splitUpdates(request: GroupRequest, allocations: readonly Allocation[]): Steps<SplitUpdates> {
  const { intents, group } = request;
  const desired = intents.desired(group.Name);
  const inPlace: Allocation[] = [];
  const replace: Allocation[] = [];
  const classify = updateClassifier(request);
  for (const [at, allocation] of allocations.entries()) {
    if (at % examinedPerStep === 0) yield;
    const kind = classify(allocation);
    if (kind === 'ignore') desired.Ignore += 1;
    else if (kind === 'inPlace') inPlace.push(allocation);
    else replace.push(allocation);
  }
  for (const allocation of inPlace) intents.inPlace.push({ allocation, group });
  desired.InPlaceUpdate += inPlace.length;
  return { inPlace, replace };
}

/** Returns a function that decides how an allocation reaches the job's current version. Each version is compared once. */
export function updateClassifier({
  job,
  group,
  situation,
  canStay,
}: Pick<GroupRequest, 'job' | 'group' | 'situation' | 'canStay'>): (allocation: Allocation) => UpdateKind {
  const compared = new Map<Job, Comparison>();
  return (allocation) => {
    if (isCurrent(allocation, job)) return 'ignore';
    const before = situation.jobOf(allocation);
    if (before === undefined) return 'replace';
    let comparison = compared.get(before);
    if (comparison === undefined) {
      comparison = compare(before, job, group);
      compared.set(before, comparison);
    }
    if (comparison === 'replace') return 'replace';
    if (isTerminalAllocation(allocation)) return 'ignore';
    return comparison === 'inPlace' || canStay(allocation, group) ? 'inPlace' : 'replace';
  };
}

/** `ifSuitable`: depends on whether the node still suits. */
type Comparison = 'replace' | 'inPlace' | 'ifSuitable';

function compare(before: Job, job: Job, group: TaskGroup): Comparison {
  const oldGroup = before.TaskGroups.find(({ Name }) => Name === group.Name);
  if (oldGroup === undefined || !keepsRunning(before, oldGroup, job, group)) return 'replace';
  return job.Type === 'batch' && onlyDurationDiffers(oldGroup, group) ? 'inPlace' : 'ifSuitable';
}

/** One group to reconcile, and where its decisions are collected. */
export interface GroupRequest {
  readonly situation: JobSituation;
  readonly job: Job;
  readonly group: TaskGroup;
  /** All allocations of the group, including finished ones. */
  readonly allocations: readonly Allocation[];
  readonly standing: DeploymentStanding;
  readonly intents: Intents;
  /** Whether the allocation can continue in place with the job's current version. */
  readonly canStay: (allocation: Allocation, group: TaskGroup) => boolean;
}
