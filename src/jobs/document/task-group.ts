import {
  block,
  durationOrNull,
  flag,
  flagOrNull,
  integerOrNull,
  keptNull,
  keyed,
  many,
  neverNull,
  one,
  oneAlways,
  oneOf,
  reset,
  type Stored,
  stringMap,
  strings,
  text,
} from './field-table.js';
import { networkBlock } from './network.js';
import { affinityBlock, constraintBlock, spreadBlock } from './placement.js';
import {
  consulBlock,
  disconnectBlock,
  ephemeralDiskBlock,
  migrateBlock,
  rescheduleBlock,
  restartBlock,
  scalingBlock,
  updateBlock,
} from './policies.js';
import { type Service, serviceBlock } from './service.js';
import { taskBlock } from './task.js';

/** Tasks that are placed together on one node, `Count` times. The stored form of `TaskGroupInput`, which describes the fields. */
export interface TaskGroup extends Stored<typeof taskGroupBlock> {}

/** The stored form of `VolumeRequestInput`, which describes the fields. */
export interface VolumeRequest extends Stored<typeof volumeBlock> {}

/** The stored form of `CSIMountOptionsInput`, which describes the fields. */
export interface CSIMountOptions extends Stored<typeof mountOptionsBlock> {}

/** The services of the group, then those of its tasks. */
export function servicesOf(group: TaskGroup): readonly Service[] {
  const services = [...(group.Services ?? [])];
  for (const task of group.Tasks) {
    if (task.Services !== null) services.push(...task.Services);
  }
  return services;
}

export const mountOptionsBlock = block<CSIMountOptions>()('CSIMountOptions', { FSType: text, MountFlags: strings });

export const volumeBlock = block<VolumeRequest>()('VolumeRequest', {
  Name: text,
  Type: oneOf('host', 'csi'),
  Source: text,
  ReadOnly: flag,
  Sticky: flag,
  AccessMode: oneOf(
    'single-node-reader-only',
    'single-node-writer',
    'single-node-single-writer',
    'single-node-multi-writer',
    'multi-node-reader-only',
    'multi-node-single-writer',
    'multi-node-multi-writer',
  ),
  AttachmentMode: oneOf('file-system', 'block-device'),
  MountOptions: one(mountOptionsBlock),
  PerAlloc: flag,
});

export const taskGroupBlock = block<TaskGroup>()('TaskGroup', {
  Name: text,
  Count: integerOrNull,
  Update: one(updateBlock),
  Migrate: one(migrateBlock),
  Constraints: many(constraintBlock),
  Scaling: one(scalingBlock),
  RestartPolicy: oneAlways(restartBlock),
  Disconnect: one(disconnectBlock),
  Tasks: neverNull(many(taskBlock)),
  EphemeralDisk: oneAlways(ephemeralDiskBlock),
  Meta: stringMap,
  ReschedulePolicy: one(rescheduleBlock),
  Affinities: many(affinityBlock),
  Spreads: many(spreadBlock),
  Networks: many(networkBlock),
  Consul: one(consulBlock),
  Services: many(serviceBlock),
  Volumes: keyed(volumeBlock),
  ShutdownDelay: keptNull(durationOrNull),
  MaxRunDuration: keptNull(durationOrNull),
  StopAfterClientDisconnect: reset(keptNull(durationOrNull)),
  MaxClientDisconnect: reset(keptNull(durationOrNull)),
  PreventRescheduleOnLost: reset(flagOrNull),
});
