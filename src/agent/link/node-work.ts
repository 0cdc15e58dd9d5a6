import type { Job } from '../../jobs/document/job.js';
import type { Allocation } from '../../scheduler/allocation.js';
import type { Node } from '../../scheduler/node.js';
import type { Milliseconds } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import type { ToldState } from '../allocation/client-status.js';

/** A node as its agent describes it; the server adds status and indexes. */
export type NodeDescription = Omit<
  Node,
  'Status' | 'StatusDescription' | 'StatusUpdatedAt' | 'CreateIndex' | 'ModifyIndex'
>;

/** The answer of the server to the registration of a node. */
export interface RegisteredNode {
  /** Index of the write. */
  readonly index: number;
  /** How long the node may stay silent. */
  readonly heartbeatTtl: Milliseconds;
}

/** One allocation that the node has not finished with, and the job version that it runs. */
export interface NodeWork {
  /** As the server has it. */
  readonly allocation: Allocation;
  /** Undefined when the version is no longer kept: the allocation must end. */
  readonly job: Job | undefined;
}

/** What an agent has to handle, or what has changed of it. */
export interface NodeWorkList {
  /** The index to give in the next request, which waits for a change after it. */
  readonly index: number;
  /** Whether this is everything: an allocation that is not listed must end. */
  readonly complete: boolean;
  /** New or changed by the server. */
  readonly work: readonly NodeWork[];
  /** Allocations that the server no longer has: they end, and need not be reported. */
  readonly gone: readonly string[];
  /** Ended allocations of the node were removed: the agent may ask which of those that it keeps are known. Absent as false. */
  readonly collected?: boolean;
  /** The wall time of the server when it answered: ages of what it has made are counted on its clock. Absent from older servers. */
  readonly now?: Instant;
}

/** The report of a node's agent about one allocation. */
export interface AllocationReport extends ToldState {
  readonly allocationId: string;
  /**
   * Health for the allocation's deployment: null while the node measures it; absent where it does not, as when the states of the
   * tasks decide: then the engine goes by these (`measureHealth`).
   */
  readonly healthy?: boolean | null;
  /** With the end of an allocation that failed or took too long, for alerts; absent from older agents. */
  readonly output?: FailureOutput;
}

/** The last lines of a task's output, without values of variables; see `outputTail`. */
export interface FailureOutput {
  readonly task: string;
  readonly text: string;
}

/** The states of allocations on one node, as its agent sees them. */
export interface NodeReport {
  readonly nodeId: string;
  /** Which process reports; absent for agents that do not say. */
  readonly instance?: string | undefined;
  /** One for each allocation of which something changed. */
  readonly reports: readonly AllocationReport[];
  /** Those of the allocations listed as `gone` of which nothing is left on the node. */
  readonly ended?: readonly string[];
  /** Ended allocations whose folders are still there: the answer says which of them the server does not know any more. */
  readonly kept?: readonly string[];
}

/** The answer of the server to a report, which is durable by then. */
export interface ReportOutcome {
  /** Index of the write. */
  readonly index: number;
  /** Allocations of the reports and of those kept that the server does not know on this node (any more): the agent ends and removes them. */
  readonly unknown: readonly string[];
}
