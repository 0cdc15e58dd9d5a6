import type { ReschedulePolicy } from '../../jobs/document/policies.js';
import { type Instant, instantFromUnixNanos, isoFromInstant, unixNanosFromInstant } from '../../shared/instant.js';
import {
  type Allocation,
  isClientTerminal,
  isTerminalAllocation,
  type RescheduleEvent,
  type RescheduleTracker,
} from '../allocation.js';
import { type Deployment, isActiveDeployment } from '../deployment/deployment.js';
import type { Evaluation, EvaluationTrigger } from '../evaluation.js';
import { examinedPerStep, finish, type Steps } from '../steps.js';
import type { Intents } from './intents.js';
import {
  type JobSituation,
  lastLost,
  lastUnknown,
  lostAfter,
  replacesDisconnected,
  stopOnClientAfter,
} from './situation.js';

/** When a replacement may be placed, and whether the policy allows one at all. */
interface RescheduleTime {
  readonly at: Instant;
  readonly eligible: boolean;
}

/** The number of past reschedules that are kept when attempts are unlimited. */
const keptWhenUnlimited = 5;

/** The members of an allocation that determine when it may be replaced. */
export type Reschedulable = Pick<
  Allocation,
  'ClientStatus' | 'DesiredStatus' | 'DesiredTransition' | 'TaskStates' | 'ModifyTime' | 'RescheduleTracker' | 'JobType'
>;

/** Whether there is a policy that allows at least one attempt. */
export function isRescheduling(policy: ReschedulePolicy | null): policy is ReschedulePolicy {
  return policy !== null && (policy.Attempts > 0 || policy.Unlimited);
}

/** When an allocation ended: the end of its last task, or its last change if no task has an end time. */
export function failureTime({ TaskStates, ModifyTime }: Pick<Allocation, 'TaskStates' | 'ModifyTime'>): Instant {
  let latest = Number.NEGATIVE_INFINITY;
  for (const name in TaskStates) {
    const finished = TaskStates[name]?.FinishedAt ?? null;
    if (finished !== null) latest = Math.max(latest, Date.parse(finished));
  }
  return latest === Number.NEGATIVE_INFINITY ? instantFromUnixNanos(ModifyTime) : latest;
}

/**
 * When a failed or lost allocation is replaced under its group's policy; undefined for never. A batch allocation that
 * was stopped for a replacement on request counts as well.
 */
export function nextReschedule(allocation: Reschedulable, policy: ReschedulePolicy | null): RescheduleTime | undefined {
  if (policy === null || (policy.Attempts === 0 && !policy.Unlimited) || !awaitsReplacement(allocation))
    return undefined;
  return rescheduleAfter(allocation, policy, failureTime(allocation));
}

/** When the replacement is due for an allocation considered failed at that time. */
export function rescheduleAfter(
  allocation: Reschedulable,
  policy: ReschedulePolicy,
  failedAt: Instant,
): RescheduleTime {
  const delay = nextDelay(allocation, policy);
  const at = failedAt + delay / 1_000_000;
  const events = eventsOf(allocation);
  if (policy.Attempts <= 0 || events.length === 0) return { at, eligible: isRescheduling(policy) };
  const eligible = attemptsWithin(events, policy.Interval, failedAt) < policy.Attempts && delay < policy.Interval;
  return { at, eligible };
}

/** Whether the policy has attempts left for a failure at that time. */
export function hasAttemptsLeft(
  allocation: Pick<Allocation, 'RescheduleTracker'>,
  policy: ReschedulePolicy | null,
  failedAt: Instant,
): boolean {
  if (!isRescheduling(policy)) return false;
  return policy.Unlimited || attemptsWithin(eventsOf(allocation), policy.Interval, failedAt) < policy.Attempts;
}

/** The tracker that a replacement inherits: the previous allocation's recent events and its own. */
export function trackerAfterReschedule(
  previous: Pick<Allocation, 'ID' | 'NodeID'> & Reschedulable,
  policy: ReschedulePolicy | null,
  now: Instant,
): RescheduleTracker {
  const nowNanos = unixNanosFromInstant(now);
  const events = eventsOf(previous);
  const kept =
    policy !== null && policy.Attempts > 0
      ? events.filter((event) => nowNanos - event.RescheduleTime <= policy.Interval)
      : events.slice(-keptWhenUnlimited);
  const Delay = policy === null ? 0 : nextDelay(previous, policy);
  const event = { RescheduleTime: nowNanos, PrevAllocID: previous.ID, PrevNodeID: previous.NodeID, Delay };
  return { Events: [...kept, event], LastReschedule: 'ok' };
}

/** Nanoseconds from failure to replacement. A delay at its ceiling is reset when the last replacement ran longer than the ceiling. */
export function nextDelay(
  allocation: Pick<Allocation, 'RescheduleTracker' | 'TaskStates' | 'ModifyTime'>,
  policy: ReschedulePolicy,
): number {
  const events = eventsOf(allocation);
  const last = events.at(-1);
  if (last === undefined) return policy.Delay;
  const delay = grownDelay(events, policy);
  if (policy.MaxDelay <= 0 || delay <= policy.MaxDelay || !grows(policy)) return delay;
  const ran = unixNanosFromInstant(failureTime(allocation)) - last.RescheduleTime;
  return ran > policy.MaxDelay ? policy.Delay : policy.MaxDelay;
}

function awaitsReplacement(allocation: Reschedulable): boolean {
  const { ClientStatus, DesiredStatus, DesiredTransition, JobType, RescheduleTracker: tracker } = allocation;
  if (JobType === 'batch' && DesiredTransition.Reschedule === true) return true;
  if (DesiredStatus === 'stop' && tracker?.LastReschedule !== 'no placement') return false;
  return ClientStatus === 'failed' || ClientStatus === 'lost';
}

function attemptsWithin(events: readonly RescheduleEvent[], interval: number, failedAt: Instant): number {
  const failedNanos = unixNanosFromInstant(failedAt);
  return events.filter((event) => failedNanos - event.RescheduleTime < interval).length;
}

function grows({ DelayFunction }: ReschedulePolicy): boolean {
  return DelayFunction === 'exponential' || DelayFunction === 'fibonacci';
}

function grownDelay(events: readonly RescheduleEvent[], policy: ReschedulePolicy): number {
  const last = events.at(-1)?.Delay ?? policy.Delay;
  if (policy.DelayFunction === 'exponential') return last * 2;
  const before = events.at(-2)?.Delay;
  if (policy.DelayFunction !== 'fibonacci' || before === undefined) return policy.Delay;
  return last === policy.Delay && before === policy.MaxDelay ? policy.Delay : last + before;
}

function eventsOf({ RescheduleTracker: tracker }: Pick<Allocation, 'RescheduleTracker'>): readonly RescheduleEvent[] {
  return tracker?.Events ?? [];
}

/** An allocation that will be replaced at a later time. */
export interface LaterReschedule {
  readonly allocation: Allocation;
  readonly at: Instant;
}

interface RescheduleVerdicts {
  /** Allocations that are kept, including those that are replaced later. */
  readonly kept: readonly Allocation[];
  readonly now: readonly Allocation[];
  readonly later: readonly LaterReschedule[];
}

/** A due time this close counts as reached, so that a timer that fires early does not start another wait. */
const window = 1000;

type Verdict = 'dropped' | 'kept' | 'now' | { readonly later: Instant };

/**
 * Decides which allocations are replaced by their group's reschedule policy, now or later. Those that no longer count are left out.
 * `disconnecting`: their node is disconnected, which counts as a failure now.
 */
export function filterReschedules(
  allocations: readonly Allocation[],
  situation: JobSituation,
  deployment: Deployment | undefined,
  disconnecting: boolean,
): RescheduleVerdicts {
  return finish(reschedulesInSteps(allocations, situation, deployment, disconnecting));
}

/** The same in steps. Yields now and then. */
export function* reschedulesInSteps(
  allocations: readonly Allocation[],
  situation: JobSituation,
  deployment: Deployment | undefined,
  disconnecting: boolean,
): Steps<RescheduleVerdicts> {
  const kept: Allocation[] = [];
  const now: Allocation[] = [];
  const later: LaterReschedule[] = [];
  for (const [at, allocation] of allocations.entries()) {
    if (at % examinedPerStep === 0) yield;
    const verdict = verdictOn(allocation, situation, deployment, disconnecting);
    if (verdict === 'dropped') continue;
    if (verdict === 'now') now.push(allocation);
    else kept.push(allocation);
    if (typeof verdict === 'object') later.push({ allocation, at: verdict.later });
  }
  return { kept, now, later };
}

function verdictOn(
  allocation: Allocation,
  situation: JobSituation,
  deployment: Deployment | undefined,
  disconnecting: boolean,
): Verdict {
  if (disconnecting && allocation.ClientStatus === 'unknown') return 'dropped';
  if (allocation.NextAllocation && isTerminalAllocation(allocation)) return 'dropped';
  const batch = situation.job?.Type === 'batch';
  const standing = batch ? standingOfBatch(allocation, disconnecting) : standingOfService(allocation);
  if (standing !== 'candidate') return standing;
  if (isWatched(allocation, deployment)) return 'kept';
  if (allocation.DesiredTransition.ForceReschedule === true && isClientTerminal(allocation)) return 'now';
  return verdictByTime(allocation, situation, disconnecting);
}

/** Its deployment decides on its replacement and has not requested it yet. */
function isWatched({ DeploymentID, DesiredTransition }: Allocation, deployment: Deployment | undefined): boolean {
  if (deployment === undefined || DeploymentID !== deployment.ID) return false;
  return isActiveDeployment(deployment) && DesiredTransition.Reschedule !== true;
}

function standingOfBatch(allocation: Allocation, disconnecting: boolean): Verdict | 'candidate' {
  const { DesiredTransition, DesiredStatus, ClientStatus, RescheduleTracker: tracker } = allocation;
  if (DesiredTransition.MigrateDisablePlacement === true) return 'kept';
  if (DesiredTransition.Reschedule === true) return 'candidate';
  if (DesiredStatus === 'evict') return 'dropped';
  if (DesiredStatus === 'stop') {
    if (ranSuccessfully(allocation)) return 'kept';
    return tracker?.LastReschedule === 'no placement' ? 'candidate' : 'dropped';
  }
  const isAway = disconnecting || ClientStatus === 'unknown';
  return ClientStatus === 'failed' || isAway ? 'candidate' : 'kept';
}

function standingOfService({
  DesiredStatus,
  ClientStatus,
  RescheduleTracker: tracker,
}: Allocation): Verdict | 'candidate' {
  if (DesiredStatus !== 'run') return tracker?.LastReschedule === 'no placement' ? 'candidate' : 'dropped';
  return ClientStatus === 'complete' || ClientStatus === 'lost' ? 'dropped' : 'candidate';
}

/** Whether every task has ended and none has failed. */
export function ranSuccessfully({ TaskStates }: Pick<Allocation, 'TaskStates'>): boolean {
  const states = Object.values(TaskStates ?? {});
  return states.length > 0 && states.every((state) => state.State === 'dead' && !state.Failed);
}

function verdictByTime(allocation: Allocation, situation: JobSituation, disconnecting: boolean): Verdict {
  const time = timeOf(allocation, situation, disconnecting);
  if (time === undefined || !time.eligible) return 'kept';
  const ours = allocation.FollowupEvalID === situation.evaluation.ID;
  if (ours || time.at - situation.now <= window) return 'now';
  return !allocation.FollowupEvalID || disconnecting ? { later: time.at } : 'kept';
}

function timeOf(allocation: Allocation, situation: JobSituation, disconnecting: boolean): RescheduleTime | undefined {
  const group = situation.groupOf(allocation);
  const policy = group?.ReschedulePolicy ?? null;
  if (disconnecting) {
    return policy === null || !replacesDisconnected(group)
      ? undefined
      : rescheduleAfter(allocation, policy, situation.now);
  }
  const ours = allocation.FollowupEvalID === situation.evaluation.ID;
  if (policy !== null && allocation.ClientStatus === 'unknown' && ours) {
    return rescheduleAfter(allocation, policy, lastUnknown(allocation) ?? failureTime(allocation));
  }
  return nextReschedule(allocation, policy);
}

/** Due times this close to the first one of a batch share its evaluation. */
const batchWindow = 5000;

/** A node gets at least this long to stop its tasks. */
const leastKillTimeout = 5000;

/** Existing clients recognise evaluations by these strings. */
export const followUpDescriptions = {
  reschedule: 'created for delayed rescheduling',
  disconnect: 'created for delayed disconnect timeout',
  blocked: 'created to place remaining allocations',
} as const;

/** A delayed evaluation of the same job, linked to the current one as its previous evaluation. */
export function followUpEvaluation(
  { evaluation, now, ids }: Pick<JobSituation, 'evaluation' | 'now' | 'ids'>,
  particular: Pick<Evaluation, 'TriggeredBy' | 'Status'> & Partial<Evaluation>,
): Evaluation {
  const { ID, Namespace, Priority, Type, JobID, JobModifyIndex } = evaluation;
  const nanos = unixNanosFromInstant(now);
  return {
    ID: ids.next('evaluation'),
    Namespace,
    Priority,
    Type,
    JobID,
    ...(JobModifyIndex === undefined ? {} : { JobModifyIndex }),
    PreviousEval: ID,
    ...particular,
    CreateIndex: 0,
    ModifyIndex: 0,
    CreateTime: nanos,
    ModifyTime: nanos,
  };
}

/** Creates evaluations for failed allocations whose replacement is due later; the allocations refer to them. */
export function planLaterReschedules(
  later: readonly LaterReschedule[],
  situation: JobSituation,
  intents: Intents,
): void {
  for (const batch of batches(later)) {
    const first = batch.first ? { trigger: 'alloc-reschedule' as const, description: true } : undefined;
    const id = addFollowUp(situation, intents, batch.at, first ?? { trigger: 'alloc-failure', description: false });
    for (const { allocation } of batch.members) intents.followups.set(allocation.ID, id);
  }
}

/** Creates evaluations for lost allocations that their disconnected nodes still have to stop; returns the evaluation's ID by allocation. */
export function planLostLater(
  later: readonly LaterReschedule[],
  situation: JobSituation,
  intents: Intents,
): ReadonlyMap<string, string> {
  const byAllocation = new Map<string, string>();
  for (const batch of batches(later)) {
    const id = addFollowUp(situation, intents, batch.at, { trigger: 'alloc-failure', description: true });
    for (const { allocation } of batch.members) byAllocation.set(allocation.ID, id);
  }
  return byAllocation;
}

/** Creates evaluations for the time when disconnected allocations are given up; returns the evaluation's ID by allocation. */
export function planTimeouts(
  disconnecting: readonly Allocation[],
  situation: JobSituation,
  intents: Intents,
): ReadonlyMap<string, string> {
  const later = disconnecting.map((allocation) => ({
    allocation,
    at: situation.now + lostAfter(situation.groupOf(allocation)),
  }));
  const byAllocation = new Map<string, string>();
  for (const batch of batches(later)) {
    const evaluation = followUpEvaluation(situation, {
      TriggeredBy: 'max-disconnect-timeout',
      Status: 'pending',
      StatusDescription: followUpDescriptions.disconnect,
      WaitUntil: isoFromInstant(batch.at),
    });
    intents.evaluations.push(evaluation);
    for (const { allocation } of batch.members) byAllocation.set(allocation.ID, evaluation.ID);
  }
  return byAllocation;
}

/** Lost allocations that their nodes stop later, and the time by which they certainly have. */
export function lostLater(lost: readonly Allocation[], situation: JobSituation): readonly LaterReschedule[] {
  const later: LaterReschedule[] = [];
  for (const allocation of lost) {
    const group = situation.groupOf(allocation);
    const after = stopOnClientAfter(group);
    if (after === undefined) continue;
    const killTimeouts = (group?.Tasks ?? []).map((task) => task.KillTimeout / 1_000_000);
    const at = (lastLost(allocation) ?? situation.now) + after + Math.max(leastKillTimeout, ...killTimeouts);
    if (at > situation.now) later.push({ allocation, at });
  }
  return later;
}

interface Batch {
  readonly at: Instant;
  /** Whether it is the earliest of all. */
  readonly first: boolean;
  readonly members: LaterReschedule[];
}

function batches(later: readonly LaterReschedule[]): readonly Batch[] {
  const sorted = [...later].sort((left, right) => left.at - right.at);
  const all: Batch[] = [];
  for (const item of sorted) {
    const current = all.at(-1);
    if (current !== undefined && item.at - current.at < batchWindow) current.members.push(item);
    else all.push({ at: item.at, first: all.length === 0, members: [item] });
  }
  return all;
}

function addFollowUp(
  situation: JobSituation,
  intents: Intents,
  at: Instant,
  { trigger, description }: { readonly trigger: EvaluationTrigger; readonly description: boolean },
): string {
  const evaluation = followUpEvaluation(situation, {
    TriggeredBy: trigger,
    Status: 'pending',
    ...(description ? { StatusDescription: followUpDescriptions.reschedule } : {}),
    WaitUntil: isoFromInstant(at),
  });
  intents.evaluations.push(evaluation);
  return evaluation.ID;
}
