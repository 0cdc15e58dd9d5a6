import type { Nanoseconds } from './document-values.js';
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
import { type NetworkResource, networkBlock } from './network.js';
import {
  type Affinity,
  affinityBlock,
  type Constraint,
  constraintBlock,
  type Spread,
  spreadBlock,
} from './placement.js';
import {
  type ConsulBlock,
  consulBlock,
  type DisconnectStrategy,
  disconnectBlock,
  ephemeralDiskBlock,
  type MigrateStrategy,
  migrateBlock,
  type ReschedulePolicy,
  type RestartPolicy,
  rescheduleBlock,
  restartBlock,
  type ScalingPolicy,
  scalingBlock,
  type UpdateStrategy,
  updateBlock,
} from './policies.js';
import { type Service, serviceBlock } from './service.js';
import { type Task, taskBlock } from './task.js';

/** Tasks that are placed together on one node, `Count` times. The stored form of `TaskGroupInput`, which describes the fields. */
export interface TaskGroup {
  readonly Name: string;
  readonly Count: number;
  readonly Update: UpdateStrategy | null;
  readonly Migrate: MigrateStrategy | null;
  readonly Constraints: readonly Constraint[] | null;
  readonly Scaling: ScalingPolicy | null;
  readonly RestartPolicy: RestartPolicy;
  readonly Disconnect: DisconnectStrategy | null;
  readonly Tasks: readonly Task[];
  readonly EphemeralDisk: EphemeralDisk;
  readonly Meta: Readonly<Record<string, string>> | null;
  readonly ReschedulePolicy: ReschedulePolicy | null;
  readonly Affinities: readonly Affinity[] | null;
  readonly Spreads: readonly Spread[] | null;
  readonly Networks: readonly NetworkResource[] | null;
  readonly Consul: ConsulBlock | null;
  readonly Services: readonly Service[] | null;
  readonly Volumes: Readonly<Record<string, VolumeRequest>> | null;
  readonly ShutdownDelay: Nanoseconds | null;
  readonly MaxRunDuration: Nanoseconds | null;
  readonly StopAfterClientDisconnect: Nanoseconds | null;
  readonly MaxClientDisconnect: Nanoseconds | null;
  readonly PreventRescheduleOnLost: boolean;
}

/** The stored form of `VolumeRequestInput`, which describes the fields. */
export interface VolumeRequest {
  readonly Name: string;
  readonly Type: string;
  readonly Source: string;
  readonly ReadOnly: boolean;
  readonly Sticky: boolean;
  readonly AccessMode: string;
  readonly AttachmentMode: string;
  readonly MountOptions: CSIMountOptions | null;
  readonly PerAlloc: boolean;
}

/** The stored form of `CSIMountOptionsInput`, which describes the fields. */
export interface CSIMountOptions {
  readonly FSType: string;
  readonly MountFlags: readonly string[] | null;
}

/** The stored form of `EphemeralDiskInput`, which describes the fields. */
export interface EphemeralDisk {
  readonly Sticky: boolean;
  readonly SizeMB: number;
  readonly Migrate: boolean;
}

/** The services of the group, then those of its tasks. */
export function servicesOf(group: TaskGroup): readonly Service[] {
  const services = [...(group.Services ?? [])];
  for (const task of group.Tasks) {
    if (task.Services !== null) services.push(...task.Services);
  }
  return services;
}

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
