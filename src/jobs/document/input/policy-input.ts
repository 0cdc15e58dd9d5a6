// Made by `renderJobInputTypes` from the tables in `src/jobs`. Do not edit.

import type { DurationInput } from '../duration-input.js';
import type { JsonValue } from '../fields/field-table.js';

/**
 * How a changed group is replaced: a rolling update, with canaries and automatic rollback on request. The block
 * `update` of a job specification.
 */
export interface UpdateStrategyInput {
  /** @deprecated Has no effect. A string such as `30s`, or nanoseconds. Default: `30s`. */
  readonly Stagger?: DurationInput | null;
  /** How many allocations are replaced at the same time. 0 replaces all at once, without a deployment. Default: `1`. */
  readonly MaxParallel?: number | null;
  /** What makes an allocation healthy: `checks` of its services, `task_states`, or `manual`. Default: `checks`. */
  readonly HealthCheck?: 'checks' | 'task_states' | 'manual' | null;
  /**
   * How long an allocation must be healthy before the next one is replaced. A string such as `30s`, or nanoseconds.
   * Default: `10s`.
   */
  readonly MinHealthyTime?: DurationInput | null;
  /** How long an allocation may take to become healthy. A string such as `30s`, or nanoseconds. Default: `5m0s`. */
  readonly HealthyDeadline?: DurationInput | null;
  /**
   * How long a deployment may go without a newly healthy allocation. 0 fails it with the first unhealthy one. A
   * string such as `30s`, or nanoseconds. Default: `10m0s`.
   */
  readonly ProgressDeadline?: DurationInput | null;
  /** Reverts to the last stable version when the deployment fails. Default: `false`. */
  readonly AutoRevert?: boolean | null;
  /** Promotes canaries as soon as all are healthy. Default: `false`. */
  readonly AutoPromote?: boolean | null;
  /** How many allocations of the new version run beside the old ones until they are promoted. Default: `0`. */
  readonly Canary?: number | null;
}

/** How allocations leave a draining node. The block `migrate` of a job specification. */
export interface MigrateStrategyInput {
  /** How many allocations are moved at the same time. Default: `1`. */
  readonly MaxParallel?: number | null;
  /** What makes a moved allocation healthy: `checks` or `task_states`. Default: `checks`. */
  readonly HealthCheck?: 'checks' | 'task_states' | null;
  /**
   * How long it must be healthy before the next one is moved. A string such as `30s`, or nanoseconds. Default:
   * `10s`.
   */
  readonly MinHealthyTime?: DurationInput | null;
  /** How long it may take to become healthy. A string such as `30s`, or nanoseconds. Default: `5m0s`. */
  readonly HealthyDeadline?: DurationInput | null;
}

/**
 * In `task`: Bounds for one resource of the task (`cpu` or `mem`), and a policy for an autoscaler. In `group`:
 * Bounds for the group's count, and a policy for an autoscaler. The block `scaling` of a job specification.
 */
export interface ScalingPolicyInput {
  /** Set by the server; ignored in a submission. */
  readonly ID?: string | null;
  /** `horizontal` for the count of a group; `vertical_cpu` or `vertical_mem` for a task. Default: `horizontal`. */
  readonly Type?: 'horizontal' | 'vertical_cpu' | 'vertical_mem' | null;
  /** @deprecated Ignored. */
  readonly Namespace?: string | null;
  /** The scaled object. The server fills in namespace, job, group and task. */
  readonly Target?: { readonly [name: string]: string } | null;
  /** The policy for the autoscaler. */
  readonly Policy?: { readonly [name: string]: JsonValue } | null;
  /** The smallest value; the count of the group when left out. Default: `1`. */
  readonly Min?: number | null;
  /** The largest value. Required. */
  readonly Max?: number | null;
  /** Whether the autoscaler may change the value. Default: `true`. */
  readonly Enabled?: boolean | null;
  /** Set by the server; ignored in a submission. */
  readonly CreateIndex?: number | null;
  /** Set by the server; ignored in a submission. */
  readonly ModifyIndex?: number | null;
}

/** How often a failed task is restarted on its node. The block `restart` of a job specification. */
export interface RestartPolicyInput {
  /**
   * The number of restarts within the interval. When left out, 2 for service and system jobs, 3 for batch and
   * sysbatch jobs. Default: `2`.
   */
  readonly Attempts?: number | null;
  /**
   * The time in which restarts are counted. 30 minutes or 24 hours when left out. A string such as `30s`, or
   * nanoseconds. Default: `30m0s`.
   */
  readonly Interval?: DurationInput | null;
  /**
   * The delay before a restart, plus up to a quarter at random. A string such as `30s`, or nanoseconds. Default:
   * `15s`.
   */
  readonly Delay?: DurationInput | null;
  /**
   * What happens when no attempts are left: `fail` the allocation, or `delay` until the interval is over. Default:
   * `fail`.
   */
  readonly Mode?: 'fail' | 'delay' | null;
  /** Renders the templates again before a restart. Default: `false`. */
  readonly RenderTemplates?: boolean | null;
}

/** What happens to allocations on a disconnected node. The block `disconnect` of a job specification. */
export interface DisconnectStrategyInput {
  /**
   * How long a disconnected allocation may take to return before it is lost. A string such as `30s`, or
   * nanoseconds.
   */
  readonly LostAfter?: DurationInput | null;
  /** How long a disconnected node keeps the allocation running. A string such as `30s`, or nanoseconds. */
  readonly StopOnClientAfter?: DurationInput | null;
  /** Whether a replacement runs in the meantime. Default: `true`. */
  readonly Replace?: boolean | null;
  /**
   * Which one is kept when the node returns: `best_score`, `longest_running`, `keep_original` or
   * `keep_replacement`. Default: `best_score`.
   */
  readonly Reconcile?: 'best_score' | 'longest_running' | 'keep_original' | 'keep_replacement' | null;
}

/** When a failing check restarts the task. The block `check_restart` of a job specification. */
export interface CheckRestartInput {
  /** The number of consecutive failed checks after which the task is restarted; 0 disables restarts. */
  readonly Limit?: number | null;
  /** How long checks are ignored after the start of the task. A string such as `30s`, or nanoseconds. Default: `1s`. */
  readonly Grace?: DurationInput | null;
  /** Counts a warning as passing. */
  readonly IgnoreWarnings?: boolean | null;
}

/** Settings for the service catalogue Consul. The block `consul` of a job specification. */
export interface ConsulInput {
  /** The namespace of the catalogue. */
  readonly Namespace?: string | null;
  /** The cluster of the catalogue. Only `default` is supported. Default: `default`. */
  readonly Cluster?: string | null;
  /** The partition that a node must be in. */
  readonly Partition?: string | null;
}

/** The disk that the tasks of the group share. The block `ephemeral_disk` of a job specification. */
export interface EphemeralDiskInput {
  /**
   * Prefers the node of the replaced allocation; on it, the replacement gets its `alloc/data` and each `local`
   * folder. Default: `false`.
   */
  readonly Sticky?: boolean | null;
  /**
   * MB reserved for the allocation, including logs; at least 10, and 0 for functions. Without the block, a group
   * that has functions only reserves none. Default: `300`.
   */
  readonly SizeMB?: number | null;
  /**
   * Like `Sticky`, on the same node only. On another node the disk is empty, since data is not copied: use a
   * volume. Default: `false`.
   */
  readonly Migrate?: boolean | null;
}

/**
 * How often a failed allocation is replaced, possibly on another node. The block `reschedule` of a job
 * specification.
 */
export interface ReschedulePolicyInput {
  /** The number of replacements within the interval, unless unlimited. Default: `0`. */
  readonly Attempts?: number | null;
  /** The time in which replacements are counted. A string such as `30s`, or nanoseconds. Default: `0s`. */
  readonly Interval?: DurationInput | null;
  /**
   * How long the first replacement waits; at least 5 seconds. A string such as `30s`, or nanoseconds. Default:
   * `30s`.
   */
  readonly Delay?: DurationInput | null;
  /** How the delay grows: `constant`, `exponential` or `fibonacci`. Default: `exponential`. */
  readonly DelayFunction?: 'constant' | 'exponential' | 'fibonacci' | null;
  /** The longest delay. A string such as `30s`, or nanoseconds. Default: `1h0m0s`. */
  readonly MaxDelay?: DurationInput | null;
  /** Replaces the allocation as often as it fails. Default: `true`. */
  readonly Unlimited?: boolean | null;
}
