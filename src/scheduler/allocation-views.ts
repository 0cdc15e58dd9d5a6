import { zeroResources } from '../jobs/document/resources.js';
import { allocationOutcome, type RunOutcome } from '../jobs/runs/job-run.js';
import { type ResourceSum, type ResourceSums, resourceSums } from './allocated-resources.js';
import type { Allocation } from './allocation.js';

/** Members of a stored allocation that the interface does not show: copies from the job that decisions use, and the output that alerts quote. */
type OwnMember = 'JobType' | 'JobVersion' | 'JobCreateIndex' | 'JobPriority' | 'MigrateParallel' | 'FailureOutput';

/** A full allocation as the job interface shows it, including the legacy forms of its resources. */
export interface AllocationDocument extends Omit<Allocation, OwnMember>, ResourceSums {
  readonly SharedResources: ResourceSum;
  /** How it ended; absent until its node has finished with it, and in answers limited to Nomad's own members. */
  readonly Outcome?: RunOutcome;
}

/** Members of the document that a stored allocation lacks, or lacks at times. */
export const derivedMembers = ['Resources', 'SharedResources', 'TaskResources', 'NetworkStatus'] as const;

export function allocationDocument(allocation: Allocation): AllocationDocument {
  const { JobType, JobVersion, JobCreateIndex, JobPriority, MigrateParallel, FailureOutput, ...shown } = allocation;
  const { DiskMB, Networks } = allocation.AllocatedResources.Shared;
  return {
    ...shown,
    ...networkStatus(allocation),
    ...resourceSums(allocation.AllocatedResources),
    SharedResources: { ...zeroResources, DiskMB, Networks: Networks ?? null },
  };
}

/** Present from the first report on. Allocations use the host's network, so it contains only the group's DNS settings. */
function networkStatus({
  NetworkStatus,
  TaskStates,
  AllocatedResources,
}: Allocation): Pick<Allocation, 'NetworkStatus'> {
  if (NetworkStatus !== undefined || TaskStates === undefined) return {};
  const DNS = AllocatedResources.Shared.Networks?.[0]?.DNS ?? null;
  return { NetworkStatus: { InterfaceName: '', Address: '', AddressIPv6: '', DNS } };
}

/** An allocation as a list shows it (job interface, AllocListStub): members with an empty value are present. */
export interface AllocationListStub
  extends Pick<
    Allocation,
    | 'ID'
    | 'EvalID'
    | 'Name'
    | 'Namespace'
    | 'NodeID'
    | 'NodeName'
    | 'JobID'
    | 'JobType'
    | 'JobVersion'
    | 'TaskGroup'
    | 'DesiredStatus'
    | 'ClientStatus'
    | 'DesiredTransition'
    | 'CreateIndex'
    | 'ModifyIndex'
    | 'CreateTime'
    | 'ModifyTime'
  > {
  /** Present only on request. */
  readonly AllocatedResources?: Allocation['AllocatedResources'];
  /** Empty when there is none. */
  readonly DesiredDescription: string;
  /** Empty when there is none. */
  readonly ClientDescription: string;
  /** Null before the first report, and when the states were not requested. */
  readonly TaskStates: NonNullable<Allocation['TaskStates']> | null;
  /** Null outside a deployment. */
  readonly DeploymentStatus: NonNullable<Allocation['DeploymentStatus']> | null;
  /** Empty when no delayed replacement is planned. */
  readonly FollowupEvalID: string;
  /** Empty until it is replaced. */
  readonly NextAllocation: string;
  /** Null when it does not replace a failed allocation. */
  readonly RescheduleTracker: NonNullable<Allocation['RescheduleTracker']> | null;
  /** Null when it preempted none. */
  readonly PreemptedAllocations: readonly string[] | null;
  /** Empty unless it was preempted. */
  readonly PreemptedByAllocation: string;
  /** How it ended; absent until its node has finished with it, and in answers limited to Nomad's own members. */
  readonly Outcome?: RunOutcome;
}

/** Which optional members the entries of an allocation list have. */
export interface AllocationStubOptions {
  /** Adds AllocatedResources. */
  readonly resources?: boolean;
  /** False leaves TaskStates null. */
  readonly taskStates?: boolean;
  /** Adds Outcome to allocations that have ended. */
  readonly outcome?: boolean;
}

export function allocationListStub(allocation: Allocation, options: AllocationStubOptions = {}): AllocationListStub {
  return {
    ID: allocation.ID,
    EvalID: allocation.EvalID,
    Name: allocation.Name,
    Namespace: allocation.Namespace,
    NodeID: allocation.NodeID,
    NodeName: allocation.NodeName,
    JobID: allocation.JobID,
    JobType: allocation.JobType,
    JobVersion: allocation.JobVersion,
    TaskGroup: allocation.TaskGroup,
    ...(options.resources === true ? { AllocatedResources: allocation.AllocatedResources } : {}),
    DesiredStatus: allocation.DesiredStatus,
    DesiredDescription: orEmpty(allocation.DesiredDescription),
    ClientStatus: allocation.ClientStatus,
    ClientDescription: orEmpty(allocation.ClientDescription),
    DesiredTransition: allocation.DesiredTransition,
    TaskStates: options.taskStates === false ? null : (allocation.TaskStates ?? null),
    DeploymentStatus: allocation.DeploymentStatus ?? null,
    FollowupEvalID: orEmpty(allocation.FollowupEvalID),
    NextAllocation: orEmpty(allocation.NextAllocation),
    RescheduleTracker: allocation.RescheduleTracker ?? null,
    PreemptedAllocations: allocation.PreemptedAllocations ?? null,
    PreemptedByAllocation: orEmpty(allocation.PreemptedByAllocation),
    CreateIndex: allocation.CreateIndex,
    ModifyIndex: allocation.ModifyIndex,
    CreateTime: allocation.CreateTime,
    ModifyTime: allocation.ModifyTime,
    ...(options.outcome === true ? outcomeMember(allocation) : {}),
  };
}

/** `Outcome` of an allocation that has ended. */
export function outcomeMember(allocation: Allocation): { readonly Outcome?: RunOutcome } {
  const Outcome = allocationOutcome(allocation);
  return Outcome === undefined ? {} : { Outcome };
}

function orEmpty(text: string | undefined): string {
  return text ?? '';
}
