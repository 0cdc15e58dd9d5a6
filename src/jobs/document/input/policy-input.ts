// Made by `renderJobInputTypes` from the tables in `src/jobs`. Do not edit.

import type { DurationInput } from '../duration-input.js';
import type { JsonValue } from '../fields/field-table.js';

/**
 * How a changed group is replaced: a rolling update, with canaries and automatic rollback on request. The block
 * `update` of a job specification.
 */
export interface UpdateStrategyInput {
  /** @deprecated Has no effect any more. A string such as `30s`, or nanoseconds. Default: `30s`. */
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
  /** Goes back to the last stable version when the deployment fails. Default: `false`. */
  readonly AutoRevert?: boolean | null;
  /** Promotes canaries as soon as all are healthy. Default: `false`. */
  readonly AutoPromote?: boolean | null;
  /** How many allocations of the new version run beside the old ones until they are promoted. Default: `0`. */
  readonly Canary?: number | null;
}

/** How allocations leave a node that is drained. The block `migrate` of a job specification. */
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
  /** What is scaled. Namespace, job, group and task are filled in. */
  readonly Target?: { readonly [name: string]: string } | null;
  /** The policy, as the autoscaler reads it. */
  readonly Policy?: { readonly [name: string]: JsonValue } | null;
  /** The least value; the count of the group when left out. Default: `1`. */
  readonly Min?: number | null;
  /** The greatest value. Needed. */
  readonly Max?: number | null;
  /** Whether the autoscaler may change the value. Default: `true`. */
  readonly Enabled?: boolean | null;
  /** Set by the server; ignored in a submission. */
  readonly CreateIndex?: number | null;
  /** Set by the server; ignored in a submission. */
  readonly ModifyIndex?: number | null;
}

/** How often a failed task is started again on its node. The block `restart` of a job specification. */
export interface RestartPolicyInput {
  /**
   * How many restarts within the interval. 2 for service and system jobs, 3 for batch and sysbatch jobs when left
   * out. Default: `2`.
   */
  readonly Attempts?: number | null;
  /**
   * The time in which restarts are counted. 30 minutes or 24 hours when left out. A string such as `30s`, or
   * nanoseconds. Default: `30m0s`.
   */
  readonly Interval?: DurationInput | null;
  /**
   * How long a restart waits, with up to a quarter more by chance. A string such as `30s`, or nanoseconds. Default:
   * `15s`.
   */
  readonly Delay?: DurationInput | null;
  /**
   * What happens when there are no attempts left: `fail` the allocation, or `delay` until the interval is over.
   * Default: `fail`.
   */
  readonly Mode?: 'fail' | 'delay' | null;
  /** Renders the templates anew before a restart. Default: `false`. */
  readonly RenderTemplates?: boolean | null;
}

/** What happens to allocations on a node that is out of reach. The block `disconnect` of a job specification. */
export interface DisconnectStrategyInput {
  /** How long an allocation is waited for before it counts as lost. A string such as `30s`, or nanoseconds. */
  readonly LostAfter?: DurationInput | null;
  /** How long a node that is out of reach lets the allocation run. A string such as `30s`, or nanoseconds. */
  readonly StopOnClientAfter?: DurationInput | null;
  /** Whether another allocation runs in its place meanwhile. Default: `true`. */
  readonly Replace?: boolean | null;
  /**
   * Which one stays when the node is back: `best_score`, `longest_running`, `keep_original` or `keep_replacement`.
   * Default: `best_score`.
   */
  readonly Reconcile?: 'best_score' | 'longest_running' | 'keep_original' | 'keep_replacement' | null;
}

/** When a failing check restarts the task. The block `check_restart` of a job specification. */
export interface CheckRestartInput {
  /** After how many failed checks in a row the task is restarted. 0 is never. */
  readonly Limit?: number | null;
  /** How long checks do not count after the task started. A string such as `30s`, or nanoseconds. Default: `1s`. */
  readonly Grace?: DurationInput | null;
  /** Counts a warning as passing. */
  readonly IgnoreWarnings?: boolean | null;
}

/** Service catalogue settings. The block `consul` of a job specification. */
export interface ConsulInput {
  /** The namespace of the catalogue. */
  readonly Namespace?: string | null;
  /** The cluster of the catalogue. Only `default` is available here. Default: `default`. */
  readonly Cluster?: string | null;
  /** The partition that a node must be in. */
  readonly Partition?: string | null;
}

/** Disk that the tasks of the group share. The block `ephemeral_disk` of a job specification. */
export interface EphemeralDiskInput {
  /**
   * Prefers the node that the replaced allocation was on, and there gives its `alloc/data` and each `local` folder
   * to the replacement. Default: `false`.
   */
  readonly Sticky?: boolean | null;
  /** MB that are set aside for the allocation, logs included. At least 10. Default: `300`. */
  readonly SizeMB?: number | null;
  /**
   * As `Sticky`, on the same node. Data is not copied to another node, where the disk is empty: use a volume.
   * Default: `false`.
   */
  readonly Migrate?: boolean | null;
}

/**
 * How often a failed allocation is placed anew, perhaps on another node. The block `reschedule` of a job
 * specification.
 */
export interface ReschedulePolicyInput {
  /** How many new placements within the interval, when they are not unlimited. Default: `0`. */
  readonly Attempts?: number | null;
  /** The time in which placements are counted. A string such as `30s`, or nanoseconds. Default: `0s`. */
  readonly Interval?: DurationInput | null;
  /**
   * How long the first new placement waits; at least 5 seconds. A string such as `30s`, or nanoseconds. Default:
   * `30s`.
   */
  readonly Delay?: DurationInput | null;
  /** How the delay grows: `constant`, `exponential` or `fibonacci`. Default: `exponential`. */
  readonly DelayFunction?: 'constant' | 'exponential' | 'fibonacci' | null;
  /** The longest delay. A string such as `30s`, or nanoseconds. Default: `1h0m0s`. */
  readonly MaxDelay?: DurationInput | null;
  /** Places the allocation anew for as long as it fails. Default: `true`. */
  readonly Unlimited?: boolean | null;
}
