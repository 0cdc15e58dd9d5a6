import {
  block,
  integerOrNull,
  integerOrNullOf,
  many,
  one,
  oneOf,
  reset,
  type Stored,
  strings,
  text,
  uint64,
} from './field-table.js';
import { networkBlock } from './network.js';
import { affinityBlock, constraintBlock } from './placement.js';

/**
 * The resources that a task requests: MHz or whole cores, MB of memory. The stored form of `ResourcesInput`, which describes the fields.
 */
export interface Resources extends Stored<typeof resourcesBlock> {}

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
export interface RequestedDevice extends Stored<typeof deviceBlock> {}

/** The stored form of `NUMAInput`, which describes the fields. */
export interface NumaRequest extends Stored<typeof numaBlock> {}

export const deviceBlock = block<RequestedDevice>()('RequestedDevice', {
  Name: text,
  Count: integerOrNullOf(uint64),
  Constraints: many(constraintBlock),
  Affinities: many(affinityBlock),
});

export const numaBlock = block<NumaRequest>()('NUMA', {
  Affinity: oneOf('none', 'prefer', 'require'),
  Devices: strings,
});

export const resourcesBlock = block<Resources>()('Resources', {
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
