import type { Nanoseconds } from './document-values.js';
import type { FreeForm } from './fields/field-table.js';

/** How a changed group is replaced by a rolling update. The stored form of `UpdateStrategyInput`, which describes the fields. */
export interface UpdateStrategy {
  readonly Stagger: Nanoseconds;
  readonly MaxParallel: number;
  readonly HealthCheck: string;
  readonly MinHealthyTime: Nanoseconds;
  readonly HealthyDeadline: Nanoseconds;
  readonly ProgressDeadline: Nanoseconds;
  readonly AutoRevert: boolean;
  readonly AutoPromote: boolean;
  readonly Canary: number;
}

/** How allocations leave a draining node. The stored form of `MigrateStrategyInput`, which describes the fields. */
export interface MigrateStrategy {
  readonly MaxParallel: number;
  readonly HealthCheck: string;
  readonly MinHealthyTime: Nanoseconds;
  readonly HealthyDeadline: Nanoseconds;
}

/** How often a failed task is restarted on its node. The stored form of `RestartPolicyInput`, which describes the fields. */
export interface RestartPolicy {
  readonly Attempts: number;
  readonly Interval: Nanoseconds;
  readonly Delay: Nanoseconds;
  readonly Mode: string;
  readonly RenderTemplates: boolean;
}

/** How often a failed allocation is replaced. The stored form of `ReschedulePolicyInput`, which describes the fields. */
export interface ReschedulePolicy {
  readonly Attempts: number;
  readonly Interval: Nanoseconds;
  readonly Delay: Nanoseconds;
  readonly DelayFunction: string;
  readonly MaxDelay: Nanoseconds;
  readonly Unlimited: boolean;
}

/**
 * What happens to allocations on a node that is out of reach. The stored form of `DisconnectStrategyInput`, which describes the
 * fields.
 */
export interface DisconnectStrategy {
  readonly LostAfter: Nanoseconds;
  readonly StopOnClientAfter: Nanoseconds | null;
  readonly Replace: boolean | null;
  readonly Reconcile: string;
}

/**
 * Bounds for the count (or the resources) and the free-form policy of an autoscaler. The stored form of `ScalingPolicyInput`,
 * which describes the fields.
 */
export interface ScalingPolicy {
  readonly ID: string;
  readonly Type: string;
  readonly Target: Readonly<Record<string, string>> | null;
  readonly Policy: FreeForm | null;
  readonly Min: number;
  readonly Max: number;
  readonly Enabled: boolean;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

/** Service catalogue settings of a group or task. The stored form of `ConsulInput`, which describes the fields. */
export interface ConsulBlock {
  readonly Namespace: string;
  readonly Cluster: string;
  readonly Partition: string;
}
