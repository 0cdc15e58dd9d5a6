import { table } from '../shared/table.js';

export type DesiredStatus = 'run' | 'stop' | 'evict';
export type ClientStatus = 'pending' | 'running' | 'complete' | 'failed' | 'lost' | 'unknown';

/** Why nodes were chosen or not (job interface, AllocMetric). */
export interface AllocationMetric {
  readonly NodesEvaluated: number;
  readonly NodesFiltered: number;
  readonly NodesInPool: number;
  readonly NodePool: string;
  readonly NodesAvailable: Readonly<Record<string, number>> | null;
  readonly ClassFiltered: Readonly<Record<string, number>> | null;
  readonly ConstraintFiltered: Readonly<Record<string, number>> | null;
  readonly NodesExhausted: number;
  readonly ClassExhausted: Readonly<Record<string, number>> | null;
  readonly DimensionExhausted: Readonly<Record<string, number>> | null;
  readonly QuotaExhausted: readonly string[] | null;
  readonly ResourcesExhausted: Readonly<Record<string, unknown>> | null;
  readonly Scores: Readonly<Record<string, number>> | null;
  readonly ScoreMetaData:
    | readonly {
        readonly NodeID: string;
        readonly Scores: Readonly<Record<string, number>>;
        readonly NormScore: number;
      }[]
    | null;
  readonly AllocationTime: number;
  readonly CoalescedFailures: number;
}

export interface AllocatedTaskResources {
  readonly Cpu: { readonly CpuShares: number; readonly ReservedCores: readonly number[] | null };
  readonly Memory: { readonly MemoryMB: number; readonly MemoryMaxMB: number };
  readonly Networks: null;
  readonly Devices: null;
}

export interface AllocatedResources {
  readonly Tasks: Readonly<Record<string, AllocatedTaskResources>>;
  readonly TaskLifecycles: Readonly<Record<string, { readonly Hook: string; readonly Sidecar: boolean } | null>>;
  readonly Shared: { readonly Networks: null; readonly DiskMB: number; readonly Ports: null };
}

export interface DesiredTransition {
  readonly Migrate: boolean | null;
  readonly Reschedule: boolean | null;
  readonly ForceReschedule: boolean | null;
  readonly NoShutdownDelay: boolean | null;
  readonly MigrateDisablePlacement: boolean | null;
}

export const noTransition: DesiredTransition = {
  Migrate: null,
  Reschedule: null,
  ForceReschedule: null,
  NoShutdownDelay: null,
  MigrateDisablePlacement: null,
};

export interface TaskEvent {
  readonly Type: string;
  /** Unix nanoseconds. */
  readonly Time: number;
  readonly Message: string;
  readonly DisplayMessage: string;
  readonly Details: Readonly<Record<string, string>> | null;
  readonly ExitCode: number;
  readonly Signal: number;
  readonly FailsTask: boolean;
  readonly RestartReason: string;
  readonly DriverError: string;
  readonly StartDelay: number;
}

export interface TaskState {
  readonly State: 'pending' | 'running' | 'dead';
  readonly Failed: boolean;
  readonly Restarts: number;
  /** RFC 3339, or null while it has not happened. */
  readonly LastRestart: string | null;
  readonly StartedAt: string | null;
  readonly FinishedAt: string | null;
  /** The last ten. */
  readonly Events: readonly TaskEvent[] | null;
  readonly Paused: string;
}

/**
 * One instance of a task group on a node. The job is not embedded: `JobVersion` and `JobCreateIndex` name the stored
 * version, and a reader of the full allocation gets it laid in.
 */
export interface Allocation {
  readonly ID: string;
  readonly Namespace: string;
  readonly EvalID: string;
  /** `<job>.<group>[<index>]`. */
  readonly Name: string;
  readonly NodeID: string;
  readonly NodeName: string;
  readonly JobID: string;
  readonly JobType: string;
  readonly JobVersion: number;
  /** CreateIndex of the registration that it belongs to: a job registered again after a purge is another one. */
  readonly JobCreateIndex: number;
  readonly TaskGroup: string;
  readonly AllocatedResources: AllocatedResources;
  readonly Metrics: AllocationMetric;
  readonly DesiredStatus: DesiredStatus;
  readonly DesiredDescription: string;
  readonly DesiredTransition: DesiredTransition;
  readonly ClientStatus: ClientStatus;
  readonly ClientDescription: string;
  readonly TaskStates: Readonly<Record<string, TaskState>> | null;
  readonly PreviousAllocation: string;
  readonly NextAllocation: string;
  readonly DeploymentID: string;
  readonly FollowupEvalID: string;
  readonly RescheduleTracker: {
    readonly Events: readonly {
      readonly RescheduleTime: number;
      readonly PrevAllocID: string;
      readonly PrevNodeID: string;
      readonly Delay: number;
    }[];
    readonly LastReschedule: string;
  } | null;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
  /** Rises with the scheduler's changes only, not with the node's reports. */
  readonly AllocModifyIndex: number;
  /** Unix nanoseconds. */
  readonly CreateTime: number;
  readonly ModifyTime: number;
}

export const allocations = table<Allocation>('allocations', (allocation) => [allocation.ID], {
  by_job: { key: (allocation) => [allocation.Namespace, allocation.JobID, allocation.ID] },
  /** Those that keep their job running. */
  live_by_job: {
    key: (allocation) => (isTerminalAllocation(allocation) ? undefined : [allocation.Namespace, allocation.JobID]),
  },
  by_node: { key: (allocation) => [allocation.NodeID, allocation.ID] },
  by_evaluation: { key: (allocation) => [allocation.EvalID, allocation.ID] },
  by_create: { key: (allocation) => [allocation.CreateIndex] },
  by_namespace: { key: (allocation) => [allocation.Namespace, allocation.CreateIndex] },
  /** Those whose node has not finished with them: they use its resources, and its agent has to look after them. */
  open_by_node: {
    key: (allocation) => (isClientTerminal(allocation) ? undefined : [allocation.NodeID, allocation.ID]),
  },
});

/** The node has nothing more to do for it. */
export function isClientTerminal(allocation: Pick<Allocation, 'ClientStatus'>): boolean {
  return (
    allocation.ClientStatus === 'complete' || allocation.ClientStatus === 'failed' || allocation.ClientStatus === 'lost'
  );
}

/** Stopped or evicted by the scheduler, or finished on its node (job interface, job status). */
export function isTerminalAllocation(allocation: Pick<Allocation, 'ClientStatus' | 'DesiredStatus'>): boolean {
  return allocation.DesiredStatus !== 'run' || isClientTerminal(allocation);
}
