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
import { networkBlock } from './network-fields.js';
import { affinityBlock, constraintBlock } from './placement-fields.js';

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
