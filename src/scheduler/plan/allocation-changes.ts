import { type Instant, isoFromInstant, unixNanosFromInstant } from '../../shared/instant.js';
import type { Allocation, AllocationStateChange, ClientStatus } from '../allocation.js';
import type { Evaluation } from '../evaluation.js';
import { descriptions, type StopIntent } from '../reconcile/intents.js';
import type { SchedulingSnapshot } from '../snapshot.js';

/** The time and the index of the write that a plan is part of. */
export interface PlanWrite {
  readonly now: Instant;
  readonly index: number;
  readonly evaluationId: string;
  /** Index of the snapshot. */
  readonly stopwatch?: (() => number) | undefined;
}

export function momentOf(
  { index, stopwatch }: Pick<SchedulingSnapshot, 'index' | 'stopwatch'>,
  { ID: evaluationId }: Pick<Evaluation, 'ID'>,
  now: Instant,
): PlanWrite {
  return { now, index, evaluationId, stopwatch };
}

/** The allocation with the plan's change, and with the indexes and times that every scheduler change sets. */
export function stamped(allocation: Allocation, { now, index }: PlanWrite): Allocation {
  return { ...allocation, ModifyIndex: index, AllocModifyIndex: index, ModifyTime: unixNanosFromInstant(now) };
}

export function stopped(
  allocation: Allocation,
  { description, clientStatus, followupEvalId }: StopIntent,
  write: PlanWrite,
): Allocation {
  return {
    ...allocation,
    DesiredStatus: 'stop',
    DesiredDescription: description,
    ...(clientStatus === undefined ? {} : withClientStatus(allocation, clientStatus, description, write)),
    ...(followupEvalId === undefined ? {} : { FollowupEvalID: followupEvalId }),
  };
}

/** Its node is disconnected. */
export function becameUnknown(
  allocation: Allocation,
  followupEvalId: string | undefined,
  write: PlanWrite,
): Allocation {
  return {
    ...allocation,
    ...withClientStatus(allocation, 'unknown', descriptions.unknown, write),
    ...(followupEvalId === undefined ? {} : { FollowupEvalID: followupEvalId }),
  };
}

/** Its node is back, and it continues. */
export function reconnected(allocation: Allocation, write: PlanWrite): Allocation {
  return { ...allocation, AllocStates: withState(allocation, allocation.ClientStatus, write) };
}

export function preempted(allocation: Allocation, byAllocationId: string): Allocation {
  return {
    ...allocation,
    DesiredStatus: 'evict',
    DesiredDescription: descriptions.preempted(byAllocationId),
    PreemptedByAllocation: byAllocationId,
  };
}

function withClientStatus(allocation: Allocation, status: ClientStatus, description: string, write: PlanWrite) {
  return {
    ClientStatus: status,
    ClientDescription: description,
    AllocStates: withState(allocation, status, write),
  };
}

function withState(allocation: Allocation, status: ClientStatus, { now }: PlanWrite): readonly AllocationStateChange[] {
  const change: AllocationStateChange = { Field: 0, Value: status, Time: isoFromInstant(now) };
  return [...(allocation.AllocStates ?? []), change];
}
