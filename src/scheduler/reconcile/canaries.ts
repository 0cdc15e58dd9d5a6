import type { Job } from '../../jobs/document/job.js';
import type { TaskGroup } from '../../jobs/document/task-group.js';
import { type Allocation, isTerminalAllocation } from '../allocation.js';
import type { Deployment, DeploymentState } from '../deployment/deployment.js';
import { examinedPerStep, type Steps } from '../steps.js';
import { classified } from './classify.js';
import { type GroupDeployment, isDeployed } from './group-deployment.js';
import type { GroupRequest } from './group-request.js';
import { descriptions, without } from './intents.js';
import type { NameIndex } from './names.js';
import { keepsRunning, onlyDurationDiffers } from './same-tasks.js';
import { isCurrent } from './situation.js';

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
