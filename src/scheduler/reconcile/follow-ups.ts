import { type Instant, isoFromInstant, unixNanosFromInstant } from '../../shared/instant.js';
import type { Allocation } from '../allocation.js';
import type { Evaluation, EvaluationTrigger } from '../evaluation.js';
import type { Intents } from './intents.js';
import { lastLost, lostAfter, stopOnClientAfter } from './reconnect.js';
import type { LaterReschedule } from './reschedule.js';
import type { JobSituation } from './situation.js';

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
