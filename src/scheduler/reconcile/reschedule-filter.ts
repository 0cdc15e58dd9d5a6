import type { Instant } from '../../shared/instant.js';
import { type Allocation, isClientTerminal, isTerminalAllocation } from '../allocation.js';
import { type Deployment, isActiveDeployment } from '../deployment/deployment.js';
import { examinedPerStep, finish, type Steps } from '../steps.js';
import { lastUnknown, replacesDisconnected } from './disconnect.js';
import { failureTime, nextReschedule, type RescheduleTime, rescheduleAfter } from './reschedule.js';
import type { JobSituation } from './situation.js';

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
