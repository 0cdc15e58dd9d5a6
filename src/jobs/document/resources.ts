import {
  block,
  integerOrNull,
  integerOrNullOf,
  many,
  one,
  oneOf,
  reset,
  strings,
  text,
  uint64,
} from './field-table.js';
import { type NetworkResource, networkBlock } from './network.js';
import { type Affinity, affinityBlock, type Constraint, constraintBlock } from './placement.js';

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

export const deviceBlock = block('RequestedDevice', {
  Name: text,
  Count: integerOrNullOf(uint64),
  Constraints: many(constraintBlock),
  Affinities: many(affinityBlock),
});

export const numaBlock = block('NUMA', { Affinity: oneOf('none', 'prefer', 'require'), Devices: strings });

export const resourcesBlock = block('Resources', {
  CPU: integerOrNull,
  Cores: integerOrNull,
  MemoryMB: integerOrNull,
  MemoryMaxMB: integerOrNull,
  DiskMB: reset(integerOrNull),
  IOPS: integerOrNull,
  Networks: many(networkBlock),
  Devices: many(deviceBlock),
  NUMA: one(numaBlock),
  SecretsMB: integerOrNull,
});
