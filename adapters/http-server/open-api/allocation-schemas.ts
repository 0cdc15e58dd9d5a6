import { outcomeWords } from '../../../src/index.js';
import {
  anyObject,
  count,
  countMap,
  flag,
  integer,
  type JsonSchema,
  listOf,
  mapOf,
  named,
  nanoseconds,
  number,
  objectSchema,
  orNull,
  strings,
  text,
  textMap,
  time,
  unixNanoseconds,
  wholeObject,
  written,
} from './json-schema.js';

const taskEvent = objectSchema(
  {
    Type: text,
    Time: unixNanoseconds,
    Message: text,
    DisplayMessage: text,
    Details: orNull(textMap),
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
  ['Type', 'Time'],
);

const taskState = wholeObject({
  State: { enum: ['pending', 'running', 'dead'] },
  Failed: flag,
  Restarts: count,
  LastRestart: orNull(time),
  StartedAt: orNull(time),
  FinishedAt: orNull(time),
  Events: orNull(listOf(named('TaskEvent'))),
  Paused: text,
});

const metric = wholeObject({
  NodesEvaluated: count,
  NodesFiltered: count,
  NodesInPool: count,
  NodePool: text,
  NodesAvailable: orNull(countMap),
  ClassFiltered: orNull(countMap),
  ConstraintFiltered: orNull(countMap),
  NodesExhausted: count,
  ClassExhausted: orNull(countMap),
  DimensionExhausted: orNull(countMap),
  QuotaExhausted: orNull(strings),
  ResourcesExhausted: orNull(mapOf(anyObject)),
  Scores: orNull(mapOf(number)),
  ScoreMetaData: orNull(listOf(wholeObject({ NodeID: text, Scores: orNull(mapOf(number)), NormScore: number }))),
  AllocationTime: nanoseconds,
  CoalescedFailures: count,
});

const allocatedTask = objectSchema({
  Cpu: objectSchema({ CpuShares: integer, ReservedCores: orNull(listOf(integer)) }),
  Memory: objectSchema({ MemoryMB: integer, MemoryMaxMB: integer }),
  Networks: orNull(listOf(anyObject)),
  Devices: orNull(listOf(objectSchema({ Vendor: text, Type: text, Name: text, DeviceIDs: orNull(strings) }))),
});

const allocatedPort = objectSchema({ Label: text, Value: integer, To: integer, HostIP: text, IgnoreCollision: flag });

const allocatedResources = objectSchema({
  Tasks: mapOf(allocatedTask),
  TaskLifecycles: mapOf(orNull(anyObject)),
  Shared: objectSchema({
    Networks: orNull(listOf(anyObject)),
    DiskMB: integer,
    Ports: orNull(listOf(allocatedPort)),
  }),
});

const desired = {
  DesiredStatus: { enum: ['run', 'stop', 'evict'] },
  DesiredDescription: text,
  DesiredTransition: wholeObject({
    Migrate: orNull(flag),
    Reschedule: orNull(flag),
    ForceReschedule: orNull(flag),
    NoShutdownDelay: orNull(flag),
    MigrateDisablePlacement: orNull(flag),
  }),
};

/** Of runs and allocations that have ended. */
export const outcome: JsonSchema = { enum: Object.keys(outcomeWords) };

const client = {
  ClientStatus: { enum: ['pending', 'running', 'complete', 'failed', 'lost', 'unknown'] },
  ClientDescription: text,
};

const deploymentStatus = objectSchema({
  Healthy: orNull(flag),
  Timestamp: orNull(time),
  Canary: flag,
  ModifyIndex: count,
});

const tracker = objectSchema({
  Events: orNull(
    listOf(objectSchema({ RescheduleTime: unixNanoseconds, PrevAllocID: text, PrevNodeID: text, Delay: nanoseconds })),
  ),
  LastReschedule: text,
});

const ofAllocation = {
  ID: text,
  Namespace: text,
  EvalID: text,
  Name: text,
  NodeID: text,
  NodeName: text,
  JobID: text,
  TaskGroup: text,
};

const stub = {
  ...ofAllocation,
  JobType: text,
  JobVersion: count,
  ...desired,
  ...client,
  TaskStates: orNull(mapOf(named('TaskState'))),
  DeploymentStatus: orNull(deploymentStatus),
  FollowupEvalID: text,
  NextAllocation: text,
  RescheduleTracker: orNull(tracker),
  PreemptedAllocations: orNull(strings),
  PreemptedByAllocation: text,
  ...written,
};

/** Allocated resources in the form in which jobs request them, for older clients. */
const resourceSum = wholeObject({
  CPU: integer,
  Cores: integer,
  MemoryMB: integer,
  MemoryMaxMB: integer,
  DiskMB: integer,
  IOPS: integer,
  Networks: orNull(listOf(anyObject)),
  Devices: orNull(listOf(anyObject)),
  NUMA: orNull(anyObject),
  SecretsMB: integer,
});

/** Members with an empty value are omitted from these. */
const allocation = objectSchema(
  {
    ...ofAllocation,
    Job: named('StoredJob'),
    Resources: resourceSum,
    TaskResources: mapOf(resourceSum),
    SharedResources: resourceSum,
    AllocatedResources: named('AllocatedResources'),
    Metrics: named('AllocationMetric'),
    ...desired,
    ...client,
    TaskStates: mapOf(named('TaskState')),
    AllocStates: listOf(objectSchema({ Field: integer, Value: text, Time: time })),
    PreviousAllocation: text,
    NextAllocation: text,
    DeploymentID: text,
    DeploymentStatus: deploymentStatus,
    RescheduleTracker: tracker,
    NetworkStatus: objectSchema({ InterfaceName: text, Address: text, AddressIPv6: text, DNS: orNull(anyObject) }),
    FollowupEvalID: text,
    PreemptedAllocations: strings,
    PreemptedByAllocation: text,
    AllocModifyIndex: count,
    Outcome: outcome,
    ...written,
  },
  ['ID', 'DesiredTransition'],
);

/** Allocations, by the names that the interface gives their parts. */
export const allocationSchemas: Readonly<Record<string, JsonSchema>> = {
  TaskEvent: taskEvent,
  TaskState: taskState,
  AllocationMetric: metric,
  AllocatedResources: allocatedResources,
  Allocation: allocation,
  AllocationListStub: {
    ...wholeObject(stub),
    properties: { ...stub, AllocatedResources: named('AllocatedResources'), Outcome: outcome },
  },
};
