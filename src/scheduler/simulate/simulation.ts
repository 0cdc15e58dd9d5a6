import type { Job } from '../../jobs/document/job.js';
import type { Milliseconds } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import type { Allocation } from '../allocation.js';
import type { Deployment } from '../deployment/deployment.js';
import type { Evaluation } from '../evaluation.js';
import type { Node, NodeStatus } from '../node.js';
import type { NodePool } from '../node-pool.js';
import type { SchedulerConfiguration } from '../scheduler-configuration.js';

/** The state of a cluster at the start of a simulation. */
export interface SimulatedCluster {
  /** The time at which the simulation begins. */
  readonly now: Instant;
  /** Ties between equally good nodes go to the first in this order. */
  readonly nodes: readonly Node[];
  /** As registered, with the older versions that their allocations run. */
  readonly jobs?: readonly Job[];
  /** None when absent. */
  readonly allocations?: readonly Allocation[];
  /** None when absent. */
  readonly deployments?: readonly Deployment[];
  /** Evaluations that wait for room or for a time; none when absent. */
  readonly evaluations?: readonly Evaluation[];
  /** Node pools with a configuration of the scheduler; none when absent. */
  readonly pools?: readonly NodePool[];
  /** The defaults when absent. */
  readonly configuration?: SchedulerConfiguration;
  /** Pools of all nodes; the defaults when absent. */
  readonly agents?: SimulatedAgents;
}

/** Behaviour of the nodes' agents; durations in milliseconds. */
export interface SimulatedAgents {
  /** From placement to running; 1 s unless given. */
  readonly startAfter?: Milliseconds;
  /** Duration of the work of batch and sysbatch jobs; 1 min unless given. */
  readonly workFor?: Milliseconds;
}

/** An event of the cluster at a given time. `namespace` is `default` when absent. */
export type SimulatedEvent = { readonly at: Instant } & (
  | { readonly do: 'register'; readonly job: Job }
  | { readonly do: 'stop'; readonly namespace?: string; readonly jobId: string }
  /** A node registers, or changes its description. */
  | { readonly do: 'join'; readonly node: Node }
  | { readonly do: 'status'; readonly nodeId: string; readonly status: NodeStatus }
  /** Drains the node: within `deadline` milliseconds, or without a deadline. */
  | { readonly do: 'drain'; readonly nodeId: string; readonly deadline?: Milliseconds }
  /** The live allocations of this name fail. */
  | { readonly do: 'fail'; readonly namespace?: string; readonly allocation: string }
  /** An action of a user on the deployment of a job. */
  | {
      readonly do: 'deployment';
      readonly namespace?: string;
      readonly jobId: string;
      readonly action: 'promote' | 'pause' | 'resume' | 'fail';
    }
);

/** One line of the timeline. */
export interface TimelineEntry {
  /** Virtual time. */
  readonly at: Instant;
  /** The subject of the line; `blocked` is a job that waits for room. */
  readonly kind: 'event' | 'job' | 'node' | 'allocation' | 'deployment' | 'blocked';
  /** Of the job that the line is about; absent for nodes. */
  readonly namespace?: string;
  readonly jobId?: string;
  /** Name of the node that the text names at its end, after ` on `. */
  readonly node?: string;
  /** Name of the allocation, ID of the job or node. */
  readonly subject: string;
  /** What happened, in a few words. */
  readonly text: string;
}

/** The result of `simulate`: the timeline and the final records. */
export interface Simulation {
  /** Ordered by time. */
  readonly timeline: readonly TimelineEntry[];
  /** The final records. */
  readonly jobs: readonly Job[];
  readonly nodes: readonly Node[];
  readonly allocations: readonly Allocation[];
  readonly deployments: readonly Deployment[];
  readonly evaluations: readonly Evaluation[];
  /** The end, or the time at which a simulation that takes too long was cut. */
  readonly playedUntil: Instant;
  /** Events that could not be applied, with the reason: their node or job does not exist. */
  readonly refused: readonly { readonly event: SimulatedEvent; readonly reason: string }[];
}
