// Made by `renderJobInputTypes` from the tables in `src/jobs`. Do not edit.

import type { DurationInput } from './duration-input.js';
import type { JsonValue } from './field-table.js';

export interface JobInput {
  /** Registers the job as a stopped one: nothing of it runs. Default: `false`. */
  readonly Stop?: boolean | null;
  /** The region that the job runs in; `global` is the region of the server that is asked. Default: `global`. */
  readonly Region?: string | null;
  /** The namespace, which separates the IDs and rights of jobs. Default: `default`. */
  readonly Namespace?: string | null;
  /**
   * What the job is known by in its namespace. May have slashes; not spaces, and not the name of an operation at
   * its end.
   */
  readonly ID?: string | null;
  /** Set by the server; ignored in a submission. */
  readonly ParentID?: string | null;
  /** A name for people, which need not be unique. */
  readonly Name?: string | null;
  /**
   * `service` runs until it is stopped, `batch` until it is done, `system` on every node, `sysbatch` once on every
   * node. Default: `service`.
   */
  readonly Type?: 'service' | 'batch' | 'system' | 'sysbatch' | null;
  /** From 1 to 100. Work of a higher priority is placed first. Default: `50`. */
  readonly Priority?: number | null;
  /** Places all allocations of an evaluation or none of them. Default: `false`. */
  readonly AllAtOnce?: boolean | null;
  /** Names of datacenters whose nodes may run the job; `*` stands for any part of a name. */
  readonly Datacenters?: readonly string[] | null;
  /** The pool whose nodes may run the job; `all` is every node. */
  readonly NodePool?: string | null;
  /** Rules that a node must satisfy. */
  readonly Constraints?: readonly ConstraintInput[] | null;
  /** Rules that a node should satisfy. */
  readonly Affinities?: readonly AffinityInput[] | null;
  /** Attributes over whose values allocations are spread. */
  readonly Spreads?: readonly SpreadInput[] | null;
  /** The groups of tasks that the job consists of. At least one is needed. */
  readonly TaskGroups?: readonly TaskGroupInput[] | null;
  /** How running allocations are replaced when the job changes; every group inherits it. */
  readonly Update?: UpdateStrategyInput | null;
  /** Runs the job in several regions. Refused here. */
  readonly Multiregion?: MultiregionInput | null;
  /** Launches instances of the job by the clock. For batch and sysbatch jobs. */
  readonly Periodic?: PeriodicConfigInput | null;
  /** Makes the job a template whose instances are dispatched with a payload and meta. For batch and sysbatch jobs. */
  readonly ParameterizedJob?: ParameterizedJobConfigInput | null;
  /** The policy that groups without one of their own take over. */
  readonly Reschedule?: ReschedulePolicyInput | null;
  /** The policy that groups without one of their own take over. */
  readonly Migrate?: MigrateStrategyInput | null;
  /** Set by the server; ignored in a submission. */
  readonly Dispatched?: boolean | null;
  /** Set by the server; ignored in a submission. */
  readonly DispatchIdempotencyToken?: string | null;
  /** Given at dispatch, as base64. A registration with one is refused. */
  readonly Payload?: string | null;
  /** Names and texts for the job. Tasks find them as `NOMAD_META_<name>` in their environment. */
  readonly Meta?: { readonly [name: string]: string } | null;
  /** @deprecated Ignored. */
  readonly ConsulNamespace?: string | null;
  /** Kept with the job. There is no Vault here. */
  readonly VaultNamespace?: string | null;
  /** Set by the server; ignored in a submission. */
  readonly NomadTokenID?: string | null;
  /** Set by the server; ignored in a submission. */
  readonly Status?: string | null;
  /** Set by the server; ignored in a submission. */
  readonly StatusDescription?: string | null;
  /** Set by the server; ignored in a submission. Default: `false`. */
  readonly Stable?: boolean | null;
  /**
   * The number of the version. Kept when it is ahead of the stored one; else the next number is taken. Default:
   * `0`.
   */
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
  /** A name for this version, which keeps it from being pruned. */
  readonly VersionTag?: JobVersionTagInput | null;
}

export interface ConstraintInput {
  /** What is compared: an interpolation such as `${attr.kernel.name}`, `${meta.rack}` or `${node.class}`. */
  readonly LTarget?: string | null;
  /** What it is compared with. */
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

export interface AffinityInput {
  /** What is compared: an interpolation such as `${attr.kernel.name}`, `${meta.rack}` or `${node.class}`. */
  readonly LTarget?: string | null;
  /** What it is compared with. */
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

export interface SpreadInput {
  /** An interpolation over whose values allocations are spread, such as `${node.datacenter}`. */
  readonly Attribute?: string | null;
  /** From 1 to 100, against other spreads. A whole number from -128 to 127. Default: `50`. */
  readonly Weight?: number | null;
  /** How much each value should get; evenly over all values when there is none. */
  readonly SpreadTarget?: readonly SpreadTargetInput[] | null;
}

export interface SpreadTargetInput {
  /** A value of the attribute. */
  readonly Value?: string | null;
  /** From 0 to 100. All targets together at most 100; other values share the rest. A whole number from 0 to 255. */
  readonly Percent?: number | null;
}

export interface TaskGroupInput {
  /** Unique in the job, at most 128 bytes. */
  readonly Name?: string | null;
  /** How many allocations of the group run. 0 is none. Default: `1`. */
  readonly Count?: number | null;
  /**
   * How running allocations are replaced when the job changes; what is left out is taken from the job. For service
   * and system jobs.
   */
  readonly Update?: UpdateStrategyInput | null;
  /** How allocations leave a draining node. For service jobs. */
  readonly Migrate?: MigrateStrategyInput | null;
  /** Rules that a node must satisfy, beside those of the job. */
  readonly Constraints?: readonly ConstraintInput[] | null;
  /** Bounds for the count, and the policy of an autoscaler. */
  readonly Scaling?: ScalingPolicyInput | null;
  /** How often a failed task is started again on its node. */
  readonly RestartPolicy?: RestartPolicyInput | null;
  /** What happens to allocations whose node is out of reach. */
  readonly Disconnect?: DisconnectStrategyInput | null;
  /** The tasks that run together on one node. At least one without a lifecycle is needed. */
  readonly Tasks?: readonly TaskInput[] | null;
  /** The disk that the tasks of an allocation share. */
  readonly EphemeralDisk?: EphemeralDiskInput | null;
  /** Names and texts for the group; they win over those of the job. */
  readonly Meta?: { readonly [name: string]: string } | null;
  /** How often a failed allocation is placed anew. For service and batch jobs. */
  readonly ReschedulePolicy?: ReschedulePolicyInput | null;
  /** Rules that a node should satisfy. */
  readonly Affinities?: readonly AffinityInput[] | null;
  /** Attributes over whose values the allocations of the group are spread. */
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
   * How long tasks run on after their services were taken out of the catalogue. A text such as `30s`, or
   * nanoseconds.
   */
  readonly ShutdownDelay?: DurationInput | null;
  /**
   * How long an allocation may run before it is ended. For batch and sysbatch jobs. A text such as `30s`, or
   * nanoseconds.
   */
  readonly MaxRunDuration?: DurationInput | null;
  /** @deprecated Has no effect any more: use `Disconnect`. A text such as `30s`, or nanoseconds. */
  readonly StopAfterClientDisconnect?: DurationInput | null;
  /** @deprecated Has no effect any more: use `Disconnect`. A text such as `30s`, or nanoseconds. */
  readonly MaxClientDisconnect?: DurationInput | null;
  /** @deprecated Has no effect any more: use `Disconnect`. */
  readonly PreventRescheduleOnLost?: boolean | null;
}

export interface UpdateStrategyInput {
  /** The time between two allocations of a system job. A text such as `30s`, or nanoseconds. Default: `30s`. */
  readonly Stagger?: DurationInput | null;
  /** How many allocations are replaced at the same time. 0 replaces all at once, without a deployment. Default: `1`. */
  readonly MaxParallel?: number | null;
  /** What makes an allocation healthy: `checks` of its services, `task_states`, or `manual`. Default: `checks`. */
  readonly HealthCheck?: 'checks' | 'task_states' | 'manual' | null;
  /**
   * How long an allocation must be healthy before the next one is replaced. A text such as `30s`, or nanoseconds.
   * Default: `10s`.
   */
  readonly MinHealthyTime?: DurationInput | null;
  /** How long an allocation may take to become healthy. A text such as `30s`, or nanoseconds. Default: `5m0s`. */
  readonly HealthyDeadline?: DurationInput | null;
  /**
   * How long a deployment may go without a newly healthy allocation. 0 fails it with the first unhealthy one. A
   * text such as `30s`, or nanoseconds. Default: `10m0s`.
   */
  readonly ProgressDeadline?: DurationInput | null;
  /** Goes back to the last stable version when the deployment fails. Default: `false`. */
  readonly AutoRevert?: boolean | null;
  /** Promotes canaries as soon as all are healthy. Default: `false`. */
  readonly AutoPromote?: boolean | null;
  /** How many allocations of the new version run beside the old ones until they are promoted. Default: `0`. */
  readonly Canary?: number | null;
}

export interface MigrateStrategyInput {
  /** How many allocations are moved at the same time. Default: `1`. */
  readonly MaxParallel?: number | null;
  /** What makes a moved allocation healthy: `checks` or `task_states`. Default: `checks`. */
  readonly HealthCheck?: 'checks' | 'task_states' | null;
  /** How long it must be healthy before the next one is moved. A text such as `30s`, or nanoseconds. Default: `10s`. */
  readonly MinHealthyTime?: DurationInput | null;
  /** How long it may take to become healthy. A text such as `30s`, or nanoseconds. Default: `5m0s`. */
  readonly HealthyDeadline?: DurationInput | null;
}

export interface ScalingPolicyInput {
  /** Set by the server; ignored in a submission. */
  readonly ID?: string | null;
  /** `horizontal` for the count of a group; `vertical_cpu` or `vertical_mem` for a task. Default: `horizontal`. */
  readonly Type?: 'horizontal' | 'vertical_cpu' | 'vertical_mem' | null;
  /** @deprecated Ignored. */
  readonly Namespace?: string | null;
  /** What is scaled. Namespace, job, group and task are filled in. */
  readonly Target?: { readonly [name: string]: string } | null;
  /** The policy, as the autoscaler reads it. */
  readonly Policy?: { readonly [name: string]: JsonValue } | null;
  /** The least value; the count of the group when left out. Default: `1`. */
  readonly Min?: number | null;
  /** The greatest value. Needed. */
  readonly Max?: number | null;
  /** Whether the autoscaler may change the value. Default: `true`. */
  readonly Enabled?: boolean | null;
  /** Set by the server; ignored in a submission. */
  readonly CreateIndex?: number | null;
  /** Set by the server; ignored in a submission. */
  readonly ModifyIndex?: number | null;
}

export interface RestartPolicyInput {
  /**
   * How many restarts within the interval. 2 for service and system jobs, 3 for batch and sysbatch jobs when left
   * out. Default: `2`.
   */
  readonly Attempts?: number | null;
  /**
   * The time in which restarts are counted. 30 minutes or 24 hours when left out. A text such as `30s`, or
   * nanoseconds. Default: `30m0s`.
   */
  readonly Interval?: DurationInput | null;
  /**
   * How long a restart waits, with up to a quarter more by chance. A text such as `30s`, or nanoseconds. Default:
   * `15s`.
   */
  readonly Delay?: DurationInput | null;
  /**
   * What happens when there are no attempts left: `fail` the allocation, or `delay` until the interval is over.
   * Default: `fail`.
   */
  readonly Mode?: 'fail' | 'delay' | null;
  /** Renders the templates anew before a restart. Default: `false`. */
  readonly RenderTemplates?: boolean | null;
}

export interface DisconnectStrategyInput {
  /** How long an allocation is waited for before it counts as lost. A text such as `30s`, or nanoseconds. */
  readonly LostAfter?: DurationInput | null;
  /** How long a node that is out of reach lets the allocation run. A text such as `30s`, or nanoseconds. */
  readonly StopOnClientAfter?: DurationInput | null;
  /** Whether another allocation runs in its place meanwhile. Default: `true`. */
  readonly Replace?: boolean | null;
  /**
   * Which one stays when the node is back: `best_score`, `longest_running`, `keep_original` or `keep_replacement`.
   * Default: `best_score`.
   */
  readonly Reconcile?: 'best_score' | 'longest_running' | 'keep_original' | 'keep_replacement' | null;
}

export interface TaskInput {
  /** Unique in the group, at most 128 bytes, without slashes. */
  readonly Name?: string | null;
  /** What runs the task, such as `raw_exec` or `function`. */
  readonly Driver?: string | null;
  /** The user of the node that the task runs as. */
  readonly User?: string | null;
  /** The configuration of the driver. */
  readonly Config?: { readonly [name: string]: JsonValue } | null;
  /** Variables of the environment. May interpolate `${NOMAD_…}`, `${attr.…}` and `${meta.…}`. */
  readonly Env?: { readonly [name: string]: string } | null;
  /** Services that the task registers. */
  readonly Services?: readonly ServiceInput[] | null;
  /** A token for Vault. There is no Vault here: refused. */
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
  /** Processor, memory and devices that are set aside for the task. */
  readonly Resources?: ResourcesInput | null;
  /** How often the task is started again; what is left out is taken from the group. */
  readonly RestartPolicy?: RestartPolicyInput | null;
  /** Writes the payload of a dispatch to a file. */
  readonly DispatchPayload?: DispatchPayloadInput | null;
  /** Starts the task before, with or after the main tasks; without it the task is one of them. */
  readonly Lifecycle?: TaskLifecycleInput | null;
  /** Names and texts for the task; they win over those of the group and the job. */
  readonly Meta?: { readonly [name: string]: string } | null;
  /** How long the task may take to end before it is killed. A text such as `30s`, or nanoseconds. Default: `5s`. */
  readonly KillTimeout?: DurationInput | null;
  /** How much of the output is kept. */
  readonly LogConfig?: LogConfigInput | null;
  /** Files that are downloaded before the task starts. */
  readonly Artifacts?: readonly TaskArtifactInput[] | null;
  /** Ends the other tasks of the group when this one ends. */
  readonly Leader?: boolean | null;
  /**
   * How long the task runs on after its services were taken out of the catalogue. A text such as `30s`, or
   * nanoseconds.
   */
  readonly ShutdownDelay?: DurationInput | null;
  /** Where volumes of the group are mounted. */
  readonly VolumeMounts?: readonly VolumeMountInput[] | null;
  /** Bounds for the resources of the task. */
  readonly ScalingPolicies?: readonly ScalingPolicyInput[] | null;
  /** The signal that asks the task to end; SIGINT when left out. */
  readonly KillSignal?: string | null;
  /** Marks tasks of the service mesh. Filled in. */
  readonly Kind?: string | null;
  /** Makes the task a plugin for volumes. */
  readonly CSIPluginConfig?: CSIPluginConfigInput | null;
  /** The default identity of the task. */
  readonly Identity?: WorkloadIdentityInput | null;
  /** Tokens that say who the task is, for other systems. */
  readonly Identities?: readonly WorkloadIdentityInput[] | null;
  /** Commands that can be run inside of the task. */
  readonly Actions?: readonly ActionInput[] | null;
  /** Times in which the task runs. Refused here. */
  readonly Schedule?: TaskScheduleInput | null;
}

export interface ServiceInput {
  /**
   * One DNS label. `<job>-<group>` or `<job>-<group>-<task>` when left out; may interpolate `${JOB}`,
   * `${TASKGROUP}`, `${TASK}`, `${BASE}`. Default: `--`.
   */
  readonly Name?: string | null;
  /** The task that a service of the group belongs to. */
  readonly TaskName?: string | null;
  /** The label of a port, or its number. */
  readonly PortLabel?: string | null;
  /** Which address is registered: `auto`, `host`, `driver`, `alloc` or `alloc_ipv6`. Default: `auto`. */
  readonly AddressMode?: 'auto' | 'host' | 'driver' | 'alloc' | 'alloc_ipv6' | null;
  /** An address of your own. Needs the mode `auto`. */
  readonly Address?: string | null;
  /** Lets others change the tags in the catalogue. */
  readonly EnableTagOverride?: boolean | null;
  /** Tags of the service. */
  readonly Tags?: readonly string[] | null;
  /** Tags while the allocation is a canary. */
  readonly CanaryTags?: readonly string[] | null;
  /** How the health of the service is found out. */
  readonly Checks?: readonly ServiceCheckInput[] | null;
  /** The policy that checks without one of their own take over. */
  readonly CheckRestart?: CheckRestartInput | null;
  /** The service mesh. */
  readonly Connect?: ConnectInput | null;
  /** Names and texts in the catalogue. */
  readonly Meta?: { readonly [name: string]: string } | null;
  /** The same while the allocation is a canary. */
  readonly CanaryMeta?: { readonly [name: string]: string } | null;
  /** Further addresses by name. */
  readonly TaggedAddresses?: { readonly [name: string]: string } | null;
  /**
   * How checks count during a deployment: `require_healthy`, `ignore_warnings` or `ignore`. Default:
   * `require_healthy`.
   */
  readonly OnUpdate?: 'require_healthy' | 'ignore_warnings' | 'ignore' | null;
  /** The identity that the service is registered with. */
  readonly Identity?: WorkloadIdentityInput | null;
  /** Weights in answers of the catalogue. */
  readonly Weights?: ServiceWeightsInput | null;
  /**
   * `nomad` for the built-in catalogue, `consul` for Consul. All services of a group have the same. Default:
   * `consul`.
   */
  readonly Provider?: 'consul' | 'nomad' | null;
  /** The cluster of the catalogue. Default: `default`. */
  readonly Cluster?: string | null;
  /** The kind of a service of the mesh. */
  readonly Kind?: string | null;
}

export interface ServiceCheckInput {
  /** A name for people. */
  readonly Name?: string | null;
  /** `http`, `tcp`, `grpc` or `script`; only the first two with the provider `nomad`. */
  readonly Type?: 'http' | 'tcp' | 'grpc' | 'script' | null;
  /** The program of a script check. */
  readonly Command?: string | null;
  /** Its arguments. */
  readonly Args?: readonly string[] | null;
  /** The path of an http check, relative. */
  readonly Path?: string | null;
  /** `http` or `https`. */
  readonly Protocol?: string | null;
  /** The port to ask at; the service's when left out. */
  readonly PortLabel?: string | null;
  /** Lets the check through the proxy of the mesh. */
  readonly Expose?: boolean | null;
  /** Which address is asked: `host`, `driver`, `alloc` or `alloc_ipv6`. */
  readonly AddressMode?: 'host' | 'driver' | 'alloc' | 'alloc_ipv6' | null;
  /** @deprecated Ignored. */
  readonly Advertise?: string | null;
  /** The time between two checks; at least 1 second. A text such as `30s`, or nanoseconds. */
  readonly Interval?: DurationInput | null;
  /** How long one check may take; at least 1 second. A text such as `30s`, or nanoseconds. */
  readonly Timeout?: DurationInput | null;
  /** The state before the first check: `passing`, `warning` or `critical`. */
  readonly InitialStatus?: 'passing' | 'warning' | 'critical' | null;
  /** A text for people. */
  readonly Notes?: string | null;
  /** The name that the certificate must have. */
  readonly TLSServerName?: string | null;
  /** Accepts any certificate. */
  readonly TLSSkipVerify?: boolean | null;
  /** Headers of an http check, each with a list of values. */
  readonly Header?: { readonly [name: string]: readonly string[] } | null;
  /** The method of an http check; GET when left out. */
  readonly Method?: string | null;
  /** Restarts the task when the check keeps failing. */
  readonly CheckRestart?: CheckRestartInput | null;
  /** The service that a grpc check asks for. */
  readonly GRPCService?: string | null;
  /** Asks through TLS. */
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

export interface CheckRestartInput {
  /** After how many failed checks in a row the task is restarted. 0 is never. */
  readonly Limit?: number | null;
  /** How long checks do not count after the task started. A text such as `30s`, or nanoseconds. Default: `1s`. */
  readonly Grace?: DurationInput | null;
  /** Counts a warning as passing. */
  readonly IgnoreWarnings?: boolean | null;
}

export interface ConnectInput {
  /** The task speaks the protocol of the mesh itself. */
  readonly Native?: boolean | null;
  /** Makes the service a gateway. Refused here. */
  readonly Gateway?: GatewayInput | null;
  /** Puts a proxy in front of the service. */
  readonly SidecarService?: SidecarServiceInput | null;
  /** What differs in the task of the proxy. */
  readonly SidecarTask?: SidecarTaskInput | null;
}

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

export interface GatewayProxyInput {
  /** How long a connection may take to open. A text such as `30s`, or nanoseconds. Default: `5s`. */
  readonly ConnectTimeout?: DurationInput | null;
  /** Listens on the service's tagged addresses. */
  readonly EnvoyGatewayBindTaggedAddresses?: boolean | null;
  /** Where the gateway listens, by name. */
  readonly EnvoyGatewayBindAddresses?: { readonly [label: string]: GatewayBindAddressInput } | null;
  /** Does not listen on the default address. */
  readonly EnvoyGatewayNoDefaultBind?: boolean | null;
  /** `STRICT_DNS` or `LOGICAL_DNS`. */
  readonly EnvoyDNSDiscoveryType?: string | null;
  /** Further configuration of the proxy. */
  readonly Config?: { readonly [name: string]: JsonValue } | null;
}

export interface GatewayBindAddressInput {
  /** @deprecated Ignored: the label counts. */
  readonly Name?: string | null;
  /** The address. */
  readonly Address?: string | null;
  /** The port. */
  readonly Port?: number | null;
}

export interface IngressGatewayInput {
  /** TLS of all listeners. */
  readonly TLS?: GatewayTLSConfigInput | null;
  /** Where traffic comes in. */
  readonly Listeners?: readonly IngressListenerInput[] | null;
}

export interface GatewayTLSConfigInput {
  /** Whether TLS is used. */
  readonly Enabled?: boolean | null;
  /** The lowest version of TLS. */
  readonly TLSMinVersion?: string | null;
  /** The highest version of TLS. */
  readonly TLSMaxVersion?: string | null;
  /** The ciphers that are allowed. */
  readonly CipherSuites?: readonly string[] | null;
  /** Where certificates come from. */
  readonly SDS?: GatewayTLSSDSConfigInput | null;
}

export interface GatewayTLSSDSConfigInput {
  /** The cluster that serves certificates. */
  readonly ClusterName?: string | null;
  /** The name of the certificate. */
  readonly CertResource?: string | null;
}

export interface IngressListenerInput {
  /** The port. */
  readonly Port?: number | null;
  /** `tcp`, `http`, `http2` or `grpc`. Default: `tcp`. */
  readonly Protocol?: string | null;
  /** The services that it leads to. */
  readonly Services?: readonly IngressServiceInput[] | null;
}

export interface IngressServiceInput {
  /** The name of the service; `*` for all. */
  readonly Name?: string | null;
  /** The hosts that lead to it. */
  readonly Hosts?: readonly string[] | null;
  /** TLS for these hosts. */
  readonly TLS?: GatewayTLSConfigInput | null;
  /** Headers that are changed in requests. */
  readonly RequestHeaders?: HTTPHeaderModifiersInput | null;
  /** Headers that are changed in answers. */
  readonly ResponseHeaders?: HTTPHeaderModifiersInput | null;
  /** How many connections are open at most. A whole number from 0 to 4294967295. */
  readonly MaxConnections?: number | null;
  /** How many requests wait at most. A whole number from 0 to 4294967295. */
  readonly MaxPendingRequests?: number | null;
  /** How many requests run at most. A whole number from 0 to 4294967295. */
  readonly MaxConcurrentRequests?: number | null;
}

export interface HTTPHeaderModifiersInput {
  /** Headers that are added. */
  readonly Add?: { readonly [name: string]: string } | null;
  /** Headers that are set. */
  readonly Set?: { readonly [name: string]: string } | null;
  /** Headers that are removed. */
  readonly Remove?: readonly string[] | null;
}

export interface TerminatingGatewayInput {
  /** The services outside of the mesh. */
  readonly Services?: readonly LinkedServiceInput[] | null;
}

export interface LinkedServiceInput {
  /** The name of the service. */
  readonly Name?: string | null;
  /** The file of the authority that signed its certificate. */
  readonly CAFile?: string | null;
  /** The file of the certificate that the gateway shows. */
  readonly CertFile?: string | null;
  /** The file of its key. */
  readonly KeyFile?: string | null;
  /** The name that is asked for. */
  readonly SNI?: string | null;
}

export type MeshGatewayInput = { readonly [name: string]: never };

export interface SidecarServiceInput {
  /** Tags of the proxy in the catalogue. */
  readonly Tags?: readonly string[] | null;
  /** The label of its port; one is made when left out. */
  readonly Port?: string | null;
  /** The configuration of the proxy. */
  readonly Proxy?: SidecarProxyInput | null;
  /** Leaves out the check of its port. */
  readonly DisableDefaultTCPCheck?: boolean | null;
  /** Names and texts in the catalogue. */
  readonly Meta?: { readonly [name: string]: string } | null;
}

export interface SidecarProxyInput {
  /** Where the service listens. */
  readonly LocalServiceAddress?: string | null;
  /** The port that it listens on. */
  readonly LocalServicePort?: number | null;
  /** Paths that are reached without the mesh. */
  readonly Expose?: ExposeConfigInput | null;
  /** @deprecated An older spelling of `Expose`. */
  readonly ExposeConfig?: ExposeConfigInput | null;
  /** Services that are reached through the proxy. */
  readonly Upstreams?: readonly UpstreamInput[] | null;
  /** Leads all traffic of the network through the proxy. */
  readonly TransparentProxy?: TransparentProxyInput | null;
  /** Further configuration of the proxy. */
  readonly Config?: { readonly [name: string]: JsonValue } | null;
}

export interface ExposeConfigInput {
  /** The paths. */
  readonly Paths?: readonly ExposePathInput[] | null;
  /** @deprecated An older spelling of `Paths`. */
  readonly Path?: readonly ExposePathInput[] | null;
}

export interface ExposePathInput {
  /** The path. */
  readonly Path?: string | null;
  /** `http` or `http2`. */
  readonly Protocol?: string | null;
  /** The port that the service listens on. */
  readonly LocalPathPort?: number | null;
  /** The label of the port that the proxy listens on. */
  readonly ListenerPort?: string | null;
}

export interface UpstreamInput {
  /** The name of the service. */
  readonly DestinationName?: string | null;
  /** Its namespace. */
  readonly DestinationNamespace?: string | null;
  /** Its partition. */
  readonly DestinationPartition?: string | null;
  /** Its peer. */
  readonly DestinationPeer?: string | null;
  /** `service` or `prepared_query`. */
  readonly DestinationType?: string | null;
  /** The port on which the task reaches it. */
  readonly LocalBindPort?: number | null;
  /** Its datacenter. */
  readonly Datacenter?: string | null;
  /** The address on which the task reaches it. */
  readonly LocalBindAddress?: string | null;
  /** A socket instead of a port. */
  readonly LocalBindSocketPath?: string | null;
  /** The rights of the socket. */
  readonly LocalBindSocketMode?: string | null;
  /** How other datacenters are reached. */
  readonly MeshGateway?: UpstreamMeshGatewayInput | null;
  /** Further configuration of the upstream. */
  readonly Config?: { readonly [name: string]: JsonValue } | null;
}

export interface UpstreamMeshGatewayInput {
  /** `none`, `local` or `remote`. */
  readonly Mode?: string | null;
}

export interface TransparentProxyInput {
  /** The user that the proxy runs as. */
  readonly UID?: string | null;
  /** The port of the proxy for outgoing traffic. A whole number from 0 to 65535. */
  readonly OutboundPort?: number | null;
  /** Ports or labels that are reached without the proxy. */
  readonly ExcludeInboundPorts?: readonly string[] | null;
  /** Ports that are left without the proxy. */
  readonly ExcludeOutboundPorts?: readonly number[] | null;
  /** Networks that are reached without the proxy. */
  readonly ExcludeOutboundCIDRs?: readonly string[] | null;
  /** Users whose traffic passes the proxy by. */
  readonly ExcludeUIDs?: readonly string[] | null;
  /** Leaves the look-up of names as it is. */
  readonly NoDNS?: boolean | null;
}

export interface SidecarTaskInput {
  /** The name of the task. */
  readonly Name?: string | null;
  /** What runs the proxy. */
  readonly Driver?: string | null;
  /** The user that it runs as. */
  readonly User?: string | null;
  /** The configuration of the driver, laid over the built-in one. */
  readonly Config?: { readonly [name: string]: JsonValue } | null;
  /** Variables of the environment. */
  readonly Env?: { readonly [name: string]: string } | null;
  /** Processor and memory. */
  readonly Resources?: ResourcesInput | null;
  /** Names and texts for the task. */
  readonly Meta?: { readonly [name: string]: string } | null;
  /** How long the proxy may take to end. A text such as `30s`, or nanoseconds. Default: `5s`. */
  readonly KillTimeout?: DurationInput | null;
  /** How much of the output is kept. */
  readonly LogConfig?: LogConfigInput | null;
  /**
   * How long the proxy runs on after the service was taken out of the catalogue. A text such as `30s`, or
   * nanoseconds. Default: `0s`.
   */
  readonly ShutdownDelay?: DurationInput | null;
  /** The signal that asks it to end. */
  readonly KillSignal?: string | null;
  /** Where volumes of the group are mounted. */
  readonly VolumeMounts?: readonly VolumeMountInput[] | null;
  /** Tokens for other systems. */
  readonly Identities?: readonly WorkloadIdentityInput[] | null;
}

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
  /** @deprecated Has no effect any more. */
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

export interface NetworkResourceInput {
  /** `host` (the network of the node), `bridge`, `none` or `cni/<name>`. */
  readonly Mode?: string | null;
  /** @deprecated Ignored. */
  readonly Device?: string | null;
  /** @deprecated Ignored. */
  readonly CIDR?: string | null;
  /** @deprecated Ignored. */
  readonly IP?: string | null;
  /** The name of the host inside of the network. */
  readonly Hostname?: string | null;
  /** @deprecated Has no effect any more. */
  readonly MBits?: number | null;
  /** How names are looked up inside of the network. */
  readonly DNS?: DNSConfigInput | null;
  /** Ports of the node with a number of your choice. */
  readonly ReservedPorts?: readonly PortInput[] | null;
  /** Ports of the node with a number that is chosen at placement. */
  readonly DynamicPorts?: readonly PortInput[] | null;
  /** Arguments for the network plugin. */
  readonly CNI?: CNIConfigInput | null;
}

export interface DNSConfigInput {
  /** Addresses of name servers. */
  readonly Servers?: readonly string[] | null;
  /** Domains that short names are looked up in. */
  readonly Searches?: readonly string[] | null;
  /** Options of the resolver. */
  readonly Options?: readonly string[] | null;
}

export interface PortInput {
  /** The name by which tasks and services refer to the port, as `${NOMAD_PORT_<label>}`. */
  readonly Label?: string | null;
  /** The number of the port on the node, from 1 to 65535; for reserved ports only. */
  readonly Value?: number | null;
  /** The number inside of the network; the same one when left out, and the number on the node for -1. */
  readonly To?: number | null;
  /** The node's network that the port is on; `default` when left out. */
  readonly HostNetwork?: string | null;
  /** Lets other allocations reserve the same port. For the mode `host` only. */
  readonly IgnoreCollision?: boolean | null;
}

export interface CNIConfigInput {
  /** Names and values without semicolons. */
  readonly Args?: { readonly [name: string]: string } | null;
}

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

export interface NUMAInput {
  /** `none`, `prefer` or `require`. Default: `none`. */
  readonly Affinity?: 'none' | 'prefer' | 'require' | null;
  /** Names of devices that must be at the same place. */
  readonly Devices?: readonly string[] | null;
}

export interface LogConfigInput {
  /** How many files of each output are kept. Default: `10`. */
  readonly MaxFiles?: number | null;
  /** MB of one file. Default: `10`. */
  readonly MaxFileSizeMB?: number | null;
  /** @deprecated Ignored: use `Disabled`. */
  readonly Enabled?: boolean | null;
  /** Collects no output. Default: `false`. */
  readonly Disabled?: boolean | null;
}

export interface VolumeMountInput {
  /** The name of a volume of the group. */
  readonly Volume?: string | null;
  /** Where the task sees it. */
  readonly Destination?: string | null;
  /** Mounts it for reading only. */
  readonly ReadOnly?: boolean | null;
  /** How mounts inside of the volume are seen: `private`, `host-to-task` or `bidirectional`. */
  readonly PropagationMode?: 'private' | 'host-to-task' | 'bidirectional' | null;
  /** `z` for a label that tasks share, `Z` for one of its own. */
  readonly SELinuxLabel?: 'z' | 'Z' | null;
}

export interface WorkloadIdentityInput {
  /** From 1 to 128 letters, digits, dashes and underscores. */
  readonly Name?: string | null;
  /** Who the token is for. One is best. */
  readonly Audience?: readonly string[] | null;
  /** What happens when a new token is made: `noop`, `restart` or `signal`. */
  readonly ChangeMode?: 'noop' | 'restart' | 'signal' | null;
  /** The signal for `signal`. */
  readonly ChangeSignal?: string | null;
  /** Gives the token to the task as `NOMAD_TOKEN_<name>`. */
  readonly Env?: boolean | null;
  /** Writes the token to a file in the directory of secrets. */
  readonly File?: boolean | null;
  /** The file, seen from the directory of the task. Needs `File`. */
  readonly Filepath?: string | null;
  /** The service that the identity stands for. Filled in. */
  readonly ServiceName?: string | null;
  /** How long a token is valid. It never expires when left out. A text such as `30s`, or nanoseconds. */
  readonly TTL?: DurationInput | null;
  /** Names of further claims of the token. */
  readonly ExtraClaims?: readonly string[] | null;
}

export interface ServiceWeightsInput {
  /** The weight while the service is healthy; at least 1. Default: `1`. */
  readonly Passing?: number | null;
  /** The weight while a check warns; at least 1. Default: `1`. */
  readonly Warning?: number | null;
}

export interface VaultInput {
  /** @deprecated Ignored. */
  readonly Policies?: readonly string[] | null;
  /** The role of the token. */
  readonly Role?: string | null;
  /** The namespace of Vault. */
  readonly Namespace?: string | null;
  /** The cluster of Vault. Default: `default`. */
  readonly Cluster?: string | null;
  /** Gives the token to the task as `VAULT_TOKEN`. Default: `true`. */
  readonly Env?: boolean | null;
  /** Writes the token to no file. Default: `false`. */
  readonly DisableFile?: boolean | null;
  /** What happens when the token changes: `noop`, `restart` or `signal`. Default: `restart`. */
  readonly ChangeMode?: 'noop' | 'restart' | 'signal' | null;
  /** The signal for `signal`. Default: `SIGHUP`. */
  readonly ChangeSignal?: string | null;
  /** Does not renew the token. Default: `false`. */
  readonly AllowTokenExpiration?: boolean | null;
}

export interface SecretInput {
  /** From 1 to 128 letters, digits and underscores. */
  readonly Name?: string | null;
  /** `nomad`, `vault`, or the name of a plugin. */
  readonly Provider?: string | null;
  /** Where the secret is. */
  readonly Path?: string | null;
  /** Options of the built-in providers. */
  readonly Config?: { readonly [name: string]: JsonValue } | null;
  /** Variables of the environment of a plugin. */
  readonly Env?: { readonly [name: string]: string } | null;
}

export interface ConsulInput {
  /** The namespace of the catalogue. */
  readonly Namespace?: string | null;
  /** The cluster of the catalogue. Only `default` is available here. Default: `default`. */
  readonly Cluster?: string | null;
  /** The partition that a node must be in. */
  readonly Partition?: string | null;
}

export interface TemplateInput {
  /** A file with the template. Excludes `EmbeddedTmpl`. */
  readonly SourcePath?: string | null;
  /** The file that is written, seen from the directory of the task. */
  readonly DestPath?: string | null;
  /** The template itself. */
  readonly EmbeddedTmpl?: string | null;
  /** What happens when the text changes: `noop`, `restart`, `signal` or `script`. Default: `restart`. */
  readonly ChangeMode?: 'noop' | 'restart' | 'signal' | 'script' | null;
  /** The script for `script`. */
  readonly ChangeScript?: ChangeScriptInput | null;
  /** The signal for `signal`; SIGHUP when left out. */
  readonly ChangeSignal?: string | null;
  /** Renders only before the task starts. Default: `false`. */
  readonly Once?: boolean | null;
  /**
   * A random wait of at most this long before the change has its effect. A text such as `30s`, or nanoseconds.
   * Default: `5s`.
   */
  readonly Splay?: DurationInput | null;
  /** The rights of the file as an octal number. Default: `0644`. */
  readonly Perms?: string | null;
  /** The owner of the file by number; that of the process when left out. */
  readonly Uid?: number | null;
  /** The group of the file by number. */
  readonly Gid?: number | null;
  /** What an expression begins with. Default: `{{`. */
  readonly LeftDelim?: string | null;
  /** What it ends with. Default: `}}`. */
  readonly RightDelim?: string | null;
  /** Reads the rendered text as `NAME=value` lines for the environment. Default: `false`. */
  readonly Envvars?: boolean | null;
  /** @deprecated Has no effect any more. A text such as `30s`, or nanoseconds. Default: `0s`. */
  readonly VaultGrace?: DurationInput | null;
  /** Waits for a quiet moment before rendering. */
  readonly Wait?: WaitConfigInput | null;
  /** Fails when the template asks for a key that is not there. Default: `false`. */
  readonly ErrMissingKey?: boolean | null;
}

export interface ChangeScriptInput {
  /** A program inside of the task. */
  readonly Command?: string | null;
  /** Its arguments. */
  readonly Args?: readonly string[] | null;
  /** How long it may run. A text such as `30s`, or nanoseconds. Default: `5s`. */
  readonly Timeout?: DurationInput | null;
  /** Ends the task when the script fails. Default: `false`. */
  readonly FailOnError?: boolean | null;
  /** Runs the script at the first rendering too. Default: `false`. */
  readonly RunOnFirstRender?: boolean | null;
}

export interface WaitConfigInput {
  /** How long to wait for further changes before the template is rendered. A text such as `30s`, or nanoseconds. */
  readonly Min?: DurationInput | null;
  /** The longest such wait. A text such as `30s`, or nanoseconds. */
  readonly Max?: DurationInput | null;
}

export interface DispatchPayloadInput {
  /** The file, seen from the local directory of the task. */
  readonly File?: string | null;
}

export interface TaskLifecycleInput {
  /** When the task starts: `prestart`, `poststart` or `poststop`. */
  readonly Hook?: 'prestart' | 'poststart' | 'poststop' | null;
  /** Keeps the task running beside the main tasks; otherwise it must end. */
  readonly Sidecar?: boolean | null;
}

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
  /** Where it is put, seen from the directory of the task. Default: `local/`. */
  readonly RelativeDest?: string | null;
  /** Gives the files to the user of the task. */
  readonly Chown?: boolean | null;
}

export interface CSIPluginConfigInput {
  /** The name of the plugin. */
  readonly ID?: string | null;
  /** `node`, `controller` or `monolith`. */
  readonly Type?: 'node' | 'controller' | 'monolith' | null;
  /** Where the plugin finds its socket. Default: `/csi`. */
  readonly MountDir?: string | null;
  /** Where the plugin mounts volumes. Not below `MountDir`. Default: `/local/csi`. */
  readonly StagePublishBaseDir?: string | null;
  /** How long the plugin may take to answer. A text such as `30s`, or nanoseconds. Default: `30s`. */
  readonly HealthTimeout?: DurationInput | null;
}

export interface ActionInput {
  /** From 1 to 128 characters without white space, unique in the task. */
  readonly Name?: string | null;
  /** A program inside of the task. */
  readonly Command?: string | null;
  /** Its arguments. */
  readonly Args?: readonly string[] | null;
}

export interface TaskScheduleInput {
  /** When the task starts and ends. */
  readonly Cron?: TaskScheduleCronInput | null;
}

export interface TaskScheduleCronInput {
  /** A cron expression. */
  readonly Start?: string | null;
  /** A cron expression of minute and hour. */
  readonly End?: string | null;
  /** The zone of both. */
  readonly Timezone?: string | null;
}

export interface EphemeralDiskInput {
  /** Prefers the node that the replaced allocation was on, and keeps its data there. Default: `false`. */
  readonly Sticky?: boolean | null;
  /** MB that are set aside for the allocation, logs included. At least 10. Default: `300`. */
  readonly SizeMB?: number | null;
  /** Copies the data to another node when it cannot stay. Default: `false`. */
  readonly Migrate?: boolean | null;
}

export interface ReschedulePolicyInput {
  /** How many new placements within the interval, when they are not unlimited. Default: `0`. */
  readonly Attempts?: number | null;
  /** The time in which placements are counted. A text such as `30s`, or nanoseconds. Default: `0s`. */
  readonly Interval?: DurationInput | null;
  /**
   * How long the first new placement waits; at least 5 seconds. A text such as `30s`, or nanoseconds. Default:
   * `30s`.
   */
  readonly Delay?: DurationInput | null;
  /** How the delay grows: `constant`, `exponential` or `fibonacci`. Default: `exponential`. */
  readonly DelayFunction?: 'constant' | 'exponential' | 'fibonacci' | null;
  /** The longest delay. A text such as `30s`, or nanoseconds. Default: `1h0m0s`. */
  readonly MaxDelay?: DurationInput | null;
  /** Places the allocation anew for as long as it fails. Default: `true`. */
  readonly Unlimited?: boolean | null;
}

export interface VolumeRequestInput {
  /** The name by which tasks mount the volume. */
  readonly Name?: string | null;
  /** `host` for a volume of the node, `csi` for one of a volume plugin. Others are dropped. */
  readonly Type?: 'host' | 'csi' | null;
  /** The name of the volume on the node, or its ID. */
  readonly Source?: string | null;
  /** Mounts it for reading only. */
  readonly ReadOnly?: boolean | null;
  /** Keeps an allocation with the volume that it had. */
  readonly Sticky?: boolean | null;
  /** Who may use the volume at the same time, such as `single-node-writer`. */
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
  /** Adds the index of the allocation to the source, so that each has a volume of its own. */
  readonly PerAlloc?: boolean | null;
}

export interface CSIMountOptionsInput {
  /** The file system. */
  readonly FSType?: string | null;
  /** Flags of the mount. */
  readonly MountFlags?: readonly string[] | null;
}

export interface MultiregionInput {
  /** How the regions are updated. */
  readonly Strategy?: MultiregionStrategyInput | null;
  /** The regions, each with its own counts. */
  readonly Regions?: readonly MultiregionRegionInput[] | null;
}

export interface MultiregionStrategyInput {
  /** How many regions are updated at the same time; 0 is all. Default: `0`. */
  readonly MaxParallel?: number | null;
  /** What a failed region does to the others: `fail_all`, `fail_local`, or nothing. */
  readonly OnFailure?: string | null;
}

export interface MultiregionRegionInput {
  /** The name of the region. */
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

export interface PeriodicConfigInput {
  /** Whether the job is launched by the clock. Default: `true`. */
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
  /** Leaves a launch out while an earlier instance still runs. Default: `false`. */
  readonly ProhibitOverlap?: boolean | null;
  /**
   * The name in the IANA database of the time zone that the expressions are in, such as `Europe/Berlin`. Default:
   * `UTC`.
   */
  readonly TimeZone?: string | null;
}

export interface ParameterizedJobConfigInput {
  /** Whether a dispatch has a payload: `optional`, `required` or `forbidden`. */
  readonly Payload?: 'optional' | 'required' | 'forbidden' | null;
  /** Names of meta that a dispatch must give. */
  readonly MetaRequired?: readonly string[] | null;
  /** Names of meta that a dispatch may give. */
  readonly MetaOptional?: readonly string[] | null;
}

export interface JobUIConfigInput {
  /** A text in Markdown of at most 1000 bytes. */
  readonly Description?: string | null;
  /** Links beside the description. */
  readonly Links?: readonly JobUILinkInput[] | null;
}

export interface JobUILinkInput {
  /** The text of the link. */
  readonly Label?: string | null;
  /** Where it leads. */
  readonly URL?: string | null;
}

export interface JobVersionTagInput {
  /** Unique among the versions of the job. */
  readonly Name?: string | null;
  /** A text of at most 1000 bytes. */
  readonly Description?: string | null;
  /** When the tag was given, in nanoseconds since 1970. */
  readonly TaggedTime?: number | null;
}
