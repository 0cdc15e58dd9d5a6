import type { Job } from '../../jobs/document/job.js';
import type { Task } from '../../jobs/document/task.js';
import type { TaskGroup } from '../../jobs/document/task-group.js';
import type { Instant } from '../../shared/instant.js';
import { type Allocation, isClientTerminal, isTerminalAllocation } from '../allocation.js';
import type { Cluster } from '../cluster/cluster.js';
import type { Evaluation } from '../evaluation.js';
import { isDraining } from '../node.js';
import { examinedPerStep, finish, type Steps } from '../steps.js';
import { descriptions, type StopIntent, without } from './intents.js';

/** The source of IDs for new records. */
export interface SchedulingIds {
  next(kind: 'allocation' | 'evaluation' | 'deployment'): string;
}

/** The condition of an allocation's node. */
export type Taint = 'none' | 'draining' | 'disconnected' | 'down' | 'missing';

/** The context of reconciliation: the job, its versions, the nodes and the time. */
export interface JobSituation {
  /** As currently registered; undefined when it was purged. */
  readonly job: Job | undefined;
  readonly evaluation: Evaluation;
  readonly now: Instant;
  readonly ids: SchedulingIds;
  readonly cluster: Cluster;
  /** The job version that the allocation runs; undefined when that version is no longer kept. */
  readonly jobOf: (allocation: Allocation) => Job | undefined;
  /** The allocation's group in its own version, or the current one when that version is no longer kept. */
  readonly groupOf: (allocation: Allocation) => TaskGroup | undefined;
}

export function situationOf(
  snapshot: {
    readonly job: Job | undefined;
    readonly versions: ReadonlyMap<number, Job>;
    readonly cluster: Cluster;
  },
  evaluation: Evaluation,
  now: Instant,
  ids: SchedulingIds,
): JobSituation {
  const { job, versions, cluster } = snapshot;
  const groups = new Map<Job, ReadonlyMap<string, TaskGroup>>();
  const jobOf = (allocation: Allocation): Job | undefined =>
    job !== undefined && isCurrent(allocation, job) ? job : versions.get(allocation.JobVersion);
  const groupIn = (version: Job | undefined, name: string): TaskGroup | undefined => {
    if (version === undefined) return undefined;
    let known = groups.get(version);
    if (known === undefined) {
      known = new Map(version.TaskGroups.map((group) => [group.Name, group]));
      groups.set(version, known);
    }
    return known.get(name);
  };
  const groupOf = (allocation: Allocation): TaskGroup | undefined =>
    groupIn(jobOf(allocation), allocation.TaskGroup) ?? groupIn(job, allocation.TaskGroup);
  return { job, evaluation, now, ids, cluster, jobOf, groupOf };
}

/** Whether the allocation runs the current version of the job. */
export function isCurrent(allocation: Allocation, job: Job): boolean {
  return allocation.JobVersion === job.Version && allocation.JobCreateIndex === job.CreateIndex;
}

/** Whether it runs an older version, or belongs to a registration before a purge. */
export function isOlder(allocation: Allocation, job: Job): boolean {
  return allocation.JobVersion < job.Version || allocation.JobCreateIndex < job.CreateIndex;
}

export function taintOf(cluster: Cluster, nodeId: string): Taint {
  const node = cluster.nodeOf(nodeId);
  if (node === undefined) return 'missing';
  if (node.Status === 'down') return 'down';
  if (node.Status === 'disconnected') return 'disconnected';
  return isDraining(node) ? 'draining' : 'none';
}

/** The allocations of one group, divided by their treatment; each is in at most one list. */
export interface GroupSets {
  /** Allocations that count towards the group's count. */
  readonly untainted: readonly Allocation[];
  readonly migrating: readonly Allocation[];
  readonly lost: readonly Allocation[];
  readonly disconnecting: readonly Allocation[];
  /** Allocations that are replaced now, by the reschedule policy. */
  readonly replacedNow: readonly Allocation[];
}

export function withoutFrom(sets: GroupSets, removed: readonly Allocation[]): GroupSets {
  return {
    untainted: without(sets.untainted, removed),
    migrating: without(sets.migrating, removed),
    lost: without(sets.lost, removed),
    disconnecting: without(sets.disconnecting, removed),
    replacedNow: without(sets.replacedNow, removed),
  };
}

/** Class of an allocation by its node and by the requested transitions. */
type AllocationClass =
  /** Its node is healthy. */
  | 'untainted'
  /** It must move to another node. */
  | 'migrating'
  | 'lost'
  /** Its node is disconnected, and the group waits for it. */
  | 'disconnecting'
  /** Its node is back while the group waited for it. */
  | 'reconnecting'
  /** The wait for its node is over. */
  | 'expiring'
  | 'ignored';

type ClassifiedAllocations = Readonly<Record<AllocationClass, readonly Allocation[]>>;

export function classified(allocations: readonly Allocation[], situation: JobSituation): ClassifiedAllocations {
  return finish(classesInSteps(allocations, situation));
}

/** The same in steps. Yields now and then. */
export function* classesInSteps(
  allocations: readonly Allocation[],
  situation: JobSituation,
): Steps<ClassifiedAllocations> {
  const classes: Record<AllocationClass, Allocation[]> = {
    untainted: [],
    migrating: [],
    lost: [],
    disconnecting: [],
    reconnecting: [],
    expiring: [],
    ignored: [],
  };
  for (const [at, allocation] of allocations.entries()) {
    if (at % examinedPerStep === 0) yield;
    classes[classOf(allocation, situation)].push(allocation);
  }
  return classes;
}

/** The first rule that applies; each function below is a run of rules from the table in docs/interfaces/scheduling.md. */
function classOf(allocation: Allocation, situation: JobSituation): AllocationClass {
  const back = needsReconnect(allocation);
  if (back && allocation.DesiredStatus === 'run' && allocation.ClientStatus === 'failed') return 'reconnecting';
  return (
    (back ? undefined : classOfEnded(allocation)) ??
    classOfUnknown(allocation, situation, back) ??
    classByNode(allocation, situation, back)
  );
}

/** Requested to stop, or finished. */
function classOfEnded(allocation: Allocation): AllocationClass | undefined {
  const { Migrate, MigrateDisablePlacement } = allocation.DesiredTransition;
  if (allocation.DesiredStatus !== 'run') return MigrateDisablePlacement === true ? 'untainted' : 'ignored';
  if (isClientTerminal(allocation) && allocation.DeploymentStatus?.Canary === true && Migrate === true)
    return 'migrating';
  return isTerminalAllocation(allocation) ? 'untainted' : undefined;
}

function classOfUnknown(allocation: Allocation, situation: JobSituation, back: boolean): AllocationClass | undefined {
  if (isExpired(allocation, situation.groupOf(allocation), situation.now)) return 'expiring';
  return back && allocation.ClientStatus === 'failed' && allocation.DesiredStatus === 'stop' ? 'ignored' : undefined;
}

function classByNode(allocation: Allocation, situation: JobSituation, back: boolean): AllocationClass {
  const taint = taintOf(situation.cluster, allocation.NodeID);
  if (taint === 'disconnected') return classOnDisconnected(allocation, situation);
  if (allocation.DesiredTransition.Migrate === true) return 'migrating';
  if (taint === 'none' || taint === 'draining') return back ? 'reconnecting' : 'untainted';
  return classOnLost(allocation, situation, taint);
}

function classOnDisconnected(allocation: Allocation, situation: JobSituation): AllocationClass {
  if (allocation.ClientStatus === 'unknown') return 'untainted';
  if (allocation.ClientStatus === 'pending') return 'lost';
  return lostAfter(situation.groupOf(allocation)) === 0 ? 'lost' : 'disconnecting';
}

function classOnLost(allocation: Allocation, situation: JobSituation, taint: Taint): AllocationClass {
  if (taint === 'missing' || replacesDisconnected(situation.groupOf(allocation))) return 'lost';
  if (allocation.ClientStatus === 'unknown') return 'untainted';
  return allocation.ClientStatus === 'running' ? 'disconnecting' : 'lost';
}

/** How long to wait for a disconnected allocation, in milliseconds; 0: it is lost at once. */
export function lostAfter(group: TaskGroup | undefined): number {
  return (group?.Disconnect?.LostAfter ?? group?.MaxClientDisconnect ?? 0) / 1_000_000;
}

/** Milliseconds after which a disconnected node stops its allocations itself; undefined: it does not. */
export function stopOnClientAfter(group: TaskGroup | undefined): number | undefined {
  const after = group?.Disconnect?.StopOnClientAfter ?? group?.StopAfterClientDisconnect ?? null;
  return after === null || after === 0 ? undefined : after / 1_000_000;
}

/** Whether a disconnected allocation is replaced while it is waited for. */
export function replacesDisconnected(group: TaskGroup | undefined): boolean {
  return group?.Disconnect?.Replace ?? true;
}

/** Whether the scheduler marked it as disconnected and has not decided about it since. */
export function needsReconnect(allocation: Allocation): boolean {
  const { ClientStatus, AllocStates } = allocation;
  if (AllocStates === undefined) return false;
  if (ClientStatus !== 'unknown' && ClientStatus !== 'running' && ClientStatus !== 'failed') return false;
  return AllocStates.at(-1)?.Value === 'unknown';
}

/** When it was last marked as disconnected; undefined when never. */
export function lastUnknown({ AllocStates }: Pick<Allocation, 'AllocStates'>): Instant | undefined {
  return timeOf(AllocStates, 'unknown');
}

/** When it was last marked as lost; undefined when never. */
export function lastLost({ AllocStates }: Pick<Allocation, 'AllocStates'>): Instant | undefined {
  return timeOf(AllocStates, 'lost');
}

/** Whether the wait for it is over. */
export function isExpired(allocation: Allocation, group: TaskGroup | undefined, now: Instant): boolean {
  if (allocation.ClientStatus !== 'unknown') return false;
  const since = lastUnknown(allocation);
  return since !== undefined && since + lostAfter(group) <= now;
}

function timeOf(states: Allocation['AllocStates'], value: string): Instant | undefined {
  const state = states?.findLast((change) => change.Value === value);
  return state === undefined ? undefined : Date.parse(state.Time);
}

interface Reconnected {
  /** Allocations that continue. */
  readonly kept: readonly Allocation[];
  /** Returned allocations and replacements that lost the comparison. */
  readonly stop: readonly StopIntent[];
}

/**
 * Decides whether an allocation or its replacement continues when its node is back (disconnect block, `reconcile`). `all` are
 * the group's allocations, in which replacements are followed.
 */
export function settleReconnecting(
  reconnecting: readonly Allocation[],
  all: readonly Allocation[],
  situation: JobSituation,
): Reconnected {
  const kept: Allocation[] = [];
  const stop = new Map<string, StopIntent>();
  for (const allocation of reconnecting) {
    const refusal = refusalOf(allocation, situation);
    if (refusal !== undefined) {
      stop.set(allocation.ID, refusal);
      continue;
    }
    kept.push(allocation);
    for (const replacement of replacementsOf(allocation, all)) {
      if (winsOver(allocation, replacement, situation)) {
        stop.set(allocation.ID, { allocation, description: descriptions.notNeeded });
      } else {
        stop.set(replacement.ID, { allocation: replacement, description: descriptions.reconnected });
      }
    }
  }
  return { kept: kept.filter(({ ID }) => !stop.has(ID)), stop: [...stop.values()] };
}

/** Why a returned allocation does not continue, regardless of its replacement. */
function refusalOf(allocation: Allocation, { job }: JobSituation): StopIntent | undefined {
  if (allocation.ClientStatus === 'failed' && allocation.DesiredStatus === 'run') {
    return { allocation, description: descriptions.rescheduled, clientStatus: 'failed' };
  }
  const { Migrate, Reschedule, ForceReschedule } = allocation.DesiredTransition;
  const leaves = Migrate === true || Reschedule === true || ForceReschedule === true;
  const outdated = job === undefined || isOlder(allocation, job);
  return allocation.DesiredStatus !== 'run' || leaves || outdated
    ? { allocation, description: descriptions.notNeeded }
    : undefined;
}

/** The chain of replacements, without stopped ones. It ends at the first allocation that is out of consideration. */
function replacementsOf(original: Allocation, all: readonly Allocation[]): readonly Allocation[] {
  const chain: Allocation[] = [];
  let next = original.NextAllocation;
  while (next) {
    const id: string = next;
    const replacement = all.find(({ ID }) => ID === id);
    if (replacement === undefined || chain.includes(replacement)) break;
    chain.push(replacement);
    next = replacement.NextAllocation;
  }
  return chain.filter(({ DesiredStatus }) => DesiredStatus === 'run');
}

function winsOver(original: Allocation, replacement: Allocation, situation: JobSituation): boolean {
  if (replacement.JobVersion > original.JobVersion || replacement.JobCreateIndex > original.JobCreateIndex) return true;
  const group = situation.groupOf(original);
  switch (group?.Disconnect?.Reconcile ?? '') {
    case 'keep_original':
      return false;
    case 'keep_replacement':
      return true;
    case 'longest_running':
      return runsLonger(original, replacement, group);
    default:
      return hasBetterScore(original, replacement);
  }
}

/** The replacement is kept if its node has the better score, unless only the original is running. */
function hasBetterScore(original: Allocation, replacement: Allocation): boolean {
  const better = bestScore(replacement) > bestScore(original);
  return better && (replacement.ClientStatus === 'running' || original.ClientStatus !== 'running');
}

function bestScore({ Metrics }: Allocation): number {
  return Math.max(Number.NEGATIVE_INFINITY, ...(Metrics.ScoreMetaData ?? []).map(({ NormScore }) => NormScore));
}

/** Whether the replacement started earlier; without any reported start, whether it has the better node. */
function runsLonger(original: Allocation, replacement: Allocation, group: TaskGroup | undefined): boolean {
  const [before, after] = [startedAt(original, group), startedAt(replacement, group)];
  if (!Number.isFinite(before) && !Number.isFinite(after)) return hasBetterScore(original, replacement);
  return after < before;
}

/** When it last started: by the leader task, or by the earliest of the main tasks. Infinity if it never did. */
function startedAt({ TaskStates }: Allocation, group: TaskGroup | undefined): number {
  const main = (group?.Tasks ?? []).filter(({ Lifecycle }) => Lifecycle === null);
  const startOf = (task: Task): number => {
    const state = TaskStates !== undefined && Object.hasOwn(TaskStates, task.Name) ? TaskStates[task.Name] : undefined;
    const at = state?.LastRestart ?? state?.StartedAt ?? null;
    return at === null ? Number.POSITIVE_INFINITY : Date.parse(at);
  };
  const leader = main.find((task) => task.Leader);
  const led = leader === undefined ? Number.POSITIVE_INFINITY : startOf(leader);
  return Number.isFinite(led) ? led : Math.min(Number.POSITIVE_INFINITY, ...main.map(startOf));
}
