import {
  block,
  durationOrNull,
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
  type Stored,
  storedUnset,
  stringMap,
  text,
  uint64,
} from './field-table.js';

/** How a changed group is replaced by a rolling update. The stored form of `UpdateStrategyInput`, which describes the fields. */
export interface UpdateStrategy extends Stored<typeof updateBlock> {}

/** How allocations leave a draining node. The stored form of `MigrateStrategyInput`, which describes the fields. */
export interface MigrateStrategy extends Stored<typeof migrateBlock> {}

/** How often a failed task is restarted on its node. The stored form of `RestartPolicyInput`, which describes the fields. */
export interface RestartPolicy extends Stored<typeof restartBlock> {}

/** How often a failed allocation is replaced. The stored form of `ReschedulePolicyInput`, which describes the fields. */
export interface ReschedulePolicy extends Stored<typeof rescheduleBlock> {}

/**
 * What happens to allocations on a node that is out of reach. The stored form of `DisconnectStrategyInput`, which describes the
 * fields.
 */
export interface DisconnectStrategy extends Stored<typeof disconnectBlock> {}

/**
 * Bounds for the count (or the resources) and the free-form policy of an autoscaler. The stored form of `ScalingPolicyInput`,
 * which describes the fields.
 */
export interface ScalingPolicy extends Stored<typeof scalingBlock> {}

/** Service catalogue settings of a group or task. The stored form of `ConsulInput`, which describes the fields. */
export interface ConsulBlock extends Stored<typeof consulBlock> {}

/** The stored form of `EphemeralDiskInput`, which describes the fields. */
export interface EphemeralDisk extends Stored<typeof ephemeralDiskBlock> {}

/** The stored form of `CheckRestartInput`, which describes the fields. */
export interface CheckRestart extends Stored<typeof checkRestartBlock> {}

export const updateBlock = block<UpdateStrategy>()('UpdateStrategy', {
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

export const migrateBlock = block<MigrateStrategy>()('MigrateStrategy', {
  MaxParallel: integerOrNull,
  HealthCheck: oneOfOrNull('checks', 'task_states'),
  MinHealthyTime: durationOrNull,
  HealthyDeadline: durationOrNull,
});

export const restartBlock = block<RestartPolicy>()('RestartPolicy', {
  Attempts: integerOrNull,
  Interval: durationOrNull,
  Delay: durationOrNull,
  Mode: oneOfOrNull('fail', 'delay'),
  RenderTemplates: flagOrNull,
});

export const rescheduleBlock = block<ReschedulePolicy>()('ReschedulePolicy', {
  Attempts: integerOrNull,
  Interval: durationOrNull,
  Delay: durationOrNull,
  DelayFunction: oneOfOrNull('constant', 'exponential', 'fibonacci'),
  MaxDelay: durationOrNull,
  Unlimited: flagOrNull,
});

export const disconnectBlock = block<DisconnectStrategy>()('DisconnectStrategy', {
  LostAfter: durationOrNull,
  StopOnClientAfter: keptNull(durationOrNull),
  Replace: keptNull(flagOrNull),
  Reconcile: oneOfOrNull('best_score', 'longest_running', 'keep_original', 'keep_replacement'),
});

export const ephemeralDiskBlock = block<EphemeralDisk>()('EphemeralDisk', {
  Sticky: flagOrNull,
  SizeMB: integerOrNull,
  Migrate: flagOrNull,
});

export const scalingBlock = block<ScalingPolicy>()('ScalingPolicy', {
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

export const consulBlock = block<ConsulBlock>()('Consul', { Namespace: text, Cluster: text, Partition: text });

export const checkRestartBlock = block<CheckRestart>()('CheckRestart', {
  Limit: integer,
  Grace: durationOrNull,
  IgnoreWarnings: flag,
});
