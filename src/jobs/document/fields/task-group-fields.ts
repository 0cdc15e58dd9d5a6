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
  stringMap,
  strings,
  text,
} from './field-table.js';
import { networkBlock } from './network-fields.js';
import { affinityBlock, constraintBlock, spreadBlock } from './placement-fields.js';
import {
  consulBlock,
  disconnectBlock,
  ephemeralDiskBlock,
  migrateBlock,
  rescheduleBlock,
  restartBlock,
  scalingBlock,
  updateBlock,
} from './policy-fields.js';
import { serviceBlock } from './service-fields.js';
import { taskBlock } from './task-fields.js';

export const mountOptionsBlock = block('CSIMountOptions', { FSType: text, MountFlags: strings });

export const volumeBlock = block('VolumeRequest', {
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

export const taskGroupBlock = block('TaskGroup', {
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
