import type { DNSConfig, Port } from '../jobs/document/network.js';
import { jobSchema } from '../jobs/record-schemas.js';
import { outcomeWords } from '../jobs/runs/job-run.js';
import {
  bytes,
  count,
  flag,
  float,
  integer,
  listOf,
  mapOf,
  nanoseconds,
  nullable,
  oneOf,
  onlyInFilters,
  onlyInJson,
  opaque,
  optional,
  orNull,
  partial,
  placed,
  pointer,
  storedAs,
  struct,
  text,
  time,
  unixNanoseconds,
  unsigned,
  written,
} from '../shared/schema.js';
import type {
  AllocatedDevice,
  AllocatedNetwork,
  AllocatedPort,
  AllocatedResources,
  AllocatedTaskResources,
  ResourceSum,
} from './allocated-resources.js';
import type {
  AllocationDeploymentStatus,
  AllocationNetworkStatus,
  AllocationStateChange,
  DesiredTransition,
  RescheduleEvent,
  RescheduleTracker,
  TaskEvent,
  TaskState,
} from './allocation.js';
import type { AllocationMetric, NodeScore } from './allocation-metric.js';
import type { AllocationDocument, AllocationListStub } from './allocation-views.js';
import type { Deployment, DeploymentState } from './deployment/deployment.js';
import type { DesiredUpdates, Evaluation, PlanAnnotations } from './evaluation.js';
import type {
  DeviceAttribute,
  DrainMetadata,
  DrainStrategy,
  Node,
  NodeAddress,
  NodeDeviceGroup,
  NodeDriver,
  NodeEvent,
  NodeHostVolume,
  NodeInterface,
} from './node.js';
import type { NodePoolSchedulerConfiguration, ReadNodePool } from './node-pool.js';
import type { EvaluationStub } from './related-evaluations.js';

/*
 * Filters of lists and the OpenAPI schemas of records are derived from these descriptions. A member of a record type needs its line here,
 * which the compiler reports when it is missing.
 */

const dns = opaque<DNSConfig>({ Servers: listOf(text), Searches: listOf(text), Options: listOf(text) });
const port = struct<Port>({ Label: text, Value: integer, To: integer, HostNetwork: text, IgnoreCollision: flag });
const network = opaque<AllocatedNetwork>({
  Mode: text,
  Device: text,
  CIDR: text,
  IP: text,
  Hostname: text,
  MBits: integer,
  DNS: pointer(dns),
  ReservedPorts: listOf(port),
  DynamicPorts: listOf(port),
  CNI: pointer(struct({ Args: mapOf(text) })),
});
const networks = orNull(listOf(network));

const allocatedDevice = partial<AllocatedDevice>({
  Vendor: text,
  Type: text,
  Name: text,
  DeviceIDs: orNull(listOf(text)),
});
const allocatedTask = partial<AllocatedTaskResources>({
  Cpu: partial<AllocatedTaskResources['Cpu']>({ CpuShares: integer, ReservedCores: orNull(listOf(integer)) }),
  Memory: partial<AllocatedTaskResources['Memory']>({ MemoryMB: integer, MemoryMaxMB: integer }),
  Networks: networks,
  Devices: orNull(listOf(allocatedDevice)),
});
const allocatedPort = partial<AllocatedPort>({
  Label: text,
  Value: integer,
  To: integer,
  HostIP: text,
  IgnoreCollision: flag,
});
const allocatedResources = partial<AllocatedResources>(
  {
    Tasks: mapOf(allocatedTask),
    TaskLifecycles: mapOf(nullable(opaque({ Hook: text, Sidecar: flag }))),
    Shared: partial<AllocatedResources['Shared']>({
      Networks: networks,
      DiskMB: integer,
      Ports: orNull(listOf(allocatedPort)),
    }),
  },
  { name: 'AllocatedResources' },
);

const resourceSum = struct<ResourceSum>({
  CPU: integer,
  Cores: integer,
  MemoryMB: integer,
  MemoryMaxMB: integer,
  DiskMB: integer,
  IOPS: integer,
  Networks: networks,
  Devices: orNull(listOf(opaque({ Name: text, Count: unsigned }))),
  NUMA: nullable(opaque({ Affinity: text, Devices: listOf(text) })),
  SecretsMB: integer,
});

const counts = orNull(mapOf(count));
const scores = orNull(mapOf(float));

const metric = struct<AllocationMetric>(
  {
    NodesEvaluated: count,
    NodesFiltered: count,
    NodesInPool: count,
    NodePool: text,
    NodesAvailable: counts,
    ClassFiltered: counts,
    ConstraintFiltered: counts,
    NodesExhausted: count,
    ClassExhausted: counts,
    DimensionExhausted: counts,
    QuotaExhausted: orNull(listOf(text)),
    ResourcesExhausted: orNull(
      mapOf(opaque({ CPU: integer, MemoryMB: integer, MemoryMaxMB: integer, DiskMB: integer })),
    ),
    Scores: scores,
    ScoreMetaData: orNull(listOf(struct<NodeScore>({ NodeID: text, Scores: scores, NormScore: float }))),
    AllocationTime: nanoseconds,
    CoalescedFailures: count,
  },
  { name: 'AllocationMetric' },
);

const taskEvent = struct<TaskEvent>(
  {
    Type: text,
    Time: unixNanoseconds,
    Message: text,
    DisplayMessage: text,
    Details: orNull(mapOf(text)),
    FailsTask: flag,
    RestartReason: text,
    SetupError: text,
    DriverError: text,
    ExitCode: integer,
    Signal: integer,
    KillTimeout: nanoseconds,
    KillError: text,
    KillReason: text,
    StartDelay: nanoseconds,
    DownloadError: text,
    ValidationError: text,
    DiskLimit: integer,
    FailedSibling: text,
    VaultError: text,
    TaskSignalReason: text,
    TaskSignal: text,
    DriverMessage: text,
    GenericSource: text,
  },
  { name: 'TaskEvent', required: ['Type', 'Time'] },
);

const taskState = struct<TaskState>(
  {
    State: oneOf('pending', 'running', 'dead'),
    Failed: flag,
    Restarts: unsigned,
    LastRestart: orNull(time),
    StartedAt: orNull(time),
    FinishedAt: orNull(time),
    Events: orNull(listOf(taskEvent)),
    Paused: text,
    TaskHandle: onlyInFilters(pointer(struct({}))),
  },
  { name: 'TaskState' },
);
const taskStates = mapOf(pointer(taskState));

const transition = struct<DesiredTransition>({
  Migrate: nullable(flag),
  MigrateDisablePlacement: nullable(flag),
  Reschedule: nullable(flag),
  ForceReschedule: nullable(flag),
  NoShutdownDelay: nullable(flag),
});

const deploymentStatus = partial<AllocationDeploymentStatus>({
  Healthy: nullable(flag),
  Timestamp: orNull(time),
  Canary: flag,
  ModifyIndex: unsigned,
});

const rescheduleEvent = partial<RescheduleEvent>({
  RescheduleTime: unixNanoseconds,
  PrevAllocID: text,
  PrevNodeID: text,
  Delay: nanoseconds,
});
const tracker = partial<RescheduleTracker>({ Events: orNull(listOf(rescheduleEvent)), LastReschedule: text });

const ofAllocation = {
  ID: text,
  Namespace: text,
  EvalID: text,
  Name: text,
  NodeID: text,
  NodeName: text,
  JobID: text,
  TaskGroup: text,
  DesiredStatus: oneOf('run', 'stop', 'evict'),
  ClientStatus: oneOf('pending', 'running', 'complete', 'failed', 'lost', 'unknown'),
};

const outcome = onlyInJson(oneOf(...Object.keys(outcomeWords)));

/** With its job embedded. */
const allocation = struct<AllocationDocument>(
  {
    ...ofAllocation,
    Job: pointer(jobSchema),
    Resources: pointer(resourceSum),
    SharedResources: pointer(resourceSum),
    TaskResources: mapOf(pointer(resourceSum)),
    AllocatedResources: pointer(allocatedResources),
    Metrics: pointer(metric),
    DesiredDescription: text,
    DesiredTransition: transition,
    ClientDescription: text,
    TaskStates: taskStates,
    AllocStates: listOf(partial<AllocationStateChange>({ Field: unsigned, Value: text, Time: time })),
    PreviousAllocation: text,
    NextAllocation: text,
    DeploymentID: text,
    DeploymentStatus: pointer(deploymentStatus),
    RescheduleTracker: pointer(tracker),
    NetworkStatus: pointer(
      partial<AllocationNetworkStatus>({ InterfaceName: text, Address: text, AddressIPv6: text, DNS: nullable(dns) }),
    ),
    FollowupEvalID: text,
    PreemptedAllocations: listOf(text),
    PreemptedByAllocation: text,
    SignedIdentities: onlyInFilters(mapOf(text)),
    SigningKeyID: onlyInFilters(text),
    AllocModifyIndex: unsigned,
    Outcome: outcome,
    ...written,
  },
  // Members with an empty value are left out.
  { name: 'Allocation', required: ['ID', 'DesiredTransition'] },
);

const allocationStub = struct<AllocationListStub>(
  {
    ...ofAllocation,
    JobType: text,
    JobVersion: unsigned,
    DesiredDescription: onlyInJson(text),
    DesiredTransition: onlyInJson(transition),
    ClientDescription: onlyInJson(text),
    TaskStates: onlyInJson(orNull(taskStates)),
    DeploymentStatus: onlyInJson(orNull(deploymentStatus)),
    FollowupEvalID: onlyInJson(text),
    NextAllocation: onlyInJson(text),
    RescheduleTracker: onlyInJson(orNull(tracker)),
    PreemptedAllocations: onlyInJson(orNull(listOf(text))),
    PreemptedByAllocation: onlyInJson(text),
    AllocatedResources: onlyInJson(optional(allocatedResources)),
    Outcome: optional(outcome),
    CreateIndex: onlyInJson(unsigned),
    ModifyIndex: onlyInJson(unsigned),
    CreateTime: onlyInJson(unixNanoseconds),
    ModifyTime: onlyInJson(unixNanoseconds),
  },
  { name: 'AllocationListStub' },
);

const ofEvaluation = {
  ID: text,
  Namespace: text,
  Priority: integer,
  Type: text,
  TriggeredBy: text,
  JobID: text,
  NodeID: text,
  DeploymentID: text,
  Status: oneOf('blocked', 'pending', 'complete', 'failed', 'canceled'),
  StatusDescription: text,
  WaitUntil: time,
  NextEval: text,
  PreviousEval: text,
  BlockedEval: text,
};

const desiredUpdates = partial<DesiredUpdates>({
  Ignore: unsigned,
  Place: unsigned,
  Migrate: unsigned,
  Stop: unsigned,
  InPlaceUpdate: unsigned,
  DestructiveUpdate: unsigned,
  Canary: unsigned,
  Preemptions: unsigned,
  Disconnect: unsigned,
  Reconnect: unsigned,
  RescheduleNow: unsigned,
  RescheduleLater: unsigned,
});
const planAnnotations = partial<PlanAnnotations>(
  { DesiredTGUpdates: orNull(mapOf(desiredUpdates)), PreemptedAllocs: orNull(listOf(allocationStub)) },
  { name: 'PlanAnnotations' },
);

const evaluation = struct<Evaluation>(
  {
    ...ofEvaluation,
    JobModifyIndex: unsigned,
    NodeModifyIndex: unsigned,
    Wait: onlyInFilters(integer),
    RelatedEvals: listOf(
      struct<EvaluationStub>({
        ...ofEvaluation,
        ...written,
        CreateIndex: onlyInJson(unsigned),
        ModifyIndex: onlyInJson(unsigned),
      }),
    ),
    FailedTGAllocs: mapOf(pointer(metric)),
    PlanAnnotations: pointer(planAnnotations),
    ClassEligibility: mapOf(flag),
    QuotaLimitReached: text,
    MissingNonNodeResources: listOf(text),
    EscapedComputedClass: flag,
    AnnotatePlan: flag,
    QueuedAllocations: mapOf(count),
    LeaderACL: onlyInFilters(text),
    SnapshotIndex: unsigned,
    ...written,
  },
  { name: 'Evaluation', required: ['ID', 'Status'] },
);

const groupState = struct<DeploymentState>({
  AutoRevert: flag,
  AutoPromote: flag,
  ProgressDeadline: nanoseconds,
  RequireProgressBy: orNull(time),
  Promoted: flag,
  PlacedCanaries: orNull(listOf(text)),
  DesiredCanaries: count,
  DesiredTotal: count,
  PlacedAllocs: count,
  HealthyAllocs: count,
  UnhealthyAllocs: count,
});

const deployment = struct<Deployment>(
  {
    ID: text,
    Namespace: text,
    JobID: text,
    JobVersion: unsigned,
    JobModifyIndex: unsigned,
    JobSpecModifyIndex: unsigned,
    JobCreateIndex: unsigned,
    IsMultiregion: flag,
    TaskGroups: mapOf(pointer(groupState)),
    Status: oneOf(
      'initializing',
      'pending',
      'running',
      'paused',
      'blocked',
      'unblocking',
      'successful',
      'failed',
      'cancelled',
    ),
    StatusDescription: text,
    EvalPriority: integer,
    ...written,
  },
  { name: 'Deployment' },
);

const nodeResources = partial<Node['NodeResources']>({
  Cpu: partial<Node['NodeResources']['Cpu']>({
    CpuShares: integer,
    TotalCpuCores: unsigned,
    ReservableCpuCores: listOf(unsigned),
  }),
  Processors: onlyInJson(opaque({})),
  Memory: partial({ MemoryMB: integer }),
  Disk: partial({ DiskMB: integer }),
  Networks: listOf(network),
  NodeNetworks: listOf(
    opaque<NodeInterface>({
      Mode: text,
      Device: text,
      MacAddress: text,
      Speed: integer,
      Addresses: listOf(
        struct<NodeAddress>({ Family: text, Alias: text, Address: text, ReservedPorts: text, Gateway: text }),
      ),
    }),
  ),
  Devices: orNull(
    listOf(
      opaque<NodeDeviceGroup>({
        Vendor: text,
        Type: text,
        Name: text,
        Instances: listOf(struct({ ID: text, Healthy: flag, HealthDescription: text })),
        Attributes: mapOf(
          pointer(
            struct<DeviceAttribute>({
              Float: pointer(float),
              Int: pointer(integer),
              String: pointer(text),
              Bool: pointer(flag),
              Unit: text,
            }),
          ),
        ),
      }),
    ),
  ),
  MinDynamicPort: integer,
  MaxDynamicPort: integer,
});

const reservedResources = partial<Node['ReservedResources']>({
  Cpu: partial({ CpuShares: unsigned, ReservedCpuCores: listOf(unsigned) }),
  Memory: partial({ MemoryMB: unsigned }),
  Disk: partial({ DiskMB: unsigned }),
  Networks: partial({ ReservedHostPorts: text }),
});

const driver = partial<NodeDriver>({
  Attributes: mapOf(text),
  Detected: flag,
  Healthy: flag,
  HealthDescription: text,
  UpdateTime: time,
});

/** `DrainSpec`: Nomad embeds this struct, and prints its members inline. */
const drainStrategy = partial<Omit<DrainStrategy, 'Deadline' | 'IgnoreSystemJobs'>>({
  DrainSpec: storedAs(
    { inline: true },
    struct<Pick<DrainStrategy, 'Deadline' | 'IgnoreSystemJobs'>>({ Deadline: nanoseconds, IgnoreSystemJobs: flag }),
  ),
  ForceDeadline: orNull(time),
  StartedAt: time,
});

const lastDrain = partial<DrainMetadata>({
  StartedAt: time,
  UpdatedAt: time,
  Status: oneOf('draining', 'complete', 'canceled'),
  AccessorID: text,
  Meta: orNull(mapOf(text)),
});

const nodeEvent = partial<NodeEvent>({
  Message: text,
  Subsystem: text,
  Details: orNull(mapOf(text)),
  Timestamp: time,
  CreateIndex: unsigned,
});

const csiPlugins = onlyInFilters(
  mapOf(
    pointer(
      struct({
        PluginID: text,
        AllocID: text,
        Healthy: flag,
        HealthDescription: text,
        UpdateTime: time,
        RequiresControllerPlugin: flag,
        RequiresTopologies: flag,
      }),
    ),
  ),
);

const ofNode = {
  ID: text,
  Datacenter: text,
  Name: text,
  NodePool: text,
  NodeClass: text,
  Drain: onlyInJson(flag),
  SchedulingEligibility: oneOf('eligible', 'ineligible'),
  Status: oneOf('initializing', 'ready', 'down', 'disconnected'),
  StatusDescription: text,
  Drivers: mapOf(pointer(driver)),
  HostVolumes: mapOf(pointer(opaque<NodeHostVolume>({ ID: text, Name: text, Path: text, ReadOnly: flag }))),
  LastDrain: nullable(lastDrain),
  ...placed,
};

const node = struct<Node>(
  {
    ...ofNode,
    SecretID: { ...oneOf(''), description: 'Never shown.' },
    HTTPAddr: text,
    TLSEnabled: flag,
    Attributes: mapOf(text),
    NodeResources: pointer(nodeResources),
    ReservedResources: pointer(reservedResources),
    Links: mapOf(text),
    Meta: mapOf(text),
    CgroupParent: text,
    ComputedClass: text,
    DrainStrategy: nullable(drainStrategy),
    StatusUpdatedAt: { ...integer, description: 'Seconds since 1970.' },
    Events: orNull(listOf(nodeEvent)),
    CSIControllerPlugins: csiPlugins,
    CSINodePlugins: csiPlugins,
    LastMissedHeartbeatIndex: unsigned,
    LastAllocUpdateIndex: unsigned,
    HostNetworks: onlyInFilters(
      mapOf(pointer(struct({ Name: text, CIDR: text, Interface: text, ReservedPorts: text }))),
    ),
    NodeMaxAllocs: count,
    GCVolumesOnNodeGC: onlyInFilters(flag),
    IdentitySigningKeyID: onlyInFilters(text),
  },
  { name: 'Node' },
);

const nodeStub = struct(
  {
    ...ofNode,
    Address: text,
    Version: text,
    NodeResources: optional(nodeResources),
    ReservedResources: optional(reservedResources),
    Attributes: optional(mapOf(text)),
  },
  { name: 'NodeListStub' },
);

const nodePool = struct<ReadNodePool>(
  {
    Name: text,
    Description: text,
    Meta: orNull(mapOf(text)),
    NodeIdentityTTL: count,
    SchedulerConfiguration: nullable(
      opaque<NodePoolSchedulerConfiguration>({
        SchedulerAlgorithm: text,
        MemoryOversubscriptionEnabled: pointer(flag),
      }),
    ),
    Hash: bytes,
    ...placed,
  },
  { name: 'NodePool', required: ['Name'] },
);

/** The members of the scheduler's records as data: their types, their units and what filters may name. */
export const recordSchemas = { allocation, allocationStub, evaluation, deployment, node, nodeStub, nodePool } as const;
