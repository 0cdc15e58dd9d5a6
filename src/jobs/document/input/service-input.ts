// Made by `renderJobInputTypes` from the tables in `src/jobs`. Do not edit.

import type { DurationInput } from '../duration-input.js';
import type { ConnectInput } from './connect-input.js';
import type { WorkloadIdentityInput } from './identity-input.js';
import type { CheckRestartInput } from './policy-input.js';

/** A service that the group or the task registers. The block `service` of a job specification. */
export interface ServiceInput {
  /**
   * One DNS label. `<job>-<group>` or `<job>-<group>-<task>` when left out; may interpolate `${JOB}`,
   * `${TASKGROUP}`, `${TASK}`, `${BASE}`.
   */
  readonly Name?: string | null;
  /** The task that a service of the group belongs to. */
  readonly TaskName?: string | null;
  /** The label of a port, or its number. */
  readonly PortLabel?: string | null;
  /**
   * Which address Consul registers: `auto`, `host`, `driver`, `alloc` or `alloc_ipv6`. The built-in catalogue uses
   * that of the port. Default: `auto`.
   */
  readonly AddressMode?: 'auto' | 'host' | 'driver' | 'alloc' | 'alloc_ipv6' | null;
  /** A custom address. Needs the mode `auto`. */
  readonly Address?: string | null;
  /** Lets others change the tags in Consul. */
  readonly EnableTagOverride?: boolean | null;
  /** Tags in the catalogue, by which clients select. */
  readonly Tags?: readonly string[] | null;
  /** Tags while the allocation is a canary. */
  readonly CanaryTags?: readonly string[] | null;
  /** The health checks of the service. */
  readonly Checks?: readonly ServiceCheckInput[] | null;
  /** The restart policy of checks that have none. */
  readonly CheckRestart?: CheckRestartInput | null;
  /** The service mesh. */
  readonly Connect?: ConnectInput | null;
  /** Names and values in Consul. */
  readonly Meta?: { readonly [name: string]: string } | null;
  /** Names and values in Consul while the allocation is a canary. */
  readonly CanaryMeta?: { readonly [name: string]: string } | null;
  /** Further addresses by name, in Consul. */
  readonly TaggedAddresses?: { readonly [name: string]: string } | null;
  /**
   * How checks count during a deployment: `require_healthy`, `ignore_warnings` or `ignore`. Default:
   * `require_healthy`.
   */
  readonly OnUpdate?: 'require_healthy' | 'ignore_warnings' | 'ignore' | null;
  /** The identity that the service is registered with. */
  readonly Identity?: WorkloadIdentityInput | null;
  /** Weights in DNS responses of Consul. */
  readonly Weights?: ServiceWeightsInput | null;
  /**
   * `nomad` for the built-in catalogue, `consul` for Consul, which no node provides: the job waits. All services of
   * a group need the same provider. Default: `consul`.
   */
  readonly Provider?: 'consul' | 'nomad' | null;
  /** The cluster of the catalogue. Default: `default`. */
  readonly Cluster?: string | null;
  /** The kind of a service of the mesh. */
  readonly Kind?: string | null;
}

/** A health check of the service. The block `check` of a job specification. */
export interface ServiceCheckInput {
  /** A display name. */
  readonly Name?: string | null;
  /** `http`, `tcp`, `grpc` or `script`; only the first two with the provider `nomad`. */
  readonly Type?: 'http' | 'tcp' | 'grpc' | 'script' | null;
  /** The program of a script check. */
  readonly Command?: string | null;
  /** Its arguments. */
  readonly Args?: readonly string[] | null;
  /** The relative path of an http check. */
  readonly Path?: string | null;
  /** `http` or `https`. */
  readonly Protocol?: string | null;
  /** The port to check; the service's when left out. */
  readonly PortLabel?: string | null;
  /** Exposes the path of the check through the proxy of the mesh. */
  readonly Expose?: boolean | null;
  /** Which address Consul checks: `host`, `driver`, `alloc` or `alloc_ipv6`. */
  readonly AddressMode?: 'host' | 'driver' | 'alloc' | 'alloc_ipv6' | null;
  /** @deprecated Ignored. */
  readonly Advertise?: string | null;
  /** The time between two checks; at least 1 second. A string such as `30s`, or nanoseconds. */
  readonly Interval?: DurationInput | null;
  /** How long one check may take; at least 1 second. A string such as `30s`, or nanoseconds. */
  readonly Timeout?: DurationInput | null;
  /** The status before the first check: `passing`, `warning` or `critical`. */
  readonly InitialStatus?: 'passing' | 'warning' | 'critical' | null;
  /** Notes for people. */
  readonly Notes?: string | null;
  /** The expected name in the certificate. */
  readonly TLSServerName?: string | null;
  /** Accepts any certificate. */
  readonly TLSSkipVerify?: boolean | null;
  /** Headers of an http check, each with a list of values. */
  readonly Header?: { readonly [name: string]: readonly string[] } | null;
  /** The method of an http check; GET when left out. */
  readonly Method?: string | null;
  /** Restarts the task when the check keeps failing. */
  readonly CheckRestart?: CheckRestartInput | null;
  /** The service that a grpc check queries. */
  readonly GRPCService?: string | null;
  /** Uses TLS. */
  readonly GRPCUseTLS?: boolean | null;
  /** The task that a script check runs in. */
  readonly TaskName?: string | null;
  /** How many checks must pass before the state changes. */
  readonly SuccessBeforePassing?: number | null;
  /** How many checks must fail before the state is critical. */
  readonly FailuresBeforeCritical?: number | null;
  /** How many checks must fail before the state is a warning. */
  readonly FailuresBeforeWarning?: number | null;
  /** The body of an http check. */
  readonly Body?: string | null;
  /** How this check counts during a deployment. Default: `require_healthy`. */
  readonly OnUpdate?: 'require_healthy' | 'ignore_warnings' | 'ignore' | null;
}

/** Weights of the service in name resolution. The block `weights` of a job specification. */
export interface ServiceWeightsInput {
  /** The weight while the service is healthy; at least 1. Default: `1`. */
  readonly Passing?: number | null;
  /** The weight while a check warns; at least 1. Default: `1`. */
  readonly Warning?: number | null;
}
