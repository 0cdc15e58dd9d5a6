import type { NetworkResource } from './network.js';
import type { Affinity, Constraint } from './placement.js';

/**
 * The resources that a task requests: MHz or whole cores, MB of memory. The stored form of `ResourcesInput`, which describes the fields.
 */
export interface Resources {
  readonly CPU: number;
  readonly Cores: number;
  readonly MemoryMB: number;
  readonly MemoryMaxMB: number;
  readonly DiskMB: number;
  readonly IOPS: number;
  readonly Networks: readonly NetworkResource[] | null;
  readonly Devices: readonly RequestedDevice[] | null;
  readonly NUMA: NumaRequest | null;
  readonly SecretsMB: number;
}

/** A request without resources. */
export const zeroResources = {
  CPU: 0,
  Cores: 0,
  MemoryMB: 0,
  MemoryMaxMB: 0,
  DiskMB: 0,
  IOPS: 0,
  Networks: null,
  Devices: null,
  NUMA: null,
  SecretsMB: 0,
} as const satisfies Resources;

/** The stored form of `RequestedDeviceInput`, which describes the fields. */
export interface RequestedDevice {
  readonly Name: string;
  readonly Count: number;
  readonly Constraints: readonly Constraint[] | null;
  readonly Affinities: readonly Affinity[] | null;
}

/** The stored form of `NUMAInput`, which describes the fields. */
export interface NumaRequest {
  readonly Affinity: string;
  readonly Devices: readonly string[] | null;
}
