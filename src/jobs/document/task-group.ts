import type { Nanoseconds } from './document-values.js';
import type { NetworkResource } from './network.js';
import type { Affinity, Constraint, Spread } from './placement.js';
import type {
  ConsulBlock,
  DisconnectStrategy,
  MigrateStrategy,
  ReschedulePolicy,
  RestartPolicy,
  ScalingPolicy,
  UpdateStrategy,
} from './policies.js';
import type { Service } from './service.js';
import type { Task } from './task.js';

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
