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
  /** Leave the node, and be replaced on another one. */
  readonly Migrate: boolean | null;
  /** Be replaced: an unhealthy one of a deployment, or one that an operator stops so that it runs elsewhere. */
  readonly Reschedule: boolean | null;
  /** Be replaced at once, whatever the reschedule policy says. */
  readonly ForceReschedule: boolean | null;
  /** End without the delays that group and tasks ask for. */
  readonly NoShutdownDelay: boolean | null;
  /** Leave the node without a replacement: batch work at the deadline of a drain. */
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
  /** What happened, such as `Started`, `Terminated` or `Not Restarting`. */
  readonly Type: string;
  /** Unix nanoseconds. */
  readonly Time: number;
  /** The text of the task, the driver or the agent, if there is one. */
  readonly Message: string;
  /** A sentence for people. */
  readonly DisplayMessage: string;
  /** The values of this event as strings, by name. */
  readonly Details: Readonly<Record<string, string>> | null;
  /** Whether the task ends as failed by it. */
  readonly FailsTask: boolean;
  /** Why the task is started again or is not. */
  readonly RestartReason: string;
  /** Why the task could not be prepared. */
  readonly SetupError: string;
  /** Why the driver could not start the task. */
  readonly DriverError: string;
  /** Of a process that ended on its own; 0 otherwise. */
  readonly ExitCode: number;
  /** Number of the signal that ended the process; 0 for none. */
  readonly Signal: number;
  /** Nanoseconds. */
  readonly KillTimeout: number;
  /** Why the task could not be killed. */
  readonly KillError: string;
  /** Why the task is ended. */
  readonly KillReason: string;
  /** Nanoseconds. */
  readonly StartDelay: number;
  /** Why an artifact could not be fetched. */
  readonly DownloadError: string;
  /** Why the agent refused the task. */
  readonly ValidationError: string;
  /** Always 0. */
  readonly DiskLimit: number;
  /** The task of the group whose failure ends this one. */
  readonly FailedSibling: string;
  /** Always empty. */
  readonly VaultError: string;
  /** Why the signal was sent. */
  readonly TaskSignalReason: string;
  /** The signal that was sent to the task. */
  readonly TaskSignal: string;
  /** What the driver reports its work. */
  readonly DriverMessage: string;
  /** Always empty. */
  readonly GenericSource: string;
}

/** How far a task of an allocation is, as its node's agent reports it. */
export interface TaskState {
  /** `pending` also between two attempts; `dead` is final. */
  readonly State: 'pending' | 'running' | 'dead';
  /** Whether the task has ended by a failure for good. */
  readonly Failed: boolean;
  /** How often the task was started again in this allocation. */
  readonly Restarts: number;
  /** RFC 3339, or null while it has not happened. */
  readonly LastRestart: string | null;
  /** Start of the present or last attempt, RFC 3339; null before the first one. */
  readonly StartedAt: string | null;
  /** When the task ended for good, RFC 3339; null while it has not. */
  readonly FinishedAt: string | null;
  /** The last ten. */
  readonly Events: readonly TaskEvent[] | null;
  /** Always empty: schedules of tasks are refused here. */
  readonly Paused: string;
}

/** A change of an allocation that the scheduler made for its node. */
export interface AllocationStateChange {
  /** 0: the client status. */
  readonly Field: 0;
  /** The new client status. */
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
  /** It was placed beside those of the older version, to be checked before they are replaced. */
  readonly Canary: boolean;
  /** Index of the write that last changed the health. */
  readonly ModifyIndex: number;
}

/** One replacement of a failed allocation. */
export interface RescheduleEvent {
  /** Unix nanoseconds. */
  readonly RescheduleTime: number;
  /** ID of the allocation that was replaced. */
  readonly PrevAllocID: string;
  /** The node on which that one failed. */
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

/** The address of an allocation whose network is a separate namespace; empty for one of the host's network, which all are here. */
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
  /** A UUID. */
  readonly ID: string;
  readonly Namespace: string;
  /** The evaluation that last changed it. */
  readonly EvalID: string;
  /** `<job>.<group>[<index>]`. */
  readonly Name: string;
  /** The node that it runs on; it never moves to another. */
  readonly NodeID: string;
  /** The node's name at the time of the placement. */
  readonly NodeName: string;
  readonly JobID: string;
  readonly JobType: string;
  /** The version of the job that it runs. An update in place raises it. */
  readonly JobVersion: number;
  /** CreateIndex of the registration that it belongs to: a job registered again after a purge is another one. */
  readonly JobCreateIndex: number;
  /** Priority of the job version that it runs; absent in rows written before it was kept. */
  readonly JobPriority?: number;
  /** How many of its group may be preempted before others are preferred (migrate block); absent: any number. */
  readonly MigrateParallel?: number;
  /** The name of its group. */
  readonly TaskGroup: string;
  /** What it got of the node. */
  readonly AllocatedResources: AllocatedResources;
  /** How its node was chosen. */
  readonly Metrics: AllocationMetric;
  /** What the scheduler wants of it. */
  readonly DesiredStatus: DesiredStatus;
  /** Why the scheduler wants that, for people. */
  readonly DesiredDescription?: string;
  /** What operators, drains and deployments ask of the scheduler. */
  readonly DesiredTransition: DesiredTransition;
  /** How far it is on its node. */
  readonly ClientStatus: ClientStatus;
  /** The client status as a sentence. */
  readonly ClientDescription?: string;
  /** The last lines of the task that made it fail, for alerts; not shown with the allocation. */
  readonly FailureOutput?: { readonly task: string; readonly text: string };
  /** By name of the task; absent before the first report. */
  readonly TaskStates?: Readonly<Record<string, TaskState>>;
  /** Oldest first. */
  readonly AllocStates?: readonly AllocationStateChange[];
  /** ID of the allocation that it replaces. */
  readonly PreviousAllocation?: string;
  /** ID of the allocation that replaces it. */
  readonly NextAllocation?: string;
  /** The deployment that placed it or updated it. */
  readonly DeploymentID?: string;
  /** Its health for that deployment; absent outside of one. */
  readonly DeploymentStatus?: AllocationDeploymentStatus;
  /** The replacements that led to it; absent when there were none. */
  readonly RescheduleTracker?: RescheduleTracker;
  /** Not stored here: whole allocations are shown with an empty one from their first report on. */
  readonly NetworkStatus?: AllocationNetworkStatus;
  /** The evaluation that will replace it later, when its reschedule delay or the time of its disconnected node is over. */
  readonly FollowupEvalID?: string;
  /** IDs of the allocations whose place it took. */
  readonly PreemptedAllocations?: readonly string[];
  /** ID of the allocation that took its place. */
  readonly PreemptedByAllocation?: string;
  /** Index of the write that placed it. */
  readonly CreateIndex: number;
  /** Index of its last change, by the scheduler or by a report. */
  readonly ModifyIndex: number;
  /** Rises with the scheduler's changes only, not with the node's reports. */
  readonly AllocModifyIndex: number;
  /** Unix nanoseconds. */
  readonly CreateTime: number;
  /** When it was last changed, in Unix nanoseconds. */
  readonly ModifyTime: number;
}

export const allocations = table<Allocation>('allocations', (allocation) => [allocation.ID], {
  by_job: { version: 1, key: (allocation) => [allocation.Namespace, allocation.JobID, allocation.ID] },
  /** Those that keep their job running, by the version of it that they run. */
  live_by_job: {
    version: 2,
    key: (allocation) =>
      isTerminalAllocation(allocation)
        ? undefined
        : [allocation.Namespace, allocation.JobID, allocation.JobVersion, allocation.ID],
  },
  /**
   * Those that decisions about their job depend on: `open` ones, which their nodes have not finished with, and ended ones that were not
   * replaced, the newest version first. Replaced ones, and stopped allocations of services, are not among them.
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
  /** Those of deployments whose health is known: `failing` ones, and `healthy` ones, of which the one that became healthy last comes first. */
  by_health: {
    version: 1,
    key: (allocation) => {
      const { DeploymentID, DeploymentStatus: status, ID } = allocation;
      if (!DeploymentID) return undefined;
      if (isFailing(allocation)) return [DeploymentID, 'failing', ID];
      return status?.Healthy === true ? [DeploymentID, 'healthy', -status.ModifyIndex, ID] : undefined;
    },
  },
  by_create: { version: 2, key: (allocation) => [allocation.CreateIndex, allocation.ID] },
  /** What has changed since a write. */
  by_modify: { version: 1, key: (allocation) => [allocation.ModifyIndex] },
  by_namespace: { version: 2, key: (allocation) => [allocation.Namespace, allocation.CreateIndex, allocation.ID] },
  /** Those whose node has not finished with them, by job: they use its resources, and its agent has to handle them. */
  open_by_node: {
    version: 2,
    key: (allocation) =>
      isClientTerminal(allocation)
        ? undefined
        : [allocation.NodeID, allocation.Namespace, allocation.JobID, allocation.ID],
  },
  /** Those whose node is out of reach. */
  unknown_by_node: {
    version: 1,
    key: ({ ClientStatus, NodeID, Namespace, JobID }) =>
      ClientStatus === 'unknown' ? [NodeID, Namespace, JobID] : undefined,
  },
  /** Live ones that their job waits for. */
  unknown_by_job: {
    version: 1,
    key: (allocation) =>
      allocation.ClientStatus === 'unknown' && !isTerminalAllocation(allocation)
        ? [allocation.Namespace, allocation.JobID]
        : undefined,
  },
  /** Live ones that an evaluation for a later time will consider, by its ID. */
  by_follow_up: {
    version: 1,
    key: (allocation) =>
      allocation.FollowupEvalID && !isTerminalAllocation(allocation) ? [allocation.FollowupEvalID] : undefined,
  },
});

function wasStoppedService({ JobType, DesiredStatus }: Allocation): boolean {
  return JobType === 'service' && DesiredStatus !== 'run';
}

/** Whether the node has nothing more to do for it. */
export function isClientTerminal(allocation: Pick<Allocation, 'ClientStatus'>): boolean {
  return (
    allocation.ClientStatus === 'complete' || allocation.ClientStatus === 'failed' || allocation.ClientStatus === 'lost'
  );
}

/** Unhealthy for its deployment, or failed in a group that may have none. */
export function isFailing({
  DeploymentStatus,
  ClientStatus,
}: Pick<Allocation, 'DeploymentStatus' | 'ClientStatus'>): boolean {
  return DeploymentStatus?.Healthy === false || ClientStatus === 'failed';
}

/** Stopped or evicted by the scheduler, or finished on its node (job interface, job status). */
export function isTerminalAllocation(allocation: Pick<Allocation, 'ClientStatus' | 'DesiredStatus'>): boolean {
  return allocation.DesiredStatus !== 'run' || isClientTerminal(allocation);
}
