import type { ServiceConnect } from './connect.js';
import type { Nanoseconds } from './document-values.js';
import type { WorkloadIdentity } from './identity.js';

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
