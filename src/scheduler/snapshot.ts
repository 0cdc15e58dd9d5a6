import type { Job } from '../jobs/document/job.js';
import type { Allocation } from './allocation.js';
import type { Cluster } from './cluster/cluster.js';
import type { Deployment } from './deployment/deployment.js';
import type { NodePool } from './node-pool.js';
import type { SchedulerConfiguration } from './scheduler-configuration.js';

/** What one evaluation is decided on. */
export interface SchedulingSnapshot {
  /** The job as registered now; undefined when it was purged. */
  readonly job: Job | undefined;
  /** The job's allocations: all that live or that their nodes have not finished with, and of the others those that `isRemembered` names. */
  readonly allocations: readonly Allocation[];
  /** Older versions of the job that its allocations run, or that a deployment brought out, by version. */
  readonly versions: ReadonlyMap<number, Job>;
  /** Those of the job that are still kept. */
  readonly deployments: readonly Deployment[];
  /** The nodes, with what is used of them. */
  readonly cluster: Cluster;
  /** Of the installation; the pool may differ. */
  readonly configuration: SchedulerConfiguration;
  /** The pool that the job names. */
  readonly pool: NodePool | undefined;
  /** Reads an allocation of another job, which is about to be preempted. */
  readonly readAllocation: (id: string) => Allocation | undefined;
  /** The index of the write that will hold the result. */
  readonly index: number;
  /** Reads a stopwatch, in nanoseconds, for metrics of the duration of decisions; absent if they are not measured. */
  readonly stopwatch?: (() => number) | undefined;
}

/**
 * Whether decisions depend on an allocation although it has ended: it waits for its replacement, or is finished work of the job's present
 * version, which is not done again.
 */
export function isRemembered(allocation: Allocation, job: Pick<Job, 'Version' | 'CreateIndex'>): boolean {
  if (allocation.JobCreateIndex !== job.CreateIndex) return false;
  if (allocation.NextAllocation) return false;
  return allocation.JobVersion === job.Version || allocation.DesiredStatus === 'run';
}
