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
  storedUnset,
  stringMap,
  text,
  uint64,
} from './field-table.js';

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
