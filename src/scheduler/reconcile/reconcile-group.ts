import type { TaskGroup } from '../../jobs/document/task-group.js';
import { type Allocation, isTerminalAllocation } from '../allocation.js';
import type { Steps } from '../steps.js';
import {
  type DeploymentStanding,
  type GroupDeployment,
  type GroupRequest,
  groupDeploymentOf,
  isCanarying,
  isDeployed,
  joinDeployment,
  placeCanaries,
  type SplitUpdates,
  settleCanaries,
  splitUpdates,
  wantsCanaries,
} from './group-deployment.js';
import { descriptions, type Intents, type PlaceIntent, without } from './intents.js';
import { byIndex, NameIndex } from './names.js';
import {
  filterReschedules,
  type LaterReschedule,
  lostLater,
  planLaterReschedules,
  planLostLater,
  planTimeouts,
  reschedulesInSteps,
} from './reschedule.js';
import {
  classesInSteps,
  type GroupSets,
  isOlder,
  type JobSituation,
  lostAfter,
  settleReconnecting,
  withoutFrom,
} from './situation.js';

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

/** Replacements first, each under the name of its previous allocation, then the missing number of new ones. */
function wantedPlacements(
  group: TaskGroup,
  { untainted, migrating, replacedNow, lost }: GroupSets,
  names: NameIndex,
  canarying: boolean,
): readonly PlaceIntent[] {
  const replacing = (previous: Allocation): PlaceIntent => {
    const canary = previous.DeploymentStatus?.Canary === true;
    return { name: previous.Name, group, previous, canary, downgrade: canarying && !canary };
  };
  const placements: PlaceIntent[] = replacedNow.map((previous) => ({ ...replacing(previous), reschedule: true }));
  let existing = untainted.length + migrating.length + replacedNow.length;
  for (const previous of lost) {
    if (existing >= group.Count) break;
    placements.push({ ...replacing(previous), lost: true });
    existing += 1;
  }
  const missing = group.Count - existing;
  if (missing > 0) for (const name of names.next(missing)) placements.push({ name, group, downgrade: canarying });
  return placements;
}

/** Places all wanted allocations. */
function placeAll(
  { intents, group }: GroupRequest,
  placements: readonly PlaceIntent[],
  replacedNow: readonly Allocation[],
): void {
  const desired = intents.desired(group.Name);
  intents.place.push(...placements);
  desired.Place += placements.length;
  const here = replacedNow.filter((allocation) => !isDisconnected(allocation, intents));
  const failed = here.filter((allocation) => !isRequestedToMove(allocation));
  intents.stopAll(failed, descriptions.rescheduled);
  desired.Stop += failed.length;
  const sentAway = here.filter(isRequestedToMove);
  intents.stopAll(sentAway, descriptions.migrating);
  desired.Migrate += sentAway.length;
}

/** Whether it runs and its replacement by the reschedule policy was requested: it counts as moved. */
function isRequestedToMove(allocation: Allocation): boolean {
  return allocation.DesiredTransition.Migrate === true && !isTerminalAllocation(allocation);
}

/** A paused or failed deployment places nothing new; lost allocations and failures outside it are replaced all the same. */
function placeReplacements({ intents, group, standing }: GroupRequest, placements: readonly PlaceIntent[]): void {
  const desired = intents.desired(group.Name);
  for (const placement of placements) {
    const { previous } = placement;
    if (previous === undefined) continue;
    if (placement.reschedule === true && standing.failed && previous.DeploymentID === standing.current?.ID) continue;
    intents.place.push(placement);
    desired.Place += 1;
    if (placement.reschedule !== true || isDisconnected(previous, intents)) continue;
    intents.stopAll([previous], descriptions.rescheduled);
    desired.Stop += 1;
  }
}

/** Its node is disconnected: it is replaced, but not stopped. */
function isDisconnected(allocation: Allocation, intents: Intents): boolean {
  return allocation.ClientStatus === 'unknown' || intents.makesUnknown(allocation);
}

interface SurplusRequest {
  readonly jobId: string;
  readonly group: string;
  readonly count: number;
  readonly sets: GroupSets;
  readonly names: NameIndex;
  readonly canaries: readonly Allocation[];
  /** Canaries that await promotion: they do not count towards the group's count. */
  readonly canarying: boolean;
}

/**
 * Stops allocations beyond the group's count: first those whose canary was promoted, then migrating ones, then the highest names. Returns the
 * stopped allocations.
 */
export function stopSurplus(request: SurplusRequest, intents: Intents): readonly Allocation[] {
  const { sets, count, canarying, canaries } = request;
  const candidates = canarying ? without(sets.untainted, canaries) : sets.untainted;
  const known = candidates.filter(({ ClientStatus }) => ClientStatus !== 'unknown');
  const surplus = known.length + sets.migrating.length - count;
  if (surplus <= 0) return [];
  const stopped = chosen(request, candidates, surplus);
  intents.stopAll(stopped, descriptions.notNeeded);
  return stopped;
}

function chosen(request: SurplusRequest, candidates: readonly Allocation[], surplus: number): readonly Allocation[] {
  const { sets, names, canaries, canarying, jobId, group, count } = request;
  const live = candidates.filter(({ DesiredStatus }) => DesiredStatus === 'run');
  const stopped: Allocation[] = [];
  const stop = (from: readonly Allocation[], isMeant: (allocation: Allocation) => boolean): readonly Allocation[] => {
    const meant = from.filter(isMeant).slice(0, surplus - stopped.length);
    stopped.push(...meant);
    return meant;
  };
  if (!canarying) {
    const replaced = new Set(canaries.map(({ Name }) => Name));
    stop(without(live, canaries), ({ Name }) => replaced.has(Name));
  }
  const moving = new NameIndex(jobId, group, count, sets.migrating).highest(surplus - stopped.length);
  for (const { Name } of stop(sets.migrating, ({ Name }) => moving.has(Name))) names.release(Name);
  const highest = names.highest(surplus - stopped.length);
  stop(without(live, stopped), ({ Name }) => highest.has(Name));
  stop(
    [...without(live, stopped)].sort((left, right) => byIndex(right, left)),
    () => true,
  );
  return stopped;
}
