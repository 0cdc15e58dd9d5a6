// Made by `renderJobInputTypes` from the tables in `src/jobs`. Do not edit.

import type { DurationInput } from './duration-input.js';
import type { JsonValue } from './field-table.js';

/**
 * A job: the work to run, and its policies. The block `job` of a job specification. In every block a null field
 * counts as not given, durations are strings or nanoseconds, and an unknown field is reported as a warning.
 * docs/job-specification.md describes the blocks.
 */
export interface JobInput {
  /** Registers the job in the stopped state: no allocations run. Default: `false`. */
  readonly Stop?: boolean | null;
  /** The region that the job runs in; `global` is the region of the called server. Default: `global`. */
  readonly Region?: string | null;
  /** The namespace, which separates the IDs and rights of jobs. Default: `default`. */
  readonly Namespace?: string | null;
  /**
   * Identifies the job in its namespace. May contain slashes, but no spaces; must not end with the name of an
   * operation.
   */
  readonly ID?: string | null;
  /** Set by the server; ignored in a submission. */
  readonly ParentID?: string | null;
  /** A display name, not necessarily unique; the ID when left out. */
  readonly Name?: string | null;
  /**
   * `service` runs until it is stopped, `batch` until it completes, `system` on every node, `sysbatch` once on
   * every node. Default: `service`.
   */
  readonly Type?: 'service' | 'batch' | 'system' | 'sysbatch' | null;
  /** From 1 to 100. Work of a higher priority is placed first. Default: `50`. */
  readonly Priority?: number | null;
  /** @deprecated Has no effect: plans never conflict, and allocations without room wait. Default: `false`. */
  readonly AllAtOnce?: boolean | null;
  /** Names of datacenters whose nodes may run the job; `*` stands for any part of a name. All when left out. */
  readonly Datacenters?: readonly string[] | null;
  /**
   * The pool whose nodes may run the job; `all` is every node. `default` when left out, unless the namespace names
   * another.
   */
  readonly NodePool?: string | null;
  /** Rules that a node must satisfy. */
  readonly Constraints?: readonly ConstraintInput[] | null;
  /** Rules that a node should satisfy. */
  readonly Affinities?: readonly AffinityInput[] | null;
  /** Attributes whose values allocations are spread over. */
  readonly Spreads?: readonly SpreadInput[] | null;
  /** The task groups of the job; at least one. */
  readonly TaskGroups?: readonly TaskGroupInput[] | null;
  /** How running allocations are replaced when the job changes; every group inherits it. */
  readonly Update?: UpdateStrategyInput | null;
  /** Runs the job in several regions. Not supported: refused. */
  readonly Multiregion?: MultiregionInput | null;
  /** Launches instances of the job on a schedule. For batch and sysbatch jobs. */
  readonly Periodic?: PeriodicConfigInput | null;
  /**
   * Makes the job a template for instances that are dispatched with a payload and meta. For batch and sysbatch
   * jobs.
   */
  readonly ParameterizedJob?: ParameterizedJobConfigInput | null;
  /** The policy of groups that have none. */
  readonly Reschedule?: ReschedulePolicyInput | null;
  /** The policy of groups that have none. */
  readonly Migrate?: MigrateStrategyInput | null;
  /** Set by the server; ignored in a submission. */
  readonly Dispatched?: boolean | null;
  /** Set by the server; ignored in a submission. */
  readonly DispatchIdempotencyToken?: string | null;
  /** The payload of a dispatch, as base64; refused in a registration. */
  readonly Payload?: string | null;
  /** Names and values for the job. Tasks find them as `NOMAD_META_<name>` in their environment. */
  readonly Meta?: { readonly [name: string]: string } | null;
  /** @deprecated Ignored. */
  readonly ConsulNamespace?: string | null;
  /** Stored with the job, without effect: Signalbox does not support Vault. */
  readonly VaultNamespace?: string | null;
  /** Set by the server; ignored in a submission. */
  readonly NomadTokenID?: string | null;
  /** Set by the server; ignored in a submission. */
  readonly Status?: string | null;
  /** Set by the server; ignored in a submission. */
  readonly StatusDescription?: string | null;
  /** Set by the server; ignored in a submission. Default: `false`. */
  readonly Stable?: boolean | null;
  /** The number of the version. Used if it is greater than the stored one; otherwise the next number. Default: `0`. */
  readonly Version?: number | null;
  /** Set by the server; ignored in a submission. */
  readonly SubmitTime?: number | null;
  /** Set by the server; ignored in a submission. Default: `0`. */
  readonly CreateIndex?: number | null;
  /** Set by the server; ignored in a submission. Default: `0`. */
  readonly ModifyIndex?: number | null;
  /** Set by the server; ignored in a submission. Default: `0`. */
  readonly JobModifyIndex?: number | null;
  /** A description and links for web interfaces. */
  readonly UI?: JobUIConfigInput | null;
  /** A tag for this version, which protects it from pruning. */
  readonly VersionTag?: JobVersionTagInput | null;
}

/** A rule that a node must satisfy. The block `constraint` of a job specification. */
export interface ConstraintInput {
  /** The attribute to compare: an interpolation such as `${attr.kernel.name}`, `${meta.rack}` or `${node.class}`. */
  readonly LTarget?: string | null;
  /** The value to compare it with. */
  readonly RTarget?: string | null;
  /**
   * `=`, `!=`, `<`, `<=`, `>`, `>=`, `regexp`, `version`, `semver`, `set_contains`, `set_contains_any`, `is_set`,
   * `is_not_set`, `distinct_hosts` or `distinct_property`.
   */
  readonly Operand?:
    | '='
    | '=='
    | 'is'
    | '!='
    | 'not'
    | '<'
    | '<='
    | '>'
    | '>='
    | 'regexp'
    | 'version'
    | 'semver'
    | 'set_contains'
    | 'set_contains_all'
    | 'set_contains_any'
    | 'is_set'
    | 'is_not_set'
    | 'distinct_hosts'
    | 'distinct_property'
    | null;
}

/**
 * A rule that a node should satisfy, with a weight from -100 (avoid) to 100 (prefer). The block `affinity` of a job
 * specification.
 */
export interface AffinityInput {
  /** The attribute to compare: an interpolation such as `${attr.kernel.name}`, `${meta.rack}` or `${node.class}`. */
  readonly LTarget?: string | null;
  /** The value to compare it with. */
  readonly RTarget?: string | null;
  /** `=`, `!=`, `<`, `<=`, `>`, `>=`, `regexp`, `version`, `semver`, `set_contains` or `set_contains_any`. */
  readonly Operand?:
    | '='
    | '=='
    | 'is'
    | '!='
    | 'not'
    | '<'
    | '<='
    | '>'
    | '>='
    | 'regexp'
    | 'version'
    | 'semver'
    | 'set_contains'
    | 'set_contains_all'
    | 'set_contains_any'
    | null;
  /**
   * From -100 to 100, not 0. A negative weight keeps allocations away. A whole number from -128 to 127. Default:
   * `50`.
   */
  readonly Weight?: number | null;
}

/** An attribute over whose values allocations are spread. The block `spread` of a job specification. */
export interface SpreadInput {
  /** An interpolation over whose values allocations are spread, such as `${node.datacenter}`. */
  readonly Attribute?: string | null;
  /** From 1 to 100, relative to other spreads. A whole number from -128 to 127. Default: `50`. */
  readonly Weight?: number | null;
  /** The share of each value; without targets, allocations are spread evenly over all values. */
  readonly SpreadTarget?: readonly SpreadTargetInput[] | null;
}

/** The share of allocations that one value of the attribute should get. The block `target` of a job specification. */
export interface SpreadTargetInput {
  /** A value of the attribute. */
  readonly Value?: string | null;
  /** From 0 to 100; at most 100 for all targets together. Other values share the rest. A whole number from 0 to 255. */
  readonly Percent?: number | null;
}

/** Tasks that are placed together on one node. The block `group` of a job specification. */
export interface TaskGroupInput {
  /** Unique in the job, at most 128 bytes. */
  readonly Name?: string | null;
  /** The number of allocations of the group; may be 0. Default: `1`. */
  readonly Count?: number | null;
  /**
   * How running allocations are replaced when the job changes; what is left out is taken from the job. For service
   * and system jobs.
   */
  readonly Update?: UpdateStrategyInput | null;
  /** How allocations leave a draining node. For service jobs. */
  readonly Migrate?: MigrateStrategyInput | null;
  /** Rules that a node must satisfy, in addition to those of the job. */
  readonly Constraints?: readonly ConstraintInput[] | null;
  /** Bounds for the count, and the policy of an autoscaler. */
  readonly Scaling?: ScalingPolicyInput | null;
  /** How often a failed task is restarted on its node. */
  readonly RestartPolicy?: RestartPolicyInput | null;
  /** What happens to allocations of a disconnected node. */
  readonly Disconnect?: DisconnectStrategyInput | null;
  /** The tasks, which run together on one node; at least one without a lifecycle. */
  readonly Tasks?: readonly TaskInput[] | null;
  /** The disk that the tasks of an allocation share. */
  readonly EphemeralDisk?: EphemeralDiskInput | null;
  /** Names and values for the group; they override those of the job. */
  readonly Meta?: { readonly [name: string]: string } | null;
  /** How often a failed allocation is replaced. For service and batch jobs. */
  readonly ReschedulePolicy?: ReschedulePolicyInput | null;
  /** Rules that a node should satisfy. */
  readonly Affinities?: readonly AffinityInput[] | null;
  /** Attributes whose values the allocations of the group are spread over. */
  readonly Spreads?: readonly SpreadInput[] | null;
  /** The network that the tasks share, and their ports. */
  readonly Networks?: readonly NetworkResourceInput[] | null;
  /** Settings for the service catalogue Consul. */
  readonly Consul?: ConsulInput | null;
  /** Services that the group registers. */
  readonly Services?: readonly ServiceInput[] | null;
  /** Volumes that the tasks can mount, by name. */
  readonly Volumes?: { readonly [label: string]: VolumeRequestInput } | null;
  /**
   * How long tasks keep running after their services were removed from the catalogue. A string such as `30s`, or
   * nanoseconds.
   */
  readonly ShutdownDelay?: DurationInput | null;
  /**
   * How long an allocation may run before it is ended. For batch and sysbatch jobs. A string such as `30s`, or
   * nanoseconds.
   */
  readonly MaxRunDuration?: DurationInput | null;
  /** @deprecated Has no effect: use `Disconnect`. A string such as `30s`, or nanoseconds. */
  readonly StopAfterClientDisconnect?: DurationInput | null;
  /** @deprecated Has no effect: use `Disconnect`. A string such as `30s`, or nanoseconds. */
  readonly MaxClientDisconnect?: DurationInput | null;
  /** @deprecated Has no effect: use `Disconnect`. */
  readonly PreventRescheduleOnLost?: boolean | null;
}

/**
 * How a changed group is replaced: a rolling update, with canaries and automatic rollback on request. The block
 * `update` of a job specification.
 */
export interface UpdateStrategyInput {
  /** @deprecated Has no effect. A string such as `30s`, or nanoseconds. Default: `30s`. */
  readonly Stagger?: DurationInput | null;
  /** How many allocations are replaced at the same time. 0 replaces all at once, without a deployment. Default: `1`. */
  readonly MaxParallel?: number | null;
  /** What makes an allocation healthy: `checks` of its services, `task_states`, or `manual`. Default: `checks`. */
  readonly HealthCheck?: 'checks' | 'task_states' | 'manual' | null;
  /**
   * How long an allocation must be healthy before the next one is replaced. A string such as `30s`, or nanoseconds.
   * Default: `10s`.
   */
  readonly MinHealthyTime?: DurationInput | null;
  /** How long an allocation may take to become healthy. A string such as `30s`, or nanoseconds. Default: `5m0s`. */
  readonly HealthyDeadline?: DurationInput | null;
  /**
   * How long a deployment may go without a newly healthy allocation. 0 fails it with the first unhealthy one. A
   * string such as `30s`, or nanoseconds. Default: `10m0s`.
   */
  readonly ProgressDeadline?: DurationInput | null;
  /** Reverts to the last stable version when the deployment fails. Default: `false`. */
  readonly AutoRevert?: boolean | null;
  /** Promotes canaries as soon as all are healthy. Default: `false`. */
  readonly AutoPromote?: boolean | null;
  /** How many allocations of the new version run beside the old ones until they are promoted. Default: `0`. */
  readonly Canary?: number | null;
}

/** How allocations leave a draining node. The block `migrate` of a job specification. */
export interface MigrateStrategyInput {
  /** How many allocations are moved at the same time. Default: `1`. */
  readonly MaxParallel?: number | null;
  /** What makes a moved allocation healthy: `checks` or `task_states`. Default: `checks`. */
  readonly HealthCheck?: 'checks' | 'task_states' | null;
  /**
   * How long it must be healthy before the next one is moved. A string such as `30s`, or nanoseconds. Default:
   * `10s`.
   */
  readonly MinHealthyTime?: DurationInput | null;
  /** How long it may take to become healthy. A string such as `30s`, or nanoseconds. Default: `5m0s`. */
  readonly HealthyDeadline?: DurationInput | null;
}

/**
 * In `task`: Bounds for one resource of the task (`cpu` or `mem`), and a policy for an autoscaler. In `group`:
 * Bounds for the group's count, and a policy for an autoscaler. The block `scaling` of a job specification.
 */
export interface ScalingPolicyInput {
  /** Set by the server; ignored in a submission. */
  readonly ID?: string | null;
  /** `horizontal` for the count of a group; `vertical_cpu` or `vertical_mem` for a task. Default: `horizontal`. */
  readonly Type?: 'horizontal' | 'vertical_cpu' | 'vertical_mem' | null;
  /** @deprecated Ignored. */
  readonly Namespace?: string | null;
  /** The scaled object. The server fills in namespace, job, group and task. */
  readonly Target?: { readonly [name: string]: string } | null;
  /** The policy for the autoscaler. */
  readonly Policy?: { readonly [name: string]: JsonValue } | null;
  /** The smallest value; the count of the group when left out. Default: `1`. */
  readonly Min?: number | null;
  /** The largest value. Required. */
  readonly Max?: number | null;
  /** Whether the autoscaler may change the value. Default: `true`. */
  readonly Enabled?: boolean | null;
  /** Set by the server; ignored in a submission. */
  readonly CreateIndex?: number | null;
  /** Set by the server; ignored in a submission. */
  readonly ModifyIndex?: number | null;
}

/** How often a failed task is restarted on its node. The block `restart` of a job specification. */
export interface RestartPolicyInput {
  /**
   * The number of restarts within the interval. When left out, 2 for service and system jobs, 3 for batch and
   * sysbatch jobs. Default: `2`.
   */
  readonly Attempts?: number | null;
  /**
   * The time in which restarts are counted. 30 minutes or 24 hours when left out. A string such as `30s`, or
   * nanoseconds. Default: `30m0s`.
   */
  readonly Interval?: DurationInput | null;
  /**
   * The delay before a restart, plus up to a quarter at random. A string such as `30s`, or nanoseconds. Default:
   * `15s`.
   */
  readonly Delay?: DurationInput | null;
  /**
   * What happens when no attempts are left: `fail` the allocation, or `delay` until the interval is over. Default:
   * `fail`.
   */
  readonly Mode?: 'fail' | 'delay' | null;
  /** Renders the templates again before a restart. Default: `false`. */
  readonly RenderTemplates?: boolean | null;
}

/** What happens to allocations on a disconnected node. The block `disconnect` of a job specification. */
export interface DisconnectStrategyInput {
  /**
   * How long a disconnected allocation may take to return before it is lost. A string such as `30s`, or
   * nanoseconds.
   */
  readonly LostAfter?: DurationInput | null;
  /** How long a disconnected node keeps the allocation running. A string such as `30s`, or nanoseconds. */
  readonly StopOnClientAfter?: DurationInput | null;
  /** Whether a replacement runs in the meantime. Default: `true`. */
  readonly Replace?: boolean | null;
  /**
   * Which one is kept when the node returns: `best_score`, `longest_running`, `keep_original` or
   * `keep_replacement`. Default: `best_score`.
   */
  readonly Reconcile?: 'best_score' | 'longest_running' | 'keep_original' | 'keep_replacement' | null;
}

/** One unit of work, run by a driver. The block `task` of a job specification. */
export interface TaskInput {
  /** Unique in the group, at most 128 bytes, without slashes. */
  readonly Name?: string | null;
  /** The driver that runs the task, such as `raw_exec` or `function`. */
  readonly Driver?: string | null;
  /** The user of the node that the task runs as. */
  readonly User?: string | null;
  /** The configuration of the driver. */
  readonly Config?: { readonly [name: string]: JsonValue } | null;
  /** Environment variables. May interpolate `${NOMAD_…}`, `${attr.…}` and `${meta.…}`. */
  readonly Env?: { readonly [name: string]: string } | null;
  /** Services that the task registers. */
  readonly Services?: readonly ServiceInput[] | null;
  /** A token for Vault. Not supported: refused. */
  readonly Vault?: VaultInput | null;
  /** Secrets that are read before the task starts. */
  readonly Secrets?: readonly SecretInput[] | null;
  /** Settings for the service catalogue Consul. */
  readonly Consul?: ConsulInput | null;
  /** Files that are rendered for the task. */
  readonly Templates?: readonly TemplateInput[] | null;
  /** Rules that a node must satisfy for this task. */
  readonly Constraints?: readonly ConstraintInput[] | null;
  /** Rules that a node should satisfy. */
  readonly Affinities?: readonly AffinityInput[] | null;
  /** Processor, memory and devices reserved for the task. */
  readonly Resources?: ResourcesInput | null;
  /** How often the task is restarted; fields that are left out are inherited from the group. */
  readonly RestartPolicy?: RestartPolicyInput | null;
  /** Writes the payload of a dispatch to a file. */
  readonly DispatchPayload?: DispatchPayloadInput | null;
  /** Starts the task before, with or after the main tasks; without it the task is one of them. */
  readonly Lifecycle?: TaskLifecycleInput | null;
  /** Names and values for the task; they override those of the group and the job. */
  readonly Meta?: { readonly [name: string]: string } | null;
  /** How long the task may take to end before it is killed. A string such as `30s`, or nanoseconds. Default: `5s`. */
  readonly KillTimeout?: DurationInput | null;
  /** Log rotation: how much output is kept. */
  readonly LogConfig?: LogConfigInput | null;
  /** Files that are downloaded before the task starts. */
  readonly Artifacts?: readonly TaskArtifactInput[] | null;
  /** Ends the other tasks of the group when this one ends. */
  readonly Leader?: boolean | null;
  /** How long the task keeps running after its services were deregistered. A string such as `30s`, or nanoseconds. */
  readonly ShutdownDelay?: DurationInput | null;
  /** Mounts of the volumes of the group. */
  readonly VolumeMounts?: readonly VolumeMountInput[] | null;
  /** Bounds for the resources of the task. */
  readonly ScalingPolicies?: readonly ScalingPolicyInput[] | null;
  /** The signal that requests the end of the task; SIGINT when left out. */
  readonly KillSignal?: string | null;
  /** Marks tasks of the service mesh. Set automatically. */
  readonly Kind?: string | null;
  /** Makes the task a plugin for volumes. No node supports this: the job waits. */
  readonly CSIPluginConfig?: CSIPluginConfigInput | null;
  /** The default identity of the task. */
  readonly Identity?: WorkloadIdentityInput | null;
  /** Tokens that identify the task to other systems. */
  readonly Identities?: readonly WorkloadIdentityInput[] | null;
  /** Commands that can be run in the task. */
  readonly Actions?: readonly ActionInput[] | null;
  /** The times at which the task runs. Not supported: refused. */
  readonly Schedule?: TaskScheduleInput | null;
}

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

/** When a failing check restarts the task. The block `check_restart` of a job specification. */
export interface CheckRestartInput {
  /** The number of consecutive failed checks after which the task is restarted; 0 disables restarts. */
  readonly Limit?: number | null;
  /** How long checks are ignored after the start of the task. A string such as `30s`, or nanoseconds. Default: `1s`. */
  readonly Grace?: DurationInput | null;
  /** Counts a warning as passing. */
  readonly IgnoreWarnings?: boolean | null;
}

/** Makes the service part of the service mesh. The block `connect` of a job specification. */
export interface ConnectInput {
  /** The task speaks the protocol of the mesh itself. */
  readonly Native?: boolean | null;
  /** Makes the service a gateway. Not supported: refused. */
  readonly Gateway?: GatewayInput | null;
  /** Puts a proxy in front of the service. */
  readonly SidecarService?: SidecarServiceInput | null;
  /** Overrides of the proxy task. */
  readonly SidecarTask?: SidecarTaskInput | null;
}

/** Makes the service a gateway of the service mesh. The block `gateway` of a job specification. */
export interface GatewayInput {
  /** The configuration of the proxy. */
  readonly Proxy?: GatewayProxyInput | null;
  /** Lets traffic into the mesh. */
  readonly Ingress?: IngressGatewayInput | null;
  /** Lets traffic out of the mesh. */
  readonly Terminating?: TerminatingGatewayInput | null;
  /** Joins meshes. */
  readonly Mesh?: MeshGatewayInput | null;
}

/** Settings of the proxy that is the gateway. The block `proxy` of a job specification. */
export interface GatewayProxyInput {
  /** How long a connection may take to open. A string such as `30s`, or nanoseconds. Default: `5s`. */
  readonly ConnectTimeout?: DurationInput | null;
  /** Listens on the service's tagged addresses. */
  readonly EnvoyGatewayBindTaggedAddresses?: boolean | null;
  /** Addresses that the gateway listens on, by name. */
  readonly EnvoyGatewayBindAddresses?: { readonly [label: string]: GatewayBindAddressInput } | null;
  /** Does not listen on the default address. */
  readonly EnvoyGatewayNoDefaultBind?: boolean | null;
  /** `STRICT_DNS` or `LOGICAL_DNS`. */
  readonly EnvoyDNSDiscoveryType?: string | null;
  /** Further configuration of the proxy. */
  readonly Config?: { readonly [name: string]: JsonValue } | null;
}

/** An address that the gateway listens on. The block `envoy_gateway_bind_addresses` of a job specification. */
export interface GatewayBindAddressInput {
  /** @deprecated Ignored: the label counts. */
  readonly Name?: string | null;
  /** The address to listen on. */
  readonly Address?: string | null;
  /** The port to listen on. */
  readonly Port?: number | null;
}

/** Lets traffic into the service mesh. The block `ingress` of a job specification. */
export interface IngressGatewayInput {
  /** TLS of all listeners. */
  readonly TLS?: GatewayTLSConfigInput | null;
  /** The ports for incoming traffic. */
  readonly Listeners?: readonly IngressListenerInput[] | null;
}

/** Encryption of incoming connections. The block `tls` of a job specification. */
export interface GatewayTLSConfigInput {
  /** Whether TLS is used. */
  readonly Enabled?: boolean | null;
  /** The lowest version of TLS. */
  readonly TLSMinVersion?: string | null;
  /** The highest version of TLS. */
  readonly TLSMaxVersion?: string | null;
  /** The allowed cipher suites. */
  readonly CipherSuites?: readonly string[] | null;
  /** The source of certificates. */
  readonly SDS?: GatewayTLSSDSConfigInput | null;
}

/** The source of the certificates. The block `sds` of a job specification. */
export interface GatewayTLSSDSConfigInput {
  /** The cluster that serves certificates. */
  readonly ClusterName?: string | null;
  /** The name of the certificate. */
  readonly CertResource?: string | null;
}

/** A port that the gateway listens on. The block `listener` of a job specification. */
export interface IngressListenerInput {
  /** The port to listen on. */
  readonly Port?: number | null;
  /** `tcp`, `http`, `http2` or `grpc`. Default: `tcp`. */
  readonly Protocol?: string | null;
  /** The services behind the listener. */
  readonly Services?: readonly IngressServiceInput[] | null;
}

/** A service behind the listener. The block `service` of a job specification. */
export interface IngressServiceInput {
  /** The name of the service; `*` for all. */
  readonly Name?: string | null;
  /** Host names that are routed to it. */
  readonly Hosts?: readonly string[] | null;
  /** TLS for these hosts. */
  readonly TLS?: GatewayTLSConfigInput | null;
  /** Changes of request headers. */
  readonly RequestHeaders?: HTTPHeaderModifiersInput | null;
  /** Changes of response headers. */
  readonly ResponseHeaders?: HTTPHeaderModifiersInput | null;
  /** The maximum number of open connections. A whole number from 0 to 4294967295. */
  readonly MaxConnections?: number | null;
  /** The maximum number of waiting requests. A whole number from 0 to 4294967295. */
  readonly MaxPendingRequests?: number | null;
  /** The maximum number of concurrent requests. A whole number from 0 to 4294967295. */
  readonly MaxConcurrentRequests?: number | null;
}

/** Headers to add, set or remove. The block `request_headers` or `response_headers` of a job specification. */
export interface HTTPHeaderModifiersInput {
  /** Headers to add. */
  readonly Add?: { readonly [name: string]: string } | null;
  /** Headers to set. */
  readonly Set?: { readonly [name: string]: string } | null;
  /** Headers to remove. */
  readonly Remove?: readonly string[] | null;
}

/** Lets traffic out of the service mesh. The block `terminating` of a job specification. */
export interface TerminatingGatewayInput {
  /** The services outside the mesh. */
  readonly Services?: readonly LinkedServiceInput[] | null;
}

/** A service outside the mesh. The block `service` of a job specification. */
export interface LinkedServiceInput {
  /** The name of the service in the catalogue. */
  readonly Name?: string | null;
  /** The file with the CA certificate that verifies the service. */
  readonly CAFile?: string | null;
  /** The file with the client certificate of the gateway. */
  readonly CertFile?: string | null;
  /** The file with the private key of the client certificate. */
  readonly KeyFile?: string | null;
  /** The server name (SNI) of the connection. */
  readonly SNI?: string | null;
}

/** Connects service meshes. The block `mesh` of a job specification. */
export type MeshGatewayInput = { readonly [name: string]: never };

/** Puts a sidecar proxy before the service. The block `sidecar_service` of a job specification. */
export interface SidecarServiceInput {
  /** Tags of the proxy in the catalogue. */
  readonly Tags?: readonly string[] | null;
  /** The label of its port; generated when left out. */
  readonly Port?: string | null;
  /** The configuration of the proxy. */
  readonly Proxy?: SidecarProxyInput | null;
  /** Disables the default check of its port. */
  readonly DisableDefaultTCPCheck?: boolean | null;
  /** Names and values in the catalogue. */
  readonly Meta?: { readonly [name: string]: string } | null;
}

/** Settings of the sidecar proxy. The block `proxy` of a job specification. */
export interface SidecarProxyInput {
  /** The address that the service listens on. */
  readonly LocalServiceAddress?: string | null;
  /** The port that it listens on. */
  readonly LocalServicePort?: number | null;
  /** Paths that are reachable without the mesh. */
  readonly Expose?: ExposeConfigInput | null;
  /** @deprecated An older form of `Expose`. */
  readonly ExposeConfig?: ExposeConfigInput | null;
  /** Services that the proxy connects to. */
  readonly Upstreams?: readonly UpstreamInput[] | null;
  /** Redirects all traffic of the network through the proxy. */
  readonly TransparentProxy?: TransparentProxyInput | null;
  /** Further configuration of the proxy. */
  readonly Config?: { readonly [name: string]: JsonValue } | null;
}

/** Paths that are reachable without the mesh. The block `expose` of a job specification. */
export interface ExposeConfigInput {
  /** The paths, each with the port on which the proxy serves it. */
  readonly Paths?: readonly ExposePathInput[] | null;
  /** @deprecated An older form of `Paths`. */
  readonly Path?: readonly ExposePathInput[] | null;
}

/** A path that is reachable without the mesh. The block `path` of a job specification. */
export interface ExposePathInput {
  /** A path that is reachable without the mesh, such as `/health`. */
  readonly Path?: string | null;
  /** `http` or `http2`. */
  readonly Protocol?: string | null;
  /** The port that the service listens on. */
  readonly LocalPathPort?: number | null;
  /** The label of the port that the proxy listens on. */
  readonly ListenerPort?: string | null;
}

/** Another service that the task reaches through the sidecar. The block `upstreams` of a job specification. */
export interface UpstreamInput {
  /** The name of the destination service. */
  readonly DestinationName?: string | null;
  /** The namespace of that service in Consul. */
  readonly DestinationNamespace?: string | null;
  /** The partition of that service in Consul. */
  readonly DestinationPartition?: string | null;
  /** The peered cluster that the service is in. */
  readonly DestinationPeer?: string | null;
  /** `service` or `prepared_query`. */
  readonly DestinationType?: string | null;
  /** The local port that forwards to it. */
  readonly LocalBindPort?: number | null;
  /** The datacenter of the service; the same one when left out. */
  readonly Datacenter?: string | null;
  /** The local address that forwards to it. */
  readonly LocalBindAddress?: string | null;
  /** A local Unix socket instead of a port. */
  readonly LocalBindSocketPath?: string | null;
  /** The permissions of the socket. */
  readonly LocalBindSocketMode?: string | null;
  /** How other datacenters are reached. */
  readonly MeshGateway?: UpstreamMeshGatewayInput | null;
  /** Further configuration of the upstream service. */
  readonly Config?: { readonly [name: string]: JsonValue } | null;
}

/**
 * Whether traffic to the upstream service goes through a mesh gateway. The block `mesh_gateway` of a job
 * specification.
 */
export interface UpstreamMeshGatewayInput {
  /** `none`, `local` or `remote`. */
  readonly Mode?: string | null;
}

/** Sends all traffic of the group through the sidecar. The block `transparent_proxy` of a job specification. */
export interface TransparentProxyInput {
  /** The user that the proxy runs as. */
  readonly UID?: string | null;
  /** The port of the proxy for outgoing traffic. A whole number from 0 to 65535. */
  readonly OutboundPort?: number | null;
  /** Ports or labels whose incoming traffic bypasses the proxy. */
  readonly ExcludeInboundPorts?: readonly string[] | null;
  /** Destination ports whose outgoing traffic bypasses the proxy. */
  readonly ExcludeOutboundPorts?: readonly number[] | null;
  /** Destination networks whose outgoing traffic bypasses the proxy. */
  readonly ExcludeOutboundCIDRs?: readonly string[] | null;
  /** Users whose traffic bypasses the proxy. */
  readonly ExcludeUIDs?: readonly string[] | null;
  /** Does not redirect DNS queries. */
  readonly NoDNS?: boolean | null;
}

/** Changes the task that runs the sidecar proxy. The block `sidecar_task` of a job specification. */
export interface SidecarTaskInput {
  /** The name of the proxy as a task of the group. */
  readonly Name?: string | null;
  /** The driver that runs the proxy. */
  readonly Driver?: string | null;
  /** The user that it runs as. */
  readonly User?: string | null;
  /** The configuration of the driver; overrides the built-in one. */
  readonly Config?: { readonly [name: string]: JsonValue } | null;
  /** Environment variables. */
  readonly Env?: { readonly [name: string]: string } | null;
  /** Processor and memory. */
  readonly Resources?: ResourcesInput | null;
  /** Names and values for the task. */
  readonly Meta?: { readonly [name: string]: string } | null;
  /** How long the proxy may take to end before it is killed. A string such as `30s`, or nanoseconds. Default: `5s`. */
  readonly KillTimeout?: DurationInput | null;
  /** Log rotation: how much output is kept. */
  readonly LogConfig?: LogConfigInput | null;
  /**
   * How long the proxy keeps running after the service was deregistered. A string such as `30s`, or nanoseconds.
   * Default: `0s`.
   */
  readonly ShutdownDelay?: DurationInput | null;
  /** The signal that requests its end. */
  readonly KillSignal?: string | null;
  /** Mounts of the volumes of the group. */
  readonly VolumeMounts?: readonly VolumeMountInput[] | null;
  /** Tokens for other systems. */
  readonly Identities?: readonly WorkloadIdentityInput[] | null;
}

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

/** The network of a group (or, deprecated, of a task). The block `network` of a job specification. */
export interface NetworkResourceInput {
  /** `host` (the network of the node), `bridge`, `none` or `cni/<name>`. */
  readonly Mode?: string | null;
  /** @deprecated Ignored. */
  readonly Device?: string | null;
  /** @deprecated Ignored. */
  readonly CIDR?: string | null;
  /** @deprecated Ignored. */
  readonly IP?: string | null;
  /** The host name inside the network. No effect in mode `host`. */
  readonly Hostname?: string | null;
  /** @deprecated Has no effect. */
  readonly MBits?: number | null;
  /** Name resolution inside the network. No effect in mode `host`. */
  readonly DNS?: DNSConfigInput | null;
  /** Static ports of the node. */
  readonly ReservedPorts?: readonly PortInput[] | null;
  /** Ports of the node whose numbers are chosen at placement. */
  readonly DynamicPorts?: readonly PortInput[] | null;
  /** Arguments for the network plugin. */
  readonly CNI?: CNIConfigInput | null;
}

/** Name resolution inside the network. The block `dns` of a job specification. */
export interface DNSConfigInput {
  /** Addresses of name servers. */
  readonly Servers?: readonly string[] | null;
  /** Search domains for short names. */
  readonly Searches?: readonly string[] | null;
  /** Options of the resolver. */
  readonly Options?: readonly string[] | null;
}

/**
 * A port of the network; dynamic unless `static` is given. The block `reserved_ports` or `port` of a job
 * specification.
 */
export interface PortInput {
  /** The name by which tasks and services refer to the port, as `${NOMAD_PORT_<label>}`. */
  readonly Label?: string | null;
  /** The number of the port on the node, from 1 to 65535; for reserved ports only. */
  readonly Value?: number | null;
  /** The port inside the network; the same number when left out; -1 means the number on the node. */
  readonly To?: number | null;
  /** The node's network that the port is on; `default` when left out. */
  readonly HostNetwork?: string | null;
  /** Lets other allocations reserve the same port. For the mode `host` only. */
  readonly IgnoreCollision?: boolean | null;
}

/** Arguments for the network plugin. The block `cni` of a job specification. */
export interface CNIConfigInput {
  /** Names and values without semicolons. */
  readonly Args?: { readonly [name: string]: string } | null;
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

/** Log rotation: how much output of the task is kept. The block `logs` of a job specification. */
export interface LogConfigInput {
  /** The number of files kept for each output. Default: `10`. */
  readonly MaxFiles?: number | null;
  /** The maximum size of a file in MB. Default: `10`. */
  readonly MaxFileSizeMB?: number | null;
  /** @deprecated Ignored: use `Disabled`. */
  readonly Enabled?: boolean | null;
  /** Disables the collection of output. Default: `false`. */
  readonly Disabled?: boolean | null;
}

/** Mounts a volume of the group into the task. The block `volume_mount` of a job specification. */
export interface VolumeMountInput {
  /** The name of a volume of the group. */
  readonly Volume?: string | null;
  /** The path of the mount in the task. */
  readonly Destination?: string | null;
  /** Mounts it read-only. Default: `false`. */
  readonly ReadOnly?: boolean | null;
  /** The propagation of mounts inside the volume: `private`, `host-to-task` or `bidirectional`. Default: `private`. */
  readonly PropagationMode?: 'private' | 'host-to-task' | 'bidirectional' | null;
  /** `z` for a label that tasks share, `Z` for a private one. */
  readonly SELinuxLabel?: 'z' | 'Z' | null;
}

/** A signed token that identifies the task to others. The block `identity` of a job specification. */
export interface WorkloadIdentityInput {
  /** From 1 to 128 letters, digits, dashes and underscores. */
  readonly Name?: string | null;
  /** The audiences of the token, preferably a single one. */
  readonly Audience?: readonly string[] | null;
  /** What happens when the token is renewed: `noop`, `restart` or `signal`. */
  readonly ChangeMode?: 'noop' | 'restart' | 'signal' | null;
  /** What the task is sent when `ChangeMode` is `signal`, such as `SIGHUP`. */
  readonly ChangeSignal?: string | null;
  /** Passes the token to the task as `NOMAD_TOKEN_<name>`. No node supports this: the job waits. */
  readonly Env?: boolean | null;
  /** Writes the token to a file in the secrets directory. No node supports this: the job waits. */
  readonly File?: boolean | null;
  /** The file, relative to the directory of the task. Needs `File`. */
  readonly Filepath?: string | null;
  /** The service that the identity represents. Set automatically. */
  readonly ServiceName?: string | null;
  /** How long a token is valid. It never expires when left out. A string such as `30s`, or nanoseconds. */
  readonly TTL?: DurationInput | null;
  /** Names of further claims of the token. */
  readonly ExtraClaims?: readonly string[] | null;
}

/** Weights of the service in name resolution. The block `weights` of a job specification. */
export interface ServiceWeightsInput {
  /** The weight while the service is healthy; at least 1. Default: `1`. */
  readonly Passing?: number | null;
  /** The weight while a check warns; at least 1. Default: `1`. */
  readonly Warning?: number | null;
}

/** Passes a Vault token to the task. The block `vault` of a job specification. */
export interface VaultInput {
  /** @deprecated Ignored. */
  readonly Policies?: readonly string[] | null;
  /** The Vault role of the token. */
  readonly Role?: string | null;
  /** The namespace in Vault that the token is for. */
  readonly Namespace?: string | null;
  /** The cluster of Vault. Default: `default`. */
  readonly Cluster?: string | null;
  /** Passes the token to the task as `VAULT_TOKEN`. Default: `true`. */
  readonly Env?: boolean | null;
  /** Does not write the token to a file. Default: `false`. */
  readonly DisableFile?: boolean | null;
  /** What happens when the token changes: `noop`, `restart` or `signal`. Default: `restart`. */
  readonly ChangeMode?: 'noop' | 'restart' | 'signal' | null;
  /** What the task is sent when `ChangeMode` is `signal`, such as `SIGHUP`. Default: `SIGHUP`. */
  readonly ChangeSignal?: string | null;
  /** Does not renew the token. Default: `false`. */
  readonly AllowTokenExpiration?: boolean | null;
}

/** A secret that the task reads through a provider. The block `secret` of a job specification. */
export interface SecretInput {
  /** From 1 to 128 letters, digits and underscores. */
  readonly Name?: string | null;
  /** `nomad`, `vault`, or the name of a plugin. */
  readonly Provider?: string | null;
  /** The path of the secret. */
  readonly Path?: string | null;
  /** Options of the built-in providers. */
  readonly Config?: { readonly [name: string]: JsonValue } | null;
  /** Environment variables of a plugin. */
  readonly Env?: { readonly [name: string]: string } | null;
}

/** Settings for the service catalogue Consul. The block `consul` of a job specification. */
export interface ConsulInput {
  /** The namespace of the catalogue. */
  readonly Namespace?: string | null;
  /** The cluster of the catalogue. Only `default` is supported. Default: `default`. */
  readonly Cluster?: string | null;
  /** The partition that a node must be in. */
  readonly Partition?: string | null;
}

/** A file that is rendered from a template and watched for changes. The block `template` of a job specification. */
export interface TemplateInput {
  /** A file with the template. Cannot be combined with `EmbeddedTmpl`. */
  readonly SourcePath?: string | null;
  /** The rendered file, relative to the directory of the task. */
  readonly DestPath?: string | null;
  /** The template itself. */
  readonly EmbeddedTmpl?: string | null;
  /** What happens when the output changes: `noop`, `restart`, `signal` or `script`. Default: `restart`. */
  readonly ChangeMode?: 'noop' | 'restart' | 'signal' | 'script' | null;
  /** The script to run when `ChangeMode` is `script`. */
  readonly ChangeScript?: ChangeScriptInput | null;
  /** What the task is sent when `ChangeMode` is `signal`; SIGHUP when left out. */
  readonly ChangeSignal?: string | null;
  /** Renders only before the task starts. Default: `false`. */
  readonly Once?: boolean | null;
  /** The maximum random delay before the change takes effect. A string such as `30s`, or nanoseconds. Default: `5s`. */
  readonly Splay?: DurationInput | null;
  /** The permissions of the file as an octal number. Default: `0644`. */
  readonly Perms?: string | null;
  /** The owner of the file by number; that of the process when left out. */
  readonly Uid?: number | null;
  /** The group of the file by number. */
  readonly Gid?: number | null;
  /** The left delimiter of expressions. Default: `{{`. */
  readonly LeftDelim?: string | null;
  /** The right delimiter of expressions. Default: `}}`. */
  readonly RightDelim?: string | null;
  /** Reads the output as `NAME=value` lines for the environment. Default: `false`. */
  readonly Envvars?: boolean | null;
  /** @deprecated Has no effect. A string such as `30s`, or nanoseconds. Default: `0s`. */
  readonly VaultGrace?: DurationInput | null;
  /** Waits until changes have settled before rendering. */
  readonly Wait?: WaitConfigInput | null;
  /** Fails when the template reads a missing key. Default: `false`. */
  readonly ErrMissingKey?: boolean | null;
}

/** The script that `change_mode = "script"` runs in the task. The block `change_script` of a job specification. */
export interface ChangeScriptInput {
  /** A program inside of the task. */
  readonly Command?: string | null;
  /** Its arguments. */
  readonly Args?: readonly string[] | null;
  /** How long it may run. A string such as `30s`, or nanoseconds. Default: `5s`. */
  readonly Timeout?: DurationInput | null;
  /** Ends the task when the script fails. Default: `false`. */
  readonly FailOnError?: boolean | null;
  /** Runs the script at the first rendering too. Default: `false`. */
  readonly RunOnFirstRender?: boolean | null;
}

/** How long the inputs of a template must be stable before it is rendered. The block `wait` of a job specification. */
export interface WaitConfigInput {
  /** How long to wait for further changes before rendering. A string such as `30s`, or nanoseconds. */
  readonly Min?: DurationInput | null;
  /** The maximum wait. A string such as `30s`, or nanoseconds. */
  readonly Max?: DurationInput | null;
}

/** The file for the payload of a dispatched job. The block `dispatch_payload` of a job specification. */
export interface DispatchPayloadInput {
  /** The file, relative to the local directory of the task. */
  readonly File?: string | null;
}

/** Makes the task run before, beside or after the main tasks. The block `lifecycle` of a job specification. */
export interface TaskLifecycleInput {
  /** When the task starts: `prestart`, `poststart` or `poststop`. */
  readonly Hook?: 'prestart' | 'poststart' | 'poststop' | null;
  /** Whether the task keeps running beside the main tasks; otherwise it must end. */
  readonly Sidecar?: boolean | null;
}

/** A file or archive that is fetched before the task starts. The block `artifact` of a job specification. */
export interface TaskArtifactInput {
  /** A URL. */
  readonly GetterSource?: string | null;
  /** Options of the download; `checksum` as `sha256:<digits>`. */
  readonly GetterOptions?: { readonly [name: string]: string } | null;
  /** Headers of the request. */
  readonly GetterHeaders?: { readonly [name: string]: string } | null;
  /** What is downloaded: a `file`, a `dir` (an archive is unpacked), or `any` of both. Default: `any`. */
  readonly GetterMode?: 'any' | 'file' | 'dir' | null;
  /** Accepts any certificate. Default: `false`. */
  readonly GetterInsecure?: boolean | null;
  /** The destination, relative to the directory of the task. Default: `local/`. */
  readonly RelativeDest?: string | null;
  /** Makes the user of the task the owner of the files. */
  readonly Chown?: boolean | null;
}

/** Makes the task a storage plugin. The block `csi_plugin` of a job specification. */
export interface CSIPluginConfigInput {
  /** The name of the plugin. */
  readonly ID?: string | null;
  /** `node`, `controller` or `monolith`. */
  readonly Type?: 'node' | 'controller' | 'monolith' | null;
  /** The directory with the socket of the plugin. Default: `/csi`. */
  readonly MountDir?: string | null;
  /** The directory in which the plugin mounts volumes. Not below `MountDir`. Default: `/local/csi`. */
  readonly StagePublishBaseDir?: string | null;
  /** How long the plugin may take to respond. A string such as `30s`, or nanoseconds. Default: `30s`. */
  readonly HealthTimeout?: DurationInput | null;
}

/** A command that can be run in the task by name. The block `action` of a job specification. */
export interface ActionInput {
  /** From 1 to 128 characters without white space, unique in the task. */
  readonly Name?: string | null;
  /** A program inside of the task. */
  readonly Command?: string | null;
  /** Its arguments. */
  readonly Args?: readonly string[] | null;
}

/** Lets the task run only at certain times. The block `schedule` of a job specification. */
export interface TaskScheduleInput {
  /** When the task starts and ends. */
  readonly Cron?: TaskScheduleCronInput | null;
}

/** When the task starts and ends. The block `cron` of a job specification. */
export interface TaskScheduleCronInput {
  /** A cron expression. */
  readonly Start?: string | null;
  /** A cron expression of minute and hour. */
  readonly End?: string | null;
  /** The time zone of both. */
  readonly Timezone?: string | null;
}

/** The disk that the tasks of the group share. The block `ephemeral_disk` of a job specification. */
export interface EphemeralDiskInput {
  /**
   * Prefers the node of the replaced allocation; on it, the replacement gets its `alloc/data` and each `local`
   * folder. Default: `false`.
   */
  readonly Sticky?: boolean | null;
  /**
   * MB reserved for the allocation, including logs; at least 10, and 0 for functions. Without the block, a group
   * that has functions only reserves none. Default: `300`.
   */
  readonly SizeMB?: number | null;
  /**
   * Like `Sticky`, on the same node only. On another node the disk is empty, since data is not copied: use a
   * volume. Default: `false`.
   */
  readonly Migrate?: boolean | null;
}

/**
 * How often a failed allocation is replaced, possibly on another node. The block `reschedule` of a job
 * specification.
 */
export interface ReschedulePolicyInput {
  /** The number of replacements within the interval, unless unlimited. Default: `0`. */
  readonly Attempts?: number | null;
  /** The time in which replacements are counted. A string such as `30s`, or nanoseconds. Default: `0s`. */
  readonly Interval?: DurationInput | null;
  /**
   * How long the first replacement waits; at least 5 seconds. A string such as `30s`, or nanoseconds. Default:
   * `30s`.
   */
  readonly Delay?: DurationInput | null;
  /** How the delay grows: `constant`, `exponential` or `fibonacci`. Default: `exponential`. */
  readonly DelayFunction?: 'constant' | 'exponential' | 'fibonacci' | null;
  /** The longest delay. A string such as `30s`, or nanoseconds. Default: `1h0m0s`. */
  readonly MaxDelay?: DurationInput | null;
  /** Replaces the allocation as often as it fails. Default: `true`. */
  readonly Unlimited?: boolean | null;
}

/** A volume that the tasks of the group may mount. The block `volume` of a job specification. */
export interface VolumeRequestInput {
  /** The name by which tasks mount the volume. */
  readonly Name?: string | null;
  /** `host` for a volume of the node, `csi` for one of a volume plugin. Others are dropped. */
  readonly Type?: 'host' | 'csi' | null;
  /** The name of the volume on the node, or its ID. */
  readonly Source?: string | null;
  /** Mounts it read-only. */
  readonly ReadOnly?: boolean | null;
  /** Replacements of an allocation use the same volume. */
  readonly Sticky?: boolean | null;
  /** Which concurrent uses are allowed, such as `single-node-writer`. */
  readonly AccessMode?:
    | 'single-node-reader-only'
    | 'single-node-writer'
    | 'single-node-single-writer'
    | 'single-node-multi-writer'
    | 'multi-node-reader-only'
    | 'multi-node-single-writer'
    | 'multi-node-multi-writer'
    | null;
  /** `file-system` or `block-device`. */
  readonly AttachmentMode?: 'file-system' | 'block-device' | null;
  /** Options of the mount. For volumes of a plugin. */
  readonly MountOptions?: CSIMountOptionsInput | null;
  /** Adds the index of the allocation to the source, so that each has a separate volume. */
  readonly PerAlloc?: boolean | null;
}

/** How the volume is mounted. The block `mount_options` of a job specification. */
export interface CSIMountOptionsInput {
  /** The type of the file system, such as `ext4`. */
  readonly FSType?: string | null;
  /** Options of the mount, such as `noatime`. */
  readonly MountFlags?: readonly string[] | null;
}

/** Runs the job in several regions. The block `multiregion` of a job specification. */
export interface MultiregionInput {
  /** How the regions are updated. */
  readonly Strategy?: MultiregionStrategyInput | null;
  /** The regions, each with its own counts. */
  readonly Regions?: readonly MultiregionRegionInput[] | null;
}

/** How a change is rolled out over the regions. The block `strategy` of a job specification. */
export interface MultiregionStrategyInput {
  /** How many regions are updated at the same time; 0 means all. Default: `0`. */
  readonly MaxParallel?: number | null;
  /** Which regions fail with a failed one: `fail_all`, `fail_local`, or none when empty. */
  readonly OnFailure?: string | null;
}

/** One region of the job. The block `region` of a job specification. */
export interface MultiregionRegionInput {
  /** The name of the region in the configuration of its servers. */
  readonly Name?: string | null;
  /** The count of groups that have the count 0. Default: `1`. */
  readonly Count?: number | null;
  /** Replaces those of the job. */
  readonly Datacenters?: readonly string[] | null;
  /** Replaces that of the job. */
  readonly NodePool?: string | null;
  /** Added to that of the job. */
  readonly Meta?: { readonly [name: string]: string } | null;
}

/** Launches an instance of the job at every time of a schedule. The block `periodic` of a job specification. */
export interface PeriodicConfigInput {
  /** Whether the schedule is active. Default: `true`. */
  readonly Enabled?: boolean | null;
  /** One cron expression. Use `Specs`. */
  readonly Spec?: string | null;
  /**
   * Cron expressions of 5 to 7 fields, or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. Launches when any
   * of them is due.
   */
  readonly Specs?: readonly string[] | null;
  /** Always `cron`. Default: `cron`. */
  readonly SpecType?: string | null;
  /** Skips a launch while an earlier instance still runs. Default: `false`. */
  readonly ProhibitOverlap?: boolean | null;
  /** The time zone of the expressions: a name from the IANA database, such as `Europe/Berlin`. Default: `UTC`. */
  readonly TimeZone?: string | null;
}

/**
 * Makes the job a template that is dispatched with a payload and meta. The block `parameterized` of a job
 * specification.
 */
export interface ParameterizedJobConfigInput {
  /** Whether a dispatch has a payload: `optional`, `required` or `forbidden`. */
  readonly Payload?: 'optional' | 'required' | 'forbidden' | null;
  /** Meta keys that a dispatch must set. */
  readonly MetaRequired?: readonly string[] | null;
  /** Meta keys that a dispatch may set. */
  readonly MetaOptional?: readonly string[] | null;
}

/** A description and links for web interfaces. The block `ui` of a job specification. */
export interface JobUIConfigInput {
  /** A string in Markdown of at most 1000 bytes. */
  readonly Description?: string | null;
  /** Links below the description. */
  readonly Links?: readonly JobUILinkInput[] | null;
}

/** A link on the page of the job. The block `link` of a job specification. */
export interface JobUILinkInput {
  /** The label of the link. */
  readonly Label?: string | null;
  /** The target of the link. */
  readonly URL?: string | null;
}

/** The name under which a version of the job is kept. Only in the JSON form. */
export interface JobVersionTagInput {
  /** Unique among the versions of the job. */
  readonly Name?: string | null;
  /** A string of at most 1000 bytes. */
  readonly Description?: string | null;
  /** When the tag was set, in nanoseconds since 1970. */
  readonly TaggedTime?: number | null;
}
