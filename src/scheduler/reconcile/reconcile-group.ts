import type { TaskGroup } from '../../jobs/document/task-group.js';
import { type Allocation, isTerminalAllocation } from '../allocation.js';
import type { Steps } from '../steps.js';
import { placeCanaries, type SplitUpdates, settleCanaries, splitUpdates, wantsCanaries } from './canaries.js';
import { classesInSteps } from './classify.js';
import { lostLater, planLaterReschedules, planLostLater, planTimeouts } from './follow-ups.js';
import {
  type DeploymentStanding,
  type GroupDeployment,
  groupDeploymentOf,
  isCanarying,
  isDeployed,
  joinDeployment,
} from './group-deployment.js';
import type { GroupRequest } from './group-request.js';
import { descriptions, type Intents, without } from './intents.js';
import { byIndex, NameIndex } from './names.js';
import { placeAll, placeReplacements, wantedPlacements } from './placements.js';
import { lostAfter, settleReconnecting } from './reconnect.js';
import { filterReschedules, type LaterReschedule, reschedulesInSteps } from './reschedule.js';
import { type GroupSets, isOlder, type JobSituation, withoutFrom } from './situation.js';
import { stopSurplus } from './stop-surplus.js';

/**
 * Compares the allocations of a service or batch group with the job, in the order of docs/interfaces/scheduling.md. Returns whether
 * the group's deployment has nothing left to do. Yields now and then.
 */
export function* reconcileGroup(request: GroupRequest): Generator<void, boolean> {
  const { group, standing, situation, intents, job } = request;
  const desired = intents.desired(group.Name);
  const part = groupDeploymentOf(standing, group);
  const considered = dropHistory(request);
  const { canaries, rest } = settleCanaries(considered, request);
  const { sets: standingSets, replacedLater } = yield* settleNodes(request, rest);

  yield;
  const later = lostLater(standingSets.lost, situation);
  const lostFollowups = planLostLater(later, situation, intents);
  planLaterReschedules(replacedLater, situation, intents);
  desired.RescheduleLater += replacedLater.length;

  const names = new NameIndex(job.ID, group.Name, group.Count, [
    ...standingSets.untainted,
    ...standingSets.migrating,
    ...standingSets.replacedNow,
    ...standingSets.lost,
  ]);
  intents.names.set(group.Name, names);
  stopLost(request, standingSets.lost, lostFollowups);
  yield;
  const surplus = stopSurplus(
    {
      jobId: job.ID,
      group: group.Name,
      count: group.Count,
      sets: standingSets,
      names,
      canaries,
      canarying: isCanarying(part),
    },
    intents,
  );
  desired.Stop += surplus.length;
  const remaining = {
    ...standingSets,
    untainted: without(standingSets.untainted, surplus),
    migrating: without(standingSets.migrating, surplus),
  };
  const sets = isCanarying(part) ? remaining : dropSurplusFailures(request, remaining);

  const updates = yield* splitUpdates(request, sets.untainted);
  yield;
  return rollOut(request, {
    part,
    canaries,
    rest,
    sets,
    names,
    updates,
    replacedLater: replacedLater.length,
    waits: later.length > 0,
  });
}

/** Results of the earlier steps for a group. */
interface GroupFindings {
  readonly part: GroupDeployment;
  readonly canaries: readonly Allocation[];
  readonly rest: readonly Allocation[];
  readonly sets: GroupSets;
  readonly names: NameIndex;
  readonly updates: SplitUpdates;
  readonly replacedLater: number;
  /** A lost allocation may still run on a disconnected node: nothing is placed until it has ended. */
  readonly waits: boolean;
}

interface SettledNodes {
  readonly sets: GroupSets;
  readonly replacedLater: readonly LaterReschedule[];
}

/** Places, replaces and migrates as far as the group's deployment allows. */
function rollOut(request: GroupRequest, findings: GroupFindings): boolean {
  const { group, standing, situation, intents, job } = request;
  const { part, canaries, names, updates, rest, sets: all } = findings;
  const sets = isCanarying(part) ? { ...all, untainted: without(all.untainted, canaries) } : all;
  const first = intents.place.length;
  const moreCanaries = rollOutCanaries(request, findings);

  const canarying = isCanarying(part);
  const budget = updateBudget(request, sets, updates);
  const placements = findings.waits ? [] : wantedPlacements(group, sets, names, canarying);
  const ready = !standing.paused && !standing.failed && !canarying;
  if (ready) placeAll(request, placements, sets.replacedNow);
  else placeReplacements(request, placements);
  replaceOutdated(request, updates.replace, ready ? Math.max(0, budget - placements.length) : 0);
  moveMigrating(request, sets.migrating, canarying);

  const updated = updates.replace.length + updates.inPlace.length;
  const changes = { job, group, allocations: rest, updated, placed: placements.length };
  joinDeployment(part, changes, standing, { situation, intents });
  truncatePlacements(request, first);
  const left = updated + placements.length + sets.migrating.length + sets.replacedNow.length + findings.replacedLater;
  return left === 0 && !moreCanaries && isHealthy(request);
}

/** Plans the missing canaries, unless the deployment waits; returns whether any were missing. */
function rollOutCanaries(request: GroupRequest, { part, canaries, names, updates }: GroupFindings): boolean {
  const { group, standing } = request;
  if (!wantsCanaries(group, part, updates.replace, canaries)) return false;
  part.state.DesiredCanaries = group.Update?.Canary ?? 0;
  if (!standing.paused && !standing.failed) placeCanaries(request, updates.replace, canaries, names);
  return true;
}

/** Excludes allocations that were requested to stop, and those that a batch job completed in an older version. */
function dropHistory({ job, group, allocations, intents }: GroupRequest): readonly Allocation[] {
  if (job.Type !== 'batch') return allocations.filter(({ DesiredStatus }) => DesiredStatus === 'run');
  const kept = allocations.filter(
    ({ DesiredStatus, DesiredTransition }) => DesiredStatus === 'run' || DesiredTransition.Reschedule !== true,
  );
  const current = kept.filter((allocation) => !isOlder(allocation, job) || !isTerminalAllocation(allocation));
  intents.desired(group.Name).Ignore += kept.length - current.length;
  return current;
}

/** Classifies allocations by their nodes and the reschedule policy, and decides about those on lost, disconnected or reconnected nodes. */
function* settleNodes(request: GroupRequest, all: readonly Allocation[]): Steps<SettledNodes> {
  const { situation, standing, intents, group } = request;
  const desired = intents.desired(group.Name);
  const classes = yield* classesInSteps(all, situation);
  desired.Ignore += classes.ignored.length;
  const failed = yield* reschedulesInSteps(classes.untainted, situation, standing.current, false);
  const moved = yield* reschedulesInSteps(classes.migrating, situation, standing.current, false);
  let sets: GroupSets = {
    untainted: failed.kept,
    migrating: moved.kept,
    lost: classes.lost,
    disconnecting: classes.disconnecting,
    replacedNow: [...failed.now, ...moved.now],
  };
  const replacedLater = [...failed.later, ...moved.later];
  if (classes.reconnecting.length > 0) {
    const { kept, stop } = settleReconnecting(classes.reconnecting, all, situation);
    intents.stop.push(...stop);
    desired.Stop += stop.length;
    const running = kept.filter(({ ClientStatus }) => ClientStatus === 'running');
    intents.reconnected.push(...running);
    desired.Reconnect += running.length;
    const stopped = stop.map(({ allocation }) => allocation);
    sets = withoutFrom(sets, stopped);
    sets = { ...sets, untainted: [...sets.untainted, ...kept] };
  }
  sets = { ...sets, lost: [...sets.lost, ...classes.expiring] };
  if (sets.disconnecting.length === 0) return { sets, replacedLater };
  const settled = settleDisconnecting(sets, { situation, standing, intents, group });
  return { sets: settled.sets, replacedLater: [...replacedLater, ...settled.later] };
}

function stopLost(
  { intents, group }: GroupRequest,
  lost: readonly Allocation[],
  followups: ReadonlyMap<string, string>,
): void {
  for (const allocation of lost) {
    intents.stop.push({
      allocation,
      description: descriptions.lost,
      clientStatus: 'lost',
      followupEvalId: followups.get(allocation.ID),
    });
  }
  intents.desired(group.Name).Stop += lost.length;
}

/** Failed allocations beyond the count are stopped instead of replaced, the highest names first. */
function dropSurplusFailures({ intents, group }: GroupRequest, sets: GroupSets): GroupSets {
  const known = sets.untainted.filter(({ ClientStatus }) => ClientStatus !== 'unknown');
  const room = group.Count - known.length - sets.migrating.length;
  if (sets.replacedNow.length <= room) return sets;
  const inOrder = [...sets.replacedNow].sort(byIndex);
  const needless = inOrder.slice(Math.max(room, 0));
  intents.stopAll(needless, descriptions.notNeeded);
  intents.desired(group.Name).Stop += needless.length;
  return { ...sets, replacedNow: inOrder.slice(0, Math.max(room, 0)) };
}

/** How many allocations may be replaced or added now, beyond the mandatory ones. */
function updateBudget(
  { group, standing }: GroupRequest,
  { untainted, migrating }: GroupSets,
  { replace }: SplitUpdates,
): number {
  if (!isDeployed(group) || replace.length + migrating.length === 0) return group.Count;
  const parallel = group.Update?.MaxParallel ?? 0;
  const { current } = standing;
  if (current === undefined) return parallel;
  const deployed = untainted.filter(({ DeploymentID }) => DeploymentID === current.ID);
  if (deployed.some(({ DeploymentStatus }) => DeploymentStatus?.Healthy === false)) return 0;
  const unsettled = deployed.filter(({ DeploymentStatus }) => DeploymentStatus?.Healthy !== true).length;
  return Math.max(parallel - unsettled, 0);
}

function replaceOutdated({ intents, group }: GroupRequest, outdated: readonly Allocation[], budget: number): void {
  const desired = intents.desired(group.Name);
  const now = [...outdated].sort(byIndex).slice(0, budget);
  for (const allocation of now) intents.replace.push({ allocation, group });
  desired.DestructiveUpdate += now.length;
  desired.Ignore += outdated.length - now.length;
}

function moveMigrating(
  { intents, group, job }: GroupRequest,
  migrating: readonly Allocation[],
  canarying: boolean,
): void {
  intents.desired(group.Name).Migrate += migrating.length;
  for (const previous of [...migrating].sort(byIndex)) {
    intents.stopAll([previous], descriptions.migrating);
    const { MigrateDisablePlacement, Reschedule } = previous.DesiredTransition;
    if (MigrateDisablePlacement === true || (job.Type === 'batch' && Reschedule === true)) continue;
    const canary = previous.DeploymentStatus?.Canary === true;
    intents.place.push({ name: previous.Name, group, previous, canary, downgrade: canarying && !canary });
  }
}

/** One evaluation places at most the group's count. The group's placements are those from `first` on. */
function truncatePlacements({ intents, group }: GroupRequest, first: number): void {
  if (intents.place.length - first <= group.Count) return;
  intents.place.length = first + group.Count;
  intents.desired(group.Name).Place = group.Count;
}

function isHealthy({ standing, group }: GroupRequest): boolean {
  const { current } = standing;
  if (current === undefined) return false;
  const state = Object.hasOwn(current.TaskGroups, group.Name) ? current.TaskGroups[group.Name] : undefined;
  if (state === undefined) return true;
  const enough = state.HealthyAllocs >= Math.max(state.DesiredTotal, state.DesiredCanaries);
  return enough && (state.DesiredCanaries === 0 || state.Promoted);
}

/**
 * Marks allocations on disconnected nodes as unknown, schedules the evaluation that gives them up, and has them
 * replaced by the reschedule policy.
 */
function settleDisconnecting(
  sets: GroupSets,
  {
    situation,
    standing,
    intents,
    group,
  }: {
    readonly situation: JobSituation;
    readonly standing: DeploymentStanding;
    readonly intents: Intents;
    readonly group: TaskGroup;
  },
): { readonly sets: GroupSets; readonly later: readonly LaterReschedule[] } {
  const { disconnecting } = sets;
  const desired = intents.desired(group.Name);
  desired.Disconnect += disconnecting.length;
  const verdicts = filterReschedules(disconnecting, situation, standing.current, true);
  const timeouts = lostAfter(group) === 0 ? new Map<string, string>() : planTimeouts(disconnecting, situation, intents);
  for (const allocation of disconnecting) {
    intents.unknown.push({ allocation, followupEvalId: timeouts.get(allocation.ID) });
  }
  desired.RescheduleNow += verdicts.now.length;
  return {
    sets: {
      ...sets,
      untainted: [...sets.untainted, ...verdicts.kept],
      replacedNow: [...sets.replacedNow, ...verdicts.now],
    },
    later: verdicts.later,
  };
}
