import type { DNSConfig } from '../jobs/document/network.js';
import { table } from '../shared/table.js';
import type { AllocatedResources } from './allocated-resources.js';
import type { AllocationMetric } from './allocation-metric.js';

/** What the scheduler wants of an allocation: to run, to stop, or to make room for work of a higher priority (`evict`). */
export type DesiredStatus = 'run' | 'stop' | 'evict';
/**
 * How far an allocation is by the reports of its node's agent. The server itself sets `lost` when the node is down, and `unknown`
 * while it is disconnected.
 */
export type ClientStatus = 'pending' | 'running' | 'complete' | 'failed' | 'lost' | 'unknown';

/** Requests to the scheduler about an allocation: by operators, drains and deployments. Null and false ask for nothing. */
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

/** What happened to a task. All members are always there; those after Details repeat it for older clients. */
export interface TaskEvent {
  readonly Type: string;
  /** Unix nanoseconds. */
  readonly Time: number;
  readonly Message: string;
  readonly DisplayMessage: string;
  readonly Details: Readonly<Record<string, string>> | null;
  readonly FailsTask: boolean;
  readonly RestartReason: string;
  readonly SetupError: string;
  readonly DriverError: string;
  readonly ExitCode: number;
  readonly Signal: number;
  /** Nanoseconds. */
  readonly KillTimeout: number;
  readonly KillError: string;
  readonly KillReason: string;
  /** Nanoseconds. */
  readonly StartDelay: number;
  readonly DownloadError: string;
  readonly ValidationError: string;
  readonly DiskLimit: number;
  readonly FailedSibling: string;
  readonly VaultError: string;
  readonly TaskSignalReason: string;
  readonly TaskSignal: string;
  readonly DriverMessage: string;
  readonly GenericSource: string;
}

/** How far a task of an allocation is, as its node's agent reports it. */
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

/** A change of an allocation that the scheduler made for its node. */
export interface AllocationStateChange {
  /** 0: the client status. */
  readonly Field: 0;
  readonly Value: string;
  /** RFC 3339. */
  readonly Time: string;
}

/** Health of an allocation as its deployment counts it. */
export interface AllocationDeploymentStatus {
  /** Null until it is known. */
  readonly Healthy: boolean | null;
  /** When the health became known, RFC 3339; null before. */
  readonly Timestamp: string | null;
  /** It was placed beside those of the older version, to be judged before they are replaced. */
  readonly Canary: boolean;
  readonly ModifyIndex: number;
}

/** One replacement of a failed allocation. */
export interface RescheduleEvent {
  /** Unix nanoseconds. */
  readonly RescheduleTime: number;
  readonly PrevAllocID: string;
  readonly PrevNodeID: string;
  /** How long the replacement waited, in nanoseconds. */
  readonly Delay: number;
}

/** The replacements that led to an allocation. The reschedule policy counts them. */
export interface RescheduleTracker {
  /** Oldest first. */
  readonly Events: readonly RescheduleEvent[] | null;
  /** Whether the last attempt found a node; empty before the first one. */
  readonly LastReschedule: '' | 'ok' | 'no placement';
}

/** The address of an allocation whose network is a namespace of its own. No agent here reports one. */
export interface AllocationNetworkStatus {
  readonly InterfaceName: string;
  readonly Address: string;
  readonly AddressIPv6: string;
  readonly DNS: DNSConfig | null;
}

/**
 * One instance of a task group on a node. The job is not embedded: `JobVersion` and `JobCreateIndex` name the stored
 * version, and a reader of the full allocation gets it laid in. Members with an empty value are left out, as on the wire.
 */
export interface Allocation {
  readonly ID: string;
  readonly Namespace: string;
  /** The evaluation that last changed it. */
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
  /** Priority of the job version that it runs; absent in rows written before it was kept. */
  readonly JobPriority?: number;
  /** How many of its group may be preempted before others are preferred (migrate block); absent: any number. */
  readonly MigrateParallel?: number;
  readonly TaskGroup: string;
  readonly AllocatedResources: AllocatedResources;
  readonly Metrics: AllocationMetric;
  readonly DesiredStatus: DesiredStatus;
  readonly DesiredDescription?: string;
  readonly DesiredTransition: DesiredTransition;
  readonly ClientStatus: ClientStatus;
  readonly ClientDescription?: string;
  readonly TaskStates?: Readonly<Record<string, TaskState>>;
  /** Oldest first. */
  readonly AllocStates?: readonly AllocationStateChange[];
  readonly PreviousAllocation?: string;
  readonly NextAllocation?: string;
  readonly DeploymentID?: string;
  readonly DeploymentStatus?: AllocationDeploymentStatus;
  readonly RescheduleTracker?: RescheduleTracker;
  readonly NetworkStatus?: AllocationNetworkStatus;
  readonly FollowupEvalID?: string;
  readonly PreemptedAllocations?: readonly string[];
  readonly PreemptedByAllocation?: string;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
  /** Rises with the scheduler's changes only, not with the node's reports. */
  readonly AllocModifyIndex: number;
  /** Unix nanoseconds. */
  readonly CreateTime: number;
  readonly ModifyTime: number;
}

export const allocations = table<Allocation>('allocations', (allocation) => [allocation.ID], {
  by_job: { version: 1, key: (allocation) => [allocation.Namespace, allocation.JobID, allocation.ID] },
  /** Those that keep their job running. */
  live_by_job: {
    version: 1,
    key: (allocation) => (isTerminalAllocation(allocation) ? undefined : [allocation.Namespace, allocation.JobID]),
  },
  /**
   * Those that still have a say in what becomes of their job: `open` ones, which their nodes have not finished with, and ended ones that
   * were not replaced, the newest version first. Replaced ones, and services that were stopped, are history.
   */
  current_by_job: {
    version: 2,
    key: (allocation) => {
      const { Namespace, JobID, JobVersion, CreateIndex, ID } = allocation;
      if (!isClientTerminal(allocation)) return [Namespace, JobID, 'open', ID];
      if (allocation.NextAllocation || wasStoppedService(allocation)) return undefined;
      const state = allocation.ClientStatus === 'complete' ? 'complete' : 'failed';
      return [Namespace, JobID, state, -JobVersion, -CreateIndex, ID];
    },
  },
  by_node: { version: 1, key: (allocation) => [allocation.NodeID, allocation.ID] },
  by_evaluation: { version: 1, key: (allocation) => [allocation.EvalID, allocation.ID] },
  by_deployment: {
    version: 1,
    key: (allocation) => (allocation.DeploymentID ? [allocation.DeploymentID, allocation.ID] : undefined),
  },
  by_create: { version: 1, key: (allocation) => [allocation.CreateIndex] },
  /** What has changed since a write. */
  by_modify: { version: 1, key: (allocation) => [allocation.ModifyIndex] },
  by_namespace: { version: 1, key: (allocation) => [allocation.Namespace, allocation.CreateIndex] },
  /** Those whose node has not finished with them: they use its resources, and its agent has to look after them. */
  open_by_node: {
    version: 1,
    key: (allocation) => (isClientTerminal(allocation) ? undefined : [allocation.NodeID, allocation.ID]),
  },
});

function wasStoppedService({ JobType, DesiredStatus }: Allocation): boolean {
  return JobType === 'service' && DesiredStatus !== 'run';
}

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
