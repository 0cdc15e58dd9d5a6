import type { Allocation } from './allocation.js';

/** An allocation as a list shows it (job interface, AllocListStub). */
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
    | 'DesiredDescription'
    | 'ClientStatus'
    | 'ClientDescription'
    | 'DesiredTransition'
    | 'TaskStates'
    | 'FollowupEvalID'
    | 'NextAllocation'
    | 'RescheduleTracker'
    | 'CreateIndex'
    | 'ModifyIndex'
    | 'CreateTime'
    | 'ModifyTime'
  > {
  /** Only when it was asked for. */
  readonly AllocatedResources?: Allocation['AllocatedResources'];
  readonly DeploymentStatus: null;
  readonly PreemptedAllocations: null;
  readonly PreemptedByAllocation: string;
}

export interface AllocationStubOptions {
  /** Adds AllocatedResources. */
  readonly resources?: boolean;
  /** False leaves TaskStates null. */
  readonly taskStates?: boolean;
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
    DesiredDescription: allocation.DesiredDescription,
    ClientStatus: allocation.ClientStatus,
    ClientDescription: allocation.ClientDescription,
    DesiredTransition: allocation.DesiredTransition,
    TaskStates: options.taskStates === false ? null : allocation.TaskStates,
    DeploymentStatus: null,
    FollowupEvalID: allocation.FollowupEvalID,
    NextAllocation: allocation.NextAllocation,
    RescheduleTracker: allocation.RescheduleTracker,
    PreemptedAllocations: null,
    PreemptedByAllocation: '',
    CreateIndex: allocation.CreateIndex,
    ModifyIndex: allocation.ModifyIndex,
    CreateTime: allocation.CreateTime,
    ModifyTime: allocation.ModifyTime,
  };
}
