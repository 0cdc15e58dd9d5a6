import type { Job } from '../../jobs/document/job.js';
import type { TaskGroup } from '../../jobs/document/task-group.js';
import { type Allocation, isTerminalAllocation } from '../allocation.js';
import { type Deployment, deploymentDescriptions, isActiveDeployment } from '../deployment/deployment.js';
import type { Steps } from '../steps.js';
import { describedPromotion, type GroupRequest, standingOf } from './group-deployment.js';
import { descriptions, Intents } from './intents.js';
import { reconcileGroup } from './reconcile-group.js';
import { classesInSteps, type JobSituation } from './situation.js';

interface ReconcileRequest {
  readonly situation: JobSituation;
  /** All allocations of the job, including finished ones. */
  readonly allocations: readonly Allocation[];
  /** The job's newest deployment. */
  readonly deployment: Deployment | undefined;
  readonly canStay: (allocation: Allocation, group: TaskGroup) => boolean;
}

/** Compares the allocations of a service or batch job with the job, group by group. Yields now and then. */
export function* reconcileJob(request: ReconcileRequest): Generator<void, Intents> {
  const { situation, allocations } = request;
  const { job } = situation;
  const intents = new Intents();
  const standing = standingOf(job?.Type === 'batch' ? undefined : request.deployment, situation, intents);
  const byGroup = groupedBy(allocations);
  if (job === undefined || job.Stop) {
    yield* stopAll(byGroup, situation, intents);
    return intents;
  }
  yield;
  const complete = yield* reconcileGroups(job, byGroup, { ...request, standing, intents });
  if (complete && standing.current !== undefined && isActiveDeployment(standing.current)) {
    const { ID: deploymentId } = standing.current;
    const { successful: description } = deploymentDescriptions;
    intents.deploymentUpdates.push({ deploymentId, status: 'successful', description });
  }
  if (intents.deployment !== undefined) intents.deployment = describedPromotion(intents.deployment);
  return intents;
}

/** Returns whether no group's deployment has anything left to do. */
function* reconcileGroups(
  job: Job,
  byGroup: ReadonlyMap<string, readonly Allocation[]>,
  shared: Pick<GroupRequest, 'situation' | 'standing' | 'intents' | 'canStay'>,
): Generator<void, boolean> {
  const { situation, standing, intents, canStay } = shared;
  const wanted = new Map(job.TaskGroups.map((group) => [group.Name, group]));
  let complete = true;
  for (const name of new Set([...wanted.keys(), ...byGroup.keys()])) {
    const group = wanted.get(name);
    const allocations = byGroup.get(name) ?? [];
    if (group === undefined || group.Count === 0) {
      const running = allocations.filter(({ DesiredStatus }) => DesiredStatus === 'run');
      yield* stopGroup(name, running, situation, intents);
      intents.desired(name).Stop += countedAgain(job, allocations);
    } else {
      const done = yield* reconcileGroup({ situation, job, group, allocations, standing, intents, canStay });
      complete = complete && done;
    }
  }
  return complete;
}

/** For a batch job, allocations that were requested to stop earlier count as stopped once more, unless stopped for a replacement. */
function countedAgain({ Type }: Job, allocations: readonly Allocation[]): number {
  if (Type !== 'batch') return 0;
  return allocations.filter(
    ({ DesiredStatus, DesiredTransition }) => DesiredStatus !== 'run' && DesiredTransition.Reschedule !== true,
  ).length;
}

function isLive(allocation: Allocation): boolean {
  return !isTerminalAllocation(allocation);
}

/** The job no longer has the group, or is stopped. */
function* stopGroup(
  group: string,
  allocations: readonly Allocation[],
  situation: JobSituation,
  intents: Intents,
): Steps<void> {
  const classes = yield* classesInSteps(allocations, situation);
  const awaited = [...classes.ignored, ...classes.expiring].filter(({ ClientStatus }) => ClientStatus === 'unknown');
  for (const part of [classes.untainted, classes.migrating, classes.disconnecting, classes.reconnecting, awaited]) {
    intents.stopAll(part, descriptions.notNeeded);
  }
  intents.stopAll(classes.lost, descriptions.lost, 'lost');
  intents.desired(group).Stop += allocations.length;
}

function groupedBy(allocations: readonly Allocation[]): ReadonlyMap<string, Allocation[]> {
  const groups = new Map<string, Allocation[]>();
  for (const allocation of allocations) {
    const group = groups.get(allocation.TaskGroup);
    if (group === undefined) groups.set(allocation.TaskGroup, [allocation]);
    else group.push(allocation);
  }
  return groups;
}

function* stopAll(
  byGroup: ReadonlyMap<string, readonly Allocation[]>,
  situation: JobSituation,
  intents: Intents,
): Steps<void> {
  for (const group of situation.job?.TaskGroups ?? []) intents.desired(group.Name);
  for (const [name, own] of byGroup) yield* stopGroup(name, own.filter(isLive), situation, intents);
}
