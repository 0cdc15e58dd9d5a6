import type { Job } from '../../jobs/document/job.js';
import type { TaskGroup } from '../../jobs/document/task-group.js';
import type { Instant } from '../../shared/instant.js';
import { type Allocation, isClientTerminal } from '../allocation.js';
import { descriptions, type GroupIntents, type LaterIntent, type PlaceIntent, type StopIntent } from './intents.js';
import { freeNames, indexFromName } from './names.js';
import { decideReschedule } from './reschedule.js';

export interface GroupSituation {
  readonly job: Job;
  readonly group: TaskGroup;
  /** All allocations of the group, finished ones too. */
  readonly allocations: readonly Allocation[];
  readonly evaluationId: string;
  readonly now: Instant;
  /** The node is missing or down. */
  readonly isNodeLost: (nodeId: string) => boolean;
  /** The allocation can go on under the job's present version where it is. */
  readonly canStay: (allocation: Allocation) => boolean;
}

/** Compares a service or batch group's allocations with the wanted count (scheduler rules for groups, without rollouts). */
export function reconcileGroup(situation: GroupSituation): GroupIntents {
  const { job, group, now } = situation;
  const stop: StopIntent[] = [];
  const place: PlaceIntent[] = [];
  const later: LaterIntent[] = [];
  const kept: Allocation[] = [];
  const lost: Allocation[] = [];

  for (const allocation of situation.allocations) {
    if (isOutOfPicture(allocation, job)) continue;
    if (
      !isClientTerminal(allocation) &&
      allocation.DesiredStatus === 'run' &&
      situation.isNodeLost(allocation.NodeID)
    ) {
      stop.push({ allocation, description: descriptions.lost, clientStatus: 'lost' });
      lost.push(allocation);
    } else if (allocation.DesiredTransition.Migrate === true && !isClientTerminal(allocation)) {
      place.push(replacement(allocation, descriptions.migrating, false));
    } else if (isFinishedForGood(allocation, job)) {
      if (isBatch(job)) kept.push(allocation);
    } else {
      const verdict = decideReschedule(allocation, group.ReschedulePolicy, situation.evaluationId, now);
      if (verdict.when === 'now') place.push(replacement(allocation, descriptions.rescheduled, true));
      else kept.push(allocation);
      if (verdict.when === 'later') later.push({ allocation, at: verdict.at });
    }
  }

  const surplus = kept.length + place.length - group.Count;
  const { surviving, dropped } = dropSurplus(kept, surplus);
  for (const allocation of dropped) {
    if (!isClientTerminal(allocation)) stop.push({ allocation, description: descriptions.notNeeded });
  }
  const cancelled = surplus > dropped.length ? place.splice(group.Count - surviving.length) : [];
  for (const { replaces } of cancelled) {
    if (replaces !== null) stop.push({ allocation: replaces.allocation, description: descriptions.notNeeded });
  }

  const inPlace: Allocation[] = [];
  for (const allocation of surviving) {
    if (allocation.JobVersion === job.Version || isClientTerminal(allocation)) continue;
    if (situation.canStay(allocation)) inPlace.push(allocation);
    else place.push(replacement(allocation, descriptions.updating, false));
  }

  const replacing = place.filter(({ replaces }) => replaces?.description === descriptions.updating).length;
  let missing = group.Count - surviving.length - (place.length - replacing);
  for (const allocation of lost) {
    if (missing <= 0) break;
    place.push({ name: allocation.Name, previous: allocation, reschedule: false, replaces: null, nodeId: null });
    missing -= 1;
  }
  const names = freeNames(job.ID, group.Name, [...surviving.map(({ Name }) => Name), ...place.map(({ name }) => name)]);
  for (; missing > 0; missing -= 1) {
    place.push({ name: names(), previous: null, reschedule: false, replaces: null, nodeId: null });
  }
  return { stop, inPlace, place, later };
}

/** Stopped by the scheduler before (a batch instance that succeeded still counts), replaced already, or a finished batch instance of an older version. */
function isOutOfPicture(allocation: Allocation, job: Job): boolean {
  if (allocation.NextAllocation && isClientTerminal(allocation)) return true;
  if (isBatch(job)) {
    if (isClientTerminal(allocation) && allocation.JobVersion !== job.Version) return true;
    return allocation.DesiredStatus !== 'run' && allocation.ClientStatus !== 'complete';
  }
  return allocation.DesiredStatus !== 'run';
}

function isFinishedForGood(allocation: Allocation, job: Job): boolean {
  return allocation.ClientStatus === 'complete' || (!isBatch(job) && allocation.ClientStatus === 'lost');
}

function replacement(allocation: Allocation, description: string, reschedule: boolean): PlaceIntent {
  return {
    name: allocation.Name,
    previous: allocation,
    reschedule,
    replaces: { allocation, description },
    nodeId: null,
  };
}

/** Without the surplus: the highest names go first, finished ones stay as long as they can. */
function dropSurplus(
  kept: readonly Allocation[],
  surplus: number,
): { surviving: readonly Allocation[]; dropped: readonly Allocation[] } {
  if (surplus <= 0) return { surviving: kept, dropped: [] };
  const order = [...kept].sort(
    (left, right) =>
      Number(isClientTerminal(left)) - Number(isClientTerminal(right)) ||
      indexFromName(right.Name) - indexFromName(left.Name),
  );
  const dropped = new Set(order.slice(0, surplus));
  return { surviving: kept.filter((allocation) => !dropped.has(allocation)), dropped: [...dropped] };
}

function isBatch(job: Job): boolean {
  return job.Type === 'batch';
}
