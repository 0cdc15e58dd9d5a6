import { connectBlock, type ServiceConnect } from './connect.js';
import type { Nanoseconds } from './document-values.js';
import {
  block,
  duration,
  flag,
  inputOnly,
  integer,
  many,
  one,
  oneOf,
  storedOnly,
  stringListMap,
  stringMap,
  strings,
  text,
} from './field-table.js';
import { identityBlock, type WorkloadIdentity } from './identity.js';
import { checkRestartBlock } from './policies.js';

/** A service that the group or task registers. The stored form of `ServiceInput`, which describes the fields. */
export interface Service {
  readonly Name: string;
  readonly TaskName: string;
  readonly PortLabel: string;
  readonly AddressMode: string;
  readonly Address: string;
  readonly EnableTagOverride: boolean;
  readonly Tags: readonly string[] | null;
  readonly CanaryTags: readonly string[] | null;
  readonly Checks: readonly ServiceCheck[] | null;
  readonly Connect: ServiceConnect | null;
  readonly Meta: Readonly<Record<string, string>> | null;
  readonly CanaryMeta: Readonly<Record<string, string>> | null;
  readonly TaggedAddresses: Readonly<Record<string, string>> | null;
  readonly OnUpdate: string;
  readonly Identity: WorkloadIdentity | null;
  readonly Weights: ServiceWeights | null;
  readonly Provider: string;
  readonly Cluster: string;
  readonly Kind: string;
  readonly Namespace: string;
}

/** The stored form of `ServiceCheckInput`, which describes the fields. */
export interface ServiceCheck {
  readonly Name: string;
  readonly Type: string;
  readonly Command: string;
  readonly Args: readonly string[] | null;
  readonly Path: string;
  readonly Protocol: string;
  readonly PortLabel: string;
  readonly Expose: boolean;
  readonly AddressMode: string;
  readonly Interval: Nanoseconds;
  readonly Timeout: Nanoseconds;
  readonly InitialStatus: string;
  readonly Notes: string;
  readonly TLSServerName: string;
  readonly TLSSkipVerify: boolean;
  readonly Header: Readonly<Record<string, readonly string[]>> | null;
  readonly Method: string;
  readonly CheckRestart: CheckRestart | null;
  readonly GRPCService: string;
  readonly GRPCUseTLS: boolean;
  readonly TaskName: string;
  readonly SuccessBeforePassing: number;
  readonly FailuresBeforeCritical: number;
  readonly FailuresBeforeWarning: number;
  readonly Body: string;
  readonly OnUpdate: string;
}

/** The stored form of `CheckRestartInput`, which describes the fields. */
export interface CheckRestart {
  readonly Limit: number;
  readonly Grace: Nanoseconds;
  readonly IgnoreWarnings: boolean;
}

/** The stored form of `ServiceWeightsInput`, which describes the fields. */
export interface ServiceWeights {
  readonly Passing: number;
  readonly Warning: number;
}

const onUpdate = oneOf('require_healthy', 'ignore_warnings', 'ignore');

export const serviceCheckBlock = block('ServiceCheck', {
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

export const serviceWeightsBlock = block('ServiceWeights', { Passing: integer, Warning: integer });

export const serviceBlock = block('Service', {
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
