import type { Task } from '../../jobs/document/task.js';
import type { TaskGroup } from '../../jobs/document/task-group.js';
import type { Instant } from '../../shared/instant.js';
import type { Allocation } from '../allocation.js';
import { descriptions, type StopIntent } from './intents.js';
import { isOlder, type JobSituation } from './situation.js';

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
