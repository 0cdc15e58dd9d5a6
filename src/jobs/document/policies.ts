import type { Nanoseconds } from './document-values.js';
import {
  block,
  durationOrNull,
  type FreeForm,
  flag,
  flagOrNull,
  freeForm,
  inputOnly,
  integer,
  integerOf,
  integerOrNull,
  keptNull,
  oneOf,
  oneOfOrNull,
  reset,
  storedUnset,
  stringMap,
  text,
  uint64,
} from './field-table.js';

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

export const updateBlock = block('UpdateStrategy', {
  Stagger: durationOrNull,
  MaxParallel: integerOrNull,
  HealthCheck: oneOfOrNull('checks', 'task_states', 'manual'),
  MinHealthyTime: durationOrNull,
  HealthyDeadline: durationOrNull,
  ProgressDeadline: durationOrNull,
  AutoRevert: flagOrNull,
  AutoPromote: flagOrNull,
  Canary: integerOrNull,
});

export const migrateBlock = block('MigrateStrategy', {
  MaxParallel: integerOrNull,
  HealthCheck: oneOfOrNull('checks', 'task_states'),
  MinHealthyTime: durationOrNull,
  HealthyDeadline: durationOrNull,
});

export const restartBlock = block('RestartPolicy', {
  Attempts: integerOrNull,
  Interval: durationOrNull,
  Delay: durationOrNull,
  Mode: oneOfOrNull('fail', 'delay'),
  RenderTemplates: flagOrNull,
});

export const rescheduleBlock = block('ReschedulePolicy', {
  Attempts: integerOrNull,
  Interval: durationOrNull,
  Delay: durationOrNull,
  DelayFunction: oneOfOrNull('constant', 'exponential', 'fibonacci'),
  MaxDelay: durationOrNull,
  Unlimited: flagOrNull,
});

export const disconnectBlock = block('DisconnectStrategy', {
  LostAfter: durationOrNull,
  StopOnClientAfter: keptNull(durationOrNull),
  Replace: keptNull(flagOrNull),
  Reconcile: oneOfOrNull('best_score', 'longest_running', 'keep_original', 'keep_replacement'),
});

export const ephemeralDiskBlock = block('EphemeralDisk', {
  Sticky: flagOrNull,
  SizeMB: integerOrNull,
  Migrate: flagOrNull,
});

export const scalingBlock = block('ScalingPolicy', {
  ID: reset(text),
  Type: oneOf('horizontal', 'vertical_cpu', 'vertical_mem'),
  Namespace: inputOnly(text),
  Target: stringMap,
  Policy: freeForm,
  Min: integerOrNull,
  // A policy without a maximum is refused, so the stored form needs a value that no author would write.
  Max: storedUnset(integerOrNull, -1),
  Enabled: storedUnset(flagOrNull, true),
  CreateIndex: reset(integerOf(uint64)),
  ModifyIndex: reset(integerOf(uint64)),
});

export const consulBlock = block('Consul', { Namespace: text, Cluster: text, Partition: text });

export const checkRestartBlock = block('CheckRestart', {
  Limit: integer,
  Grace: durationOrNull,
  IgnoreWarnings: flag,
});
