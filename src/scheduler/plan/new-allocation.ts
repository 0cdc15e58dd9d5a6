import type { Job } from '../../jobs/document/job.js';
import type { ReschedulePolicy } from '../../jobs/document/policies.js';
import type { TaskGroup } from '../../jobs/document/task-group.js';
import { type Instant, isoFromInstant, unixNanosFromInstant } from '../../shared/instant.js';
import type { AllocatedResources } from '../allocated-resources.js';
import { type Allocation, type AllocationStateChange, type ClientStatus, noTransition } from '../allocation.js';
import type { AllocationMetric } from '../allocation-metric.js';
import type { Deployment } from '../deployment/deployment.js';
import type { Evaluation } from '../evaluation.js';
import type { Node } from '../node.js';
import { isDeployed } from '../reconcile/group-deployment.js';
import { descriptions, type PlaceIntent, type StopIntent } from '../reconcile/intents.js';
import { trackerAfterReschedule } from '../reconcile/reschedule.js';
import type { SchedulingSnapshot } from '../snapshot.js';

interface NewAllocation {
  readonly id: string;
  readonly name: string;
  /** The job version that it runs. */
  readonly job: Job;
  readonly group: TaskGroup;
  readonly node: Node;
  readonly resources: AllocatedResources;
  readonly metric: AllocationMetric;
  readonly deploymentId: string | undefined;
  readonly canary: boolean;
  readonly previous: Allocation | undefined;
  /** Set if it replaces the previous allocation by this policy, that of the previous allocation's version; undefined: for another reason. */
  readonly rescheduledBy: ReschedulePolicy | null | undefined;
  readonly preempted: readonly string[];
}

/** The record of an allocation that has just been assigned a node. */
export function newAllocation(made: NewAllocation, write: PlanWrite): Allocation {
  const { job, group, node } = made;
  const nanos = unixNanosFromInstant(write.now);
  return {
    ID: made.id,
    Namespace: job.Namespace,
    EvalID: write.evaluationId,
    Name: made.name,
    NodeID: node.ID,
    NodeName: node.Name,
    JobID: job.ID,
    ...jobMembers(job, group),
    TaskGroup: group.Name,
    AllocatedResources: made.resources,
    Metrics: made.metric,
    DesiredStatus: 'run',
    DesiredTransition: noTransition,
    ClientStatus: 'pending',
    ...historyMembers(made, write),
    ...deploymentMembers(made, write),
    ...(made.preempted.length === 0 ? {} : { PreemptedAllocations: made.preempted }),
    CreateIndex: write.index,
    ModifyIndex: write.index,
    AllocModifyIndex: write.index,
    CreateTime: nanos,
    ModifyTime: nanos,
  };
}

/** The values that an allocation copies from the job version that it runs. */
export function jobMembers(
  job: Job,
  group: TaskGroup,
): Pick<Allocation, 'JobType' | 'JobVersion' | 'JobCreateIndex' | 'JobPriority' | 'MigrateParallel'> {
  const parallel = group.Migrate?.MaxParallel ?? 0;
  return {
    JobType: job.Type,
    JobVersion: job.Version,
    JobCreateIndex: job.CreateIndex,
    JobPriority: job.Priority,
    ...(parallel > 0 ? { MigrateParallel: parallel } : {}),
  };
}

function historyMembers({ previous, rescheduledBy }: NewAllocation, { now }: PlanWrite): Partial<Allocation> {
  if (previous === undefined) return {};
  if (rescheduledBy === undefined) return { PreviousAllocation: previous.ID };
  return {
    PreviousAllocation: previous.ID,
    RescheduleTracker: trackerAfterReschedule(previous, rescheduledBy, now),
  };
}

function deploymentMembers({ deploymentId, canary }: NewAllocation, { index }: PlanWrite): Partial<Allocation> {
  if (deploymentId === undefined) return {};
  if (!canary) return { DeploymentID: deploymentId };
  const status = { Healthy: null, Timestamp: null, Canary: true, ModifyIndex: index };
  return { DeploymentID: deploymentId, DeploymentStatus: status };
}

/** The version that a new allocation runs, and the deployment that it belongs to. */
export interface ChosenVersion {
  readonly job: Job;
  readonly group: TaskGroup;
  readonly deploymentId: string | undefined;
}

/**
 * The version for an allocation that is placed while canaries are being checked: the newest promoted one, but none older than
 * that of the allocation it replaces. Undefined for the current version.
 */
export function acceptedVersion(
  { group, previous }: Pick<PlaceIntent, 'group' | 'previous'>,
  { job, versions, deployments }: { job: Job; versions: ReadonlyMap<number, Job>; deployments: readonly Deployment[] },
): ChosenVersion | undefined {
  const oldest = previous?.JobVersion ?? 0;
  const ofJob = deployments.filter(({ JobCreateIndex }) => JobCreateIndex === job.CreateIndex);
  const newestFirst = [...ofJob].sort((left, right) => right.JobVersion - left.JobVersion);
  const accepted = newestFirst.find(({ TaskGroups }) => {
    const state = Object.hasOwn(TaskGroups, group.Name) ? TaskGroups[group.Name] : undefined;
    return state !== undefined && (state.Promoted || state.DesiredCanaries === 0);
  });
  if (accepted !== undefined)
    return versionWith(versions, accepted.JobVersion, { group, oldest, deploymentId: accepted.ID });
  const undeployed = versionWith(versions, oldest, { group, oldest, deploymentId: undefined });
  return undeployed === undefined || isDeployed(undeployed.group) ? undefined : undeployed;
}

function versionWith(
  versions: ReadonlyMap<number, Job>,
  version: number,
  wanted: { readonly group: TaskGroup; readonly oldest: number; readonly deploymentId: string | undefined },
): ChosenVersion | undefined {
  const job = version < wanted.oldest ? undefined : versions.get(version);
  const group = job?.TaskGroups.find(({ Name }) => Name === wanted.group.Name);
  return job === undefined || group === undefined ? undefined : { job, group, deploymentId: wanted.deploymentId };
}

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
