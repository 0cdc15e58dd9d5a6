// Made by `renderJobInputTypes` from the tables in `src/jobs`. Do not edit.

import type { NetworkResourceInput } from './network-input.js';
import type { AffinityInput, ConstraintInput } from './placement-input.js';

/**
 * The resources that the task requests: `cpu` in MHz or whole `cores`, memory in MB. Functions without this block
 * request none if their group has functions only. The block `resources` of a job specification.
 */
export interface ResourcesInput {
  /** MHz of processor time. Cannot be combined with `Cores`; 100 when neither is given. Default: `100`. */
  readonly CPU?: number | null;
  /** The number of processor cores reserved for this task. Default: `0`. */
  readonly Cores?: number | null;
  /** MB of memory reserved for the task. Default: `300`. */
  readonly MemoryMB?: number | null;
  /**
   * The maximum MB of memory that the task may use if the node has free memory; -1 means no limit. Needs memory
   * oversubscription.
   */
  readonly MemoryMaxMB?: number | null;
  /** @deprecated Ignored: set the disk of the group instead. */
  readonly DiskMB?: number | null;
  /** @deprecated Has no effect. */
  readonly IOPS?: number | null;
  /** @deprecated An older form of the networks of the group. */
  readonly Networks?: readonly NetworkResourceInput[] | null;
  /** Devices that the node must have. */
  readonly Devices?: readonly RequestedDeviceInput[] | null;
  /** The NUMA placement of the cores. Only the affinity `none` is supported. */
  readonly NUMA?: NUMAInput | null;
  /** MB of the memory that the secrets directory may use. */
  readonly SecretsMB?: number | null;
}

/** A device that the task needs, such as a GPU. The block `device` of a job specification. */
export interface RequestedDeviceInput {
  /** A type, vendor/type or vendor/type/name, such as `nvidia/gpu`. */
  readonly Name?: string | null;
  /** The number of devices. Default: `1`. */
  readonly Count?: number | null;
  /** Rules that the device must satisfy, on `${device.attr.…}`. */
  readonly Constraints?: readonly ConstraintInput[] | null;
  /** Rules that the device should satisfy. */
  readonly Affinities?: readonly AffinityInput[] | null;
}

/** Placement on the cores of one NUMA node. The block `numa` of a job specification. */
export interface NUMAInput {
  /** `none`, `prefer` or `require`. Default: `none`. */
  readonly Affinity?: 'none' | 'prefer' | 'require' | null;
  /** Names of devices that must be on the same NUMA node. */
  readonly Devices?: readonly string[] | null;
}
