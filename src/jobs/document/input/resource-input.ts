// Made by `renderJobInputTypes` from the tables in `src/jobs`. Do not edit.

import type { NetworkResourceInput } from './network-input.js';
import type { AffinityInput, ConstraintInput } from './placement-input.js';

/**
 * What the task asks of a node: `cpu` in MHz or whole `cores`, memory in MB. The block `resources` of a job
 * specification.
 */
export interface ResourcesInput {
  /** MHz of processor time. Excludes `Cores`; 100 when neither is given. Default: `100`. */
  readonly CPU?: number | null;
  /** Whole processor cores for this task alone. Default: `0`. */
  readonly Cores?: number | null;
  /** MB of memory that are set aside for the task. Default: `300`. */
  readonly MemoryMB?: number | null;
  /**
   * MB of memory that the task may use beyond that while the node has them; -1 is no limit. Needs memory
   * oversubscription.
   */
  readonly MemoryMaxMB?: number | null;
  /** @deprecated Ignored: the disk is asked for in the group. */
  readonly DiskMB?: number | null;
  /** @deprecated Has no effect. */
  readonly IOPS?: number | null;
  /** @deprecated Out of date: networks belong into the group. */
  readonly Networks?: readonly NetworkResourceInput[] | null;
  /** Devices that the node must have. */
  readonly Devices?: readonly RequestedDeviceInput[] | null;
  /** Where on the processor the cores should be. Refused here, but for the affinity `none`. */
  readonly NUMA?: NUMAInput | null;
  /** MB of the memory for the directory of secrets. */
  readonly SecretsMB?: number | null;
}

/** A device that the task needs, such as a GPU. The block `device` of a job specification. */
export interface RequestedDeviceInput {
  /** A type, vendor/type or vendor/type/name, such as `nvidia/gpu`. */
  readonly Name?: string | null;
  /** How many of them. Default: `1`. */
  readonly Count?: number | null;
  /** Rules that the device must satisfy, on `${device.attr.…}`. */
  readonly Constraints?: readonly ConstraintInput[] | null;
  /** Rules that the device should satisfy. */
  readonly Affinities?: readonly AffinityInput[] | null;
}

/** Placement on the cores of one memory domain. The block `numa` of a job specification. */
export interface NUMAInput {
  /** `none`, `prefer` or `require`. Default: `none`. */
  readonly Affinity?: 'none' | 'prefer' | 'require' | null;
  /** Names of devices that must be at the same place. */
  readonly Devices?: readonly string[] | null;
}
