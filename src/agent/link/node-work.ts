import type { Job } from '../../jobs/document/job.js';
import type { Allocation } from '../../scheduler/allocation.js';
import type { Node } from '../../scheduler/node.js';
import type { Milliseconds } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import type { VariableName, VariableRead } from '../../templates/index.js';
import type { ToldState } from '../allocation/client-status.js';

/** A node as its agent describes it; the server adds the status and the indexes. */
export type NodeDescription = Omit<
  Node,
  'Status' | 'StatusDescription' | 'StatusUpdatedAt' | 'CreateIndex' | 'ModifyIndex'
>;

/** The server's response to a node's registration. */
export interface RegisteredNode {
  /** Index of the write. */
  readonly index: number;
  /** Time to live in milliseconds: how long the node may stay silent. */
  readonly heartbeatTtl: Milliseconds;
}

/** One allocation that the node has not finished with, and its job version. */
export interface NodeWork {
  /** As the server stores it. */
  readonly allocation: Allocation;
  /** Undefined when the version has been removed: the allocation must end. */
  readonly job: Job | undefined;
}

/** The allocations that an agent has to handle, or the changes since its last request. */
export interface NodeWorkList {
  /** The index for the next request, which waits for a later change. */
  readonly index: number;
  /** Whether the list is complete: an unlisted allocation must end. */
  readonly complete: boolean;
  /** New or changed by the server. */
  readonly work: readonly NodeWork[];
  /** Allocations that the server no longer has: they end without a report. */
  readonly gone: readonly string[];
  /** Whether ended allocations of the node were removed: the agent may ask which of its kept ones still exist. Absent means false. */
  readonly collected?: boolean;
  /** The server's wall time of the response: ages of records are measured on its clock. Absent from older servers. */
  readonly now?: Instant;
}

/** An agent's report about one allocation. */
export interface AllocationReport extends ToldState {
  readonly allocationId: string;
  /**
   * Health for the allocation's deployment: null while the node measures it; absent where it does not and the task
   * states decide (`measureHealth`).
   */
  readonly healthy?: boolean | null;
  /** Sent at the end of an allocation that failed or timed out, for alerts; absent from older agents. */
  readonly output?: FailureOutput;
}

/** The last lines of a task's output, with values of variables masked; see `outputTail`. */
export interface FailureOutput {
  readonly task: string;
  readonly text: string;
}

/** The states of a node's allocations, as its agent sees them. */
export interface NodeReport {
  readonly nodeId: string;
  /** The reporting process; absent for agents that do not identify it. */
  readonly instance?: string | undefined;
  /** One for each changed allocation. */
  readonly reports: readonly AllocationReport[];
  /** Allocations listed as `gone` that the node has removed completely. */
  readonly ended?: readonly string[];
  /** Ended allocations whose folders still exist: the response lists those that the server no longer has. */
  readonly kept?: readonly string[];
}

/** The server's response to a report, sent once the report is durable. */
export interface ReportOutcome {
  /** Index of the write. */
  readonly index: number;
  /** Reported or kept allocations that the server does not have on this node (any more): the agent ends and removes them. */
  readonly unknown: readonly string[];
}

/**
 * The process that acts as a node's agent. The server accepts calls for a node from one process at a time, so that nothing runs twice
 * when two agents have the same node ID.
 */
export interface AgentProcess {
  /** A new value for each start of an agent. */
  readonly instance: string;
  /**
   * A secret shared by the processes of one folder, replaced in a copy of the folder. Only one process at a time holds a folder, so a new one
   * replaces the previous one and may continue at once. Absent without a folder.
   */
  readonly folder?: string;
  /** Boot ID of the host. Over a network only processes of the same boot count as those of one folder, because host images are copied, too. */
  readonly boot?: string;
}

/** A query for the variables that a task's templates read. */
export interface TaskVariablesQuery {
  readonly nodeId: string;
  /** The requesting process; absent for agents that do not identify it. */
  readonly instance?: string | undefined;
  /** An allocation of this node. */
  readonly allocationId: string;
  readonly task: string;
  /** At most 1,000, and as many prefixes. */
  readonly variables: readonly VariableRead[];
  /** Path prefixes whose variables are listed. */
  readonly prefixes: readonly VariableRead[];
  /** The version of the previous response to the same query: the next response waits for a change. Null: respond at once. */
  readonly known: string | null;
}

/** The variables that the task may currently read. If the caller has this version already, both lists are empty. */
export interface TaskVariables {
  /** Changes with any of the following members. */
  readonly version: string;
  /** In the order of the query; null for a variable that does not exist or that the task may not read. */
  readonly items: readonly (Readonly<Record<string, string>> | null)[];
  /** The names of the variables below each prefix, in the order of the query. */
  readonly lists: readonly (readonly VariableName[])[];
}

/** The maximum number of variables, and of prefixes, in one query. */
export const MAX_TASK_READS = 1000;

/** The maximum number of names in one list. */
export const MAX_LISTED_VARIABLES = 10_000;
