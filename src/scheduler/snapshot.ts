import type { Job } from '../jobs/document/job.js';
import type { Allocation } from './allocation.js';
import type { Cluster } from './cluster/cluster.js';
import type { Deployment } from './deployment/deployment.js';
import type { NodePool } from './node-pool.js';
import type { SchedulerConfiguration } from './scheduler-configuration.js';

/** The state that one evaluation is decided on. */
export interface SchedulingSnapshot {
  /** The job as currently registered; undefined when it was purged. */
  readonly job: Job | undefined;
  /** The job's allocations: all that are live or that their nodes have not finished with, and those others that `affectsDecisions` selects. */
  readonly allocations: readonly Allocation[];
  /** Older job versions that its allocations run, or that a deployment deployed, by version. */
  readonly versions: ReadonlyMap<number, Job>;
  /** The job's deployments that are still kept. */
  readonly deployments: readonly Deployment[];
  /** The nodes with their usage. */
  readonly cluster: Cluster;
  /** The installation's; the pool may override it. */
  readonly configuration: SchedulerConfiguration;
  /** The pool that the job names. */
  readonly pool: NodePool | undefined;
  /** Reads an allocation of another job that is about to be preempted. */
  readonly readAllocation: (id: string) => Allocation | undefined;
  /** The index of the write that will hold the result. */
  readonly index: number;
  /** Reads a stopwatch, in nanoseconds, to measure decisions for metrics; absent if they are not measured. */
  readonly stopwatch?: (() => number) | undefined;
}

/**
 * Whether decisions depend on an ended allocation: it waits for its replacement, or is completed work of the job's current
 * version, which is not repeated.
 */
export function affectsDecisions(allocation: Allocation, job: Pick<Job, 'Version' | 'CreateIndex'>): boolean {
  if (allocation.JobCreateIndex !== job.CreateIndex) return false;
  if (allocation.NextAllocation) return false;
  return allocation.JobVersion === job.Version || allocation.DesiredStatus === 'run';
}
