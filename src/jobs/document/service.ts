import { connectBlock } from './connect.js';
import {
  block,
  duration,
  flag,
  inputOnly,
  integer,
  many,
  one,
  oneOf,
  type Stored,
  storedOnly,
  stringListMap,
  stringMap,
  strings,
  text,
} from './field-table.js';
import { identityBlock } from './identity.js';
import { checkRestartBlock } from './policies.js';

/** A service that the group or task registers. The stored form of `ServiceInput`, which describes the fields. */
export interface Service extends Stored<typeof serviceBlock> {}

/** The stored form of `ServiceCheckInput`, which describes the fields. */
export interface ServiceCheck extends Stored<typeof serviceCheckBlock> {}

/** The stored form of `ServiceWeightsInput`, which describes the fields. */
export interface ServiceWeights extends Stored<typeof serviceWeightsBlock> {}

const onUpdate = oneOf('require_healthy', 'ignore_warnings', 'ignore');

export const serviceCheckBlock = block<ServiceCheck>()('ServiceCheck', {
  Name: text,
  Type: oneOf('http', 'tcp', 'grpc', 'script'),
  Command: text,
  Args: strings,
  Path: text,
  Protocol: text,
  PortLabel: text,
  Expose: flag,
  AddressMode: oneOf('host', 'driver', 'alloc', 'alloc_ipv6'),
  Advertise: inputOnly(text),
  Interval: duration,
  Timeout: duration,
  InitialStatus: oneOf('passing', 'warning', 'critical'),
  Notes: text,
  TLSServerName: text,
  TLSSkipVerify: flag,
  Header: stringListMap,
  Method: text,
  CheckRestart: one(checkRestartBlock),
  GRPCService: text,
  GRPCUseTLS: flag,
  TaskName: text,
  SuccessBeforePassing: integer,
  FailuresBeforeCritical: integer,
  FailuresBeforeWarning: integer,
  Body: text,
  OnUpdate: onUpdate,
});

export const serviceWeightsBlock = block<ServiceWeights>()('ServiceWeights', { Passing: integer, Warning: integer });

export const serviceBlock = block<Service>()('Service', {
  Name: text,
  TaskName: text,
  PortLabel: text,
  AddressMode: oneOf('auto', 'host', 'driver', 'alloc', 'alloc_ipv6'),
  Address: text,
  EnableTagOverride: flag,
  Tags: strings,
  CanaryTags: strings,
  Checks: many(serviceCheckBlock),
  CheckRestart: inputOnly(one(checkRestartBlock)),
  Connect: one(connectBlock),
  Meta: stringMap,
  CanaryMeta: stringMap,
  TaggedAddresses: stringMap,
  OnUpdate: onUpdate,
  Identity: one(identityBlock),
  Weights: one(serviceWeightsBlock),
  Provider: oneOf('consul', 'nomad'),
  Cluster: text,
  Kind: text,
  Namespace: storedOnly(text),
});
