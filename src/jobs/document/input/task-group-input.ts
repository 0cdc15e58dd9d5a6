// Made by `renderJobInputTypes` from the tables in `src/jobs`. Do not edit.

import type { DurationInput } from '../duration-input.js';
import type { NetworkResourceInput } from './network-input.js';
import type { AffinityInput, ConstraintInput, SpreadInput } from './placement-input.js';
import type {
  ConsulInput,
  DisconnectStrategyInput,
  EphemeralDiskInput,
  MigrateStrategyInput,
  ReschedulePolicyInput,
  RestartPolicyInput,
  ScalingPolicyInput,
  UpdateStrategyInput,
} from './policy-input.js';
import type { ServiceInput } from './service-input.js';
import type { TaskInput } from './task-input.js';

/** Tasks that are placed together on one node. The block `group` of a job specification. */
export interface TaskGroupInput {
  /** Unique in the job, at most 128 bytes. */
  readonly Name?: string | null;
  /** The number of allocations of the group; may be 0. Default: `1`. */
  readonly Count?: number | null;
  /**
   * How running allocations are replaced when the job changes; what is left out is taken from the job. For service
   * and system jobs.
   */
  readonly Update?: UpdateStrategyInput | null;
  /** How allocations leave a draining node. For service jobs. */
  readonly Migrate?: MigrateStrategyInput | null;
  /** Rules that a node must satisfy, in addition to those of the job. */
  readonly Constraints?: readonly ConstraintInput[] | null;
  /** Bounds for the count, and the policy of an autoscaler. */
  readonly Scaling?: ScalingPolicyInput | null;
  /** How often a failed task is restarted on its node. */
  readonly RestartPolicy?: RestartPolicyInput | null;
  /** What happens to allocations of a disconnected node. */
  readonly Disconnect?: DisconnectStrategyInput | null;
  /** The tasks, which run together on one node; at least one without a lifecycle. */
  readonly Tasks?: readonly TaskInput[] | null;
  /** The disk that the tasks of an allocation share. */
  readonly EphemeralDisk?: EphemeralDiskInput | null;
  /** Names and values for the group; they override those of the job. */
  readonly Meta?: { readonly [name: string]: string } | null;
  /** How often a failed allocation is replaced. For service and batch jobs. */
  readonly ReschedulePolicy?: ReschedulePolicyInput | null;
  /** Rules that a node should satisfy. */
  readonly Affinities?: readonly AffinityInput[] | null;
  /** Attributes whose values the allocations of the group are spread over. */
  readonly Spreads?: readonly SpreadInput[] | null;
  /** The network that the tasks share, and their ports. */
  readonly Networks?: readonly NetworkResourceInput[] | null;
  /** Settings for the service catalogue Consul. */
  readonly Consul?: ConsulInput | null;
  /** Services that the group registers. */
  readonly Services?: readonly ServiceInput[] | null;
  /** Volumes that the tasks can mount, by name. */
  readonly Volumes?: { readonly [label: string]: VolumeRequestInput } | null;
  /**
   * How long tasks keep running after their services were removed from the catalogue. A string such as `30s`, or
   * nanoseconds.
   */
  readonly ShutdownDelay?: DurationInput | null;
  /**
   * How long an allocation may run before it is ended. For batch and sysbatch jobs. A string such as `30s`, or
   * nanoseconds.
   */
  readonly MaxRunDuration?: DurationInput | null;
  /** @deprecated Has no effect: use `Disconnect`. A string such as `30s`, or nanoseconds. */
  readonly StopAfterClientDisconnect?: DurationInput | null;
  /** @deprecated Has no effect: use `Disconnect`. A string such as `30s`, or nanoseconds. */
  readonly MaxClientDisconnect?: DurationInput | null;
  /** @deprecated Has no effect: use `Disconnect`. */
  readonly PreventRescheduleOnLost?: boolean | null;
}

/** A volume that the tasks of the group may mount. The block `volume` of a job specification. */
export interface VolumeRequestInput {
  /** The name by which tasks mount the volume. */
  readonly Name?: string | null;
  /** `host` for a volume of the node, `csi` for one of a volume plugin. Others are dropped. */
  readonly Type?: 'host' | 'csi' | null;
  /** The name of the volume on the node, or its ID. */
  readonly Source?: string | null;
  /** Mounts it read-only. */
  readonly ReadOnly?: boolean | null;
  /** Replacements of an allocation use the same volume. */
  readonly Sticky?: boolean | null;
  /** Which concurrent uses are allowed, such as `single-node-writer`. */
  readonly AccessMode?:
    | 'single-node-reader-only'
    | 'single-node-writer'
    | 'single-node-single-writer'
    | 'single-node-multi-writer'
    | 'multi-node-reader-only'
    | 'multi-node-single-writer'
    | 'multi-node-multi-writer'
    | null;
  /** `file-system` or `block-device`. */
  readonly AttachmentMode?: 'file-system' | 'block-device' | null;
  /** Options of the mount. For volumes of a plugin. */
  readonly MountOptions?: CSIMountOptionsInput | null;
  /** Adds the index of the allocation to the source, so that each has a separate volume. */
  readonly PerAlloc?: boolean | null;
}

/** How the volume is mounted. The block `mount_options` of a job specification. */
export interface CSIMountOptionsInput {
  /** The type of the file system, such as `ext4`. */
  readonly FSType?: string | null;
  /** Options of the mount, such as `noatime`. */
  readonly MountFlags?: readonly string[] | null;
}
