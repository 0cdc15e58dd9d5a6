import type { DNSConfig } from '../jobs/document/network.js';
import { type Instant, instantFromUnixNanos } from '../shared/instant.js';
import { table } from '../shared/table.js';
import type { AllocatedResources } from './allocated-resources.js';
import type { AllocationMetric } from './allocation-metric.js';

/** The state that the scheduler wants: to run, to stop, or to make room for work of a higher priority (`evict`). */
export type DesiredStatus = 'run' | 'stop' | 'evict';
/**
 * The client status, as the node's agent reports it. The server itself sets `lost` when the node is down, and `unknown`
 * while it is disconnected.
 */
export type ClientStatus = 'pending' | 'running' | 'complete' | 'failed' | 'lost' | 'unknown';

/** Requests to the scheduler about an allocation: by operators, drains and deployments. Null and false request nothing. */
export interface DesiredTransition {
  /** Leave the node and be replaced on another one. */
  readonly Migrate: boolean | null;
  /** Be replaced: an unhealthy allocation of a deployment, or one that an operator stops so that it runs elsewhere. */
  readonly Reschedule: boolean | null;
  /** Be replaced at once, regardless of the reschedule policy. */
  readonly ForceReschedule: boolean | null;
  /** End without the shutdown delays of the group and its tasks. */
  readonly NoShutdownDelay: boolean | null;
  /** Leave the node without a replacement: batch work at a drain's deadline. */
  readonly MigrateDisablePlacement: boolean | null;
}

export const noTransition: DesiredTransition = {
  Migrate: null,
  Reschedule: null,
  ForceReschedule: null,
  NoShutdownDelay: null,
  MigrateDisablePlacement: null,
};

/** An event of a task. All members are always present; those after Details repeat it for older clients. */
export interface TaskEvent {
  /** The type, such as `Started`, `Terminated` or `Not Restarting`. */
  readonly Type: string;
  /** Unix nanoseconds. */
  readonly Time: number;
  /** The message of the task, the driver or the agent, if there is one. */
  readonly Message: string;
  /** A sentence for display. */
  readonly DisplayMessage: string;
  /** The values of this event as strings, by name. */
  readonly Details: Readonly<Record<string, string>> | null;
  /** Whether this event makes the task end as failed. */
  readonly FailsTask: boolean;
  /** Why the task is restarted or not. */
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
  /** Why the task is killed. */
  readonly KillReason: string;
  /** Nanoseconds. */
  readonly StartDelay: number;
  /** Why an artifact could not be downloaded. */
  readonly DownloadError: string;
  /** Why the agent rejected the task. */
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
  /** The driver's progress message. */
  readonly DriverMessage: string;
  /** Always empty. */
  readonly GenericSource: string;
}

/** The state of a task, as its node's agent reports it. */
export interface TaskState {
  /** `pending` also between two attempts; `dead` is final. */
  readonly State: 'pending' | 'running' | 'dead';
  /** Whether the task has failed for good. */
  readonly Failed: boolean;
  /** How often the task was restarted in this allocation. */
  readonly Restarts: number;
  /** RFC 3339; null before the first restart. */
  readonly LastRestart: string | null;
  /** Start of the current or last attempt, RFC 3339; null before the first one. */
  readonly StartedAt: string | null;
  /** When the task ended for good, RFC 3339; null before. */
  readonly FinishedAt: string | null;
  /** The ten newest events. */
  readonly Events: readonly TaskEvent[] | null;
  /** Always empty: task schedules are rejected here. */
  readonly Paused: string;
}

/** A change of an allocation that the scheduler made on behalf of its node. */
export interface AllocationStateChange {
  /** Always 0: the client status. */
  readonly Field: 0;
  /** The new client status. */
  readonly Value: string;
  /** RFC 3339. */
  readonly Time: string;
}

/** Health of an allocation for its deployment. */
export interface AllocationDeploymentStatus {
  /** Null while unknown. */
  readonly Healthy: boolean | null;
  /** When the health became known, RFC 3339; null before. */
  readonly Timestamp: string | null;
  /** Whether it is a canary: placed beside the older version, which is kept until the canaries are promoted. */
  readonly Canary: boolean;
  /** Index of the write that last changed the health. */
  readonly ModifyIndex: number;
}

/** One reschedule of a failed allocation. */
export interface RescheduleEvent {
  /** Unix nanoseconds. */
  readonly RescheduleTime: number;
  /** ID of the replaced allocation. */
  readonly PrevAllocID: string;
  /** The node on which the replaced allocation failed. */
  readonly PrevNodeID: string;
  /** Delay before the replacement, in nanoseconds. */
  readonly Delay: number;
}

/** The reschedules that led to an allocation. The reschedule policy counts them. */
export interface RescheduleTracker {
  /** Oldest first. */
  readonly Events: readonly RescheduleEvent[] | null;
  /** Whether the last attempt found a node; empty before the first one. */
  readonly LastReschedule: '' | 'ok' | 'no placement';
}

/** The address of an allocation in its own network namespace; always empty here, as all use the host's network. */
export interface AllocationNetworkStatus {
  readonly InterfaceName: string;
  readonly Address: string;
  readonly AddressIPv6: string;
  readonly DNS: DNSConfig | null;
}

/**
 * One instance of a task group on a node. The job is not embedded: `JobVersion` and `JobCreateIndex` refer to the stored
 * version, which is added when the full allocation is read. Members with an empty value are omitted, as on the wire.
 */
export interface Allocation {
  /** A UUID. */
  readonly ID: string;
  readonly Namespace: string;
  /** The evaluation that last changed the allocation. */
  readonly EvalID: string;
  /** `<job>.<group>[<index>]`. */
  readonly Name: string;
  /** The node that it runs on; an allocation never moves to another node. */
  readonly NodeID: string;
  /** The node's name when the allocation was placed. */
  readonly NodeName: string;
  readonly JobID: string;
  readonly JobType: string;
  /** The job version that it runs. An in-place update raises it. */
  readonly JobVersion: number;
  /** CreateIndex of the job's registration: registering a job again after a purge creates a different one. */
  readonly JobCreateIndex: number;
  /** Priority of the job version that it runs; absent in rows written by older releases. */
  readonly JobPriority?: number;
  /** How many allocations of its group may be preempted before others are preferred (migrate block); absent: no limit. */
  readonly MigrateParallel?: number;
  /** The name of its task group. */
  readonly TaskGroup: string;
  /** The resources assigned to it. */
  readonly AllocatedResources: AllocatedResources;
  /** How its node was chosen. */
  readonly Metrics: AllocationMetric;
  /** The status that the scheduler wants. */
  readonly DesiredStatus: DesiredStatus;
  /** Why the scheduler wants it, for display. */
  readonly DesiredDescription?: string;
  /** Requests by operators, drains and deployments. */
  readonly DesiredTransition: DesiredTransition;
  /** The status that its node reports. */
  readonly ClientStatus: ClientStatus;
  /** The client status as a sentence. */
  readonly ClientDescription?: string;
  /** The last output lines of the task that made it fail, for alerts; not part of the job interface. */
  readonly FailureOutput?: { readonly task: string; readonly text: string };
  /** By name of the task; absent before the first report. */
  readonly TaskStates?: Readonly<Record<string, TaskState>>;
  /** Oldest first. */
  readonly AllocStates?: readonly AllocationStateChange[];
  /** ID of the allocation that it replaces. */
  readonly PreviousAllocation?: string;
  /** ID of the allocation that replaces it. */
  readonly NextAllocation?: string;
  /** The deployment that placed or updated it. */
  readonly DeploymentID?: string;
  /** Its health for that deployment; absent outside a deployment. */
  readonly DeploymentStatus?: AllocationDeploymentStatus;
  /** Reschedules that led to it; absent when there were none. */
  readonly RescheduleTracker?: RescheduleTracker;
  /** Not stored here: full allocations show an empty one from their first report on. */
  readonly NetworkStatus?: AllocationNetworkStatus;
  /** The delayed evaluation that will replace it when its reschedule delay, or the wait for its disconnected node, is over. */
  readonly FollowupEvalID?: string;
  /** IDs of the allocations that it preempted. */
  readonly PreemptedAllocations?: readonly string[];
  /** ID of the allocation that preempted it. */
  readonly PreemptedByAllocation?: string;
  /** Index of the write that placed it. */
  readonly CreateIndex: number;
  /** Index of its last change, by the scheduler or by a node's report. */
  readonly ModifyIndex: number;
  /** Index of the scheduler's last change; node reports leave it unchanged. */
  readonly AllocModifyIndex: number;
  /** Unix nanoseconds. */
  readonly CreateTime: number;
  /** Time of the last change, in Unix nanoseconds. */
  readonly ModifyTime: number;
}

/** The initial state of a task: pending, without events. */
export const pendingTask: TaskState = {
  State: 'pending',
  Failed: false,
  Restarts: 0,
  LastRestart: null,
  StartedAt: null,
  FinishedAt: null,
  Events: null,
  Paused: '',
};

export const allocations = table<Allocation>('allocations', (allocation) => [allocation.ID], {
  by_job: { version: 1, key: (allocation) => [allocation.Namespace, allocation.JobID, allocation.ID] },
  /** Allocations that keep their job running, by job version. */
  live_by_job: {
    version: 2,
    key: (allocation) =>
      isTerminalAllocation(allocation)
        ? undefined
        : [allocation.Namespace, allocation.JobID, allocation.JobVersion, allocation.ID],
  },
  /**
   * Allocations that decisions about their job depend on: `open` ones, which their nodes have not finished with, and ended ones that were not
   * replaced, newest version first. Replaced allocations, and stopped allocations of services, are excluded.
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
  /** Allocations of deployments whose health is known: `failing` ones, and `healthy` ones, the most recently healthy first. */
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
  /** By modify index, to find what has changed since a write. */
  by_modify: { version: 1, key: (allocation) => [allocation.ModifyIndex] },
  by_namespace: { version: 2, key: (allocation) => [allocation.Namespace, allocation.CreateIndex, allocation.ID] },
  /** Allocations that their nodes have not finished with, by job: they use resources, and the node's agent has to handle them. */
  open_by_node: {
    version: 2,
    key: (allocation) =>
      isClientTerminal(allocation)
        ? undefined
        : [allocation.NodeID, allocation.Namespace, allocation.JobID, allocation.ID],
  },
  /** Allocations whose node is disconnected. */
  unknown_by_node: {
    version: 1,
    key: ({ ClientStatus, NodeID, Namespace, JobID }) =>
      ClientStatus === 'unknown' ? [NodeID, Namespace, JobID] : undefined,
  },
  /** Live allocations with an unknown status, by job. */
  unknown_by_job: {
    version: 1,
    key: (allocation) =>
      allocation.ClientStatus === 'unknown' && !isTerminalAllocation(allocation)
        ? [allocation.Namespace, allocation.JobID]
        : undefined,
  },
  /** Live allocations that a delayed evaluation will reconsider, by the evaluation's ID. */
  by_follow_up: {
    version: 1,
    key: (allocation) =>
      allocation.FollowupEvalID && !isTerminalAllocation(allocation) ? [allocation.FollowupEvalID] : undefined,
  },
});

function wasStoppedService({ JobType, DesiredStatus }: Allocation): boolean {
  return JobType === 'service' && DesiredStatus !== 'run';
}

/** Whether the allocation has ended on its node. */
export function isClientTerminal(allocation: Pick<Allocation, 'ClientStatus'>): boolean {
  return (
    allocation.ClientStatus === 'complete' || allocation.ClientStatus === 'failed' || allocation.ClientStatus === 'lost'
  );
}

/** Unhealthy for its deployment, or failed in a group without a deployment. */
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

/** When the first task started. The state of a task has its last start; its events have those before. */
export function firstStart(allocations: readonly Pick<Allocation, 'TaskStates'>[]): Instant | undefined {
  const tasks = allocations.flatMap(({ TaskStates }) => Object.values(TaskStates ?? {}));
  const times = tasks.flatMap(({ StartedAt, Events }) => [
    ...(StartedAt === null ? [] : [Date.parse(StartedAt)]),
    ...(Events ?? []).flatMap(({ Type, Time }) => (Type === 'Started' ? [instantFromUnixNanos(Time)] : [])),
  ]);
  return times.length === 0 ? undefined : Math.min(...times);
}
