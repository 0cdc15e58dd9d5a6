import { namedSchema } from '../../../src/api/json-codecs.js';
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
  placed,
  strings,
  text,
  textMap,
  time,
  unixNanoseconds,
  wholeObject,
  written,
} from './json-schema.js';

const evaluationStatus = { enum: ['blocked', 'pending', 'complete', 'failed', 'canceled'] };
const ofEvaluation = {
  ID: text,
  Namespace: text,
  Priority: integer,
  Type: text,
  TriggeredBy: text,
  JobID: text,
  NodeID: text,
  DeploymentID: text,
  Status: evaluationStatus,
  StatusDescription: text,
  WaitUntil: time,
  NextEval: text,
  PreviousEval: text,
  BlockedEval: text,
  ...written,
};

const evaluation = objectSchema(
  {
    ...ofEvaluation,
    JobModifyIndex: count,
    NodeModifyIndex: count,
    RelatedEvals: listOf(wholeObject(ofEvaluation)),
    FailedTGAllocs: mapOf(named('AllocationMetric')),
    PlanAnnotations: named('PlanAnnotations'),
    ClassEligibility: mapOf(flag),
    QuotaLimitReached: text,
    MissingNonNodeResources: strings,
    EscapedComputedClass: flag,
    AnnotatePlan: flag,
    QueuedAllocations: countMap,
    SnapshotIndex: count,
  },
  ['ID', 'Status'],
);

const planAnnotations = objectSchema({
  DesiredTGUpdates: orNull(
    mapOf(
      objectSchema({
        Ignore: count,
        Place: count,
        Migrate: count,
        Stop: count,
        InPlaceUpdate: count,
        DestructiveUpdate: count,
        Canary: count,
        Preemptions: count,
        Disconnect: count,
        Reconnect: count,
        RescheduleNow: count,
        RescheduleLater: count,
      }),
    ),
  ),
  PreemptedAllocs: orNull(listOf(named('AllocationListStub'))),
});

const deployment = wholeObject({
  ID: text,
  Namespace: text,
  JobID: text,
  JobVersion: count,
  JobModifyIndex: count,
  JobSpecModifyIndex: count,
  JobCreateIndex: count,
  IsMultiregion: flag,
  TaskGroups: mapOf(
    wholeObject({
      AutoRevert: flag,
      AutoPromote: flag,
      ProgressDeadline: nanoseconds,
      RequireProgressBy: orNull(time),
      Promoted: flag,
      PlacedCanaries: orNull(strings),
      DesiredCanaries: count,
      DesiredTotal: count,
      PlacedAllocs: count,
      HealthyAllocs: count,
      UnhealthyAllocs: count,
    }),
  ),
  Status: {
    enum: [
      'initializing',
      'pending',
      'running',
      'paused',
      'blocked',
      'unblocking',
      'successful',
      'failed',
      'cancelled',
    ],
  },
  StatusDescription: text,
  EvalPriority: integer,
  ...written,
});

const diffType = { enum: ['None', 'Added', 'Deleted', 'Edited'] };
const fieldDiffs = orNull(
  listOf(wholeObject({ Type: diffType, Name: text, Old: text, New: text, Annotations: orNull(strings) })),
);
const objectDiffs = orNull(listOf(named('ObjectDiff')));
const blockDiff = { Type: diffType, Name: text, Fields: fieldDiffs, Objects: objectDiffs };
const taskDiff = wholeObject({ ...blockDiff, Annotations: orNull(strings) });
const groupDiff = wholeObject({ ...blockDiff, Tasks: orNull(listOf(taskDiff)), Updates: orNull(countMap) });

const jobDiff = wholeObject({
  Type: diffType,
  ID: text,
  Fields: fieldDiffs,
  Objects: objectDiffs,
  TaskGroups: orNull(listOf(groupDiff)),
});

const jobSummary = wholeObject({
  JobID: text,
  Namespace: text,
  Summary: mapOf(
    wholeObject({
      Queued: count,
      Complete: count,
      Failed: count,
      Running: count,
      Starting: count,
      Lost: count,
      Unknown: count,
    }),
  ),
  Children: orNull(wholeObject({ Pending: count, Running: count, Dead: count })),
  ...placed,
});

const scalingEvent = wholeObject({
  Time: unixNanoseconds,
  Count: orNull(integer),
  PreviousCount: integer,
  Message: text,
  Error: flag,
  Meta: orNull(anyObject),
  EvalID: orNull(text),
  CreateIndex: count,
});

const jobScaleStatus = wholeObject({
  JobID: text,
  Namespace: text,
  JobCreateIndex: count,
  JobModifyIndex: count,
  JobStopped: flag,
  TaskGroups: mapOf(
    wholeObject({
      Desired: integer,
      Placed: count,
      Running: count,
      Healthy: count,
      Unhealthy: count,
      Events: orNull(listOf(scalingEvent)),
    }),
  ),
});

/** Evaluations, deployments, diffs and counters of jobs, by the names that the interface gives them. */
export const recordSchemas: Readonly<Record<string, JsonSchema>> = {
  Evaluation: evaluation,
  PlanAnnotations: planAnnotations,
  Deployment: deployment,
  ObjectDiff: wholeObject(blockDiff),
  JobDiff: jobDiff,
  JobSummary: jobSummary,
  JobScaleStatus: jobScaleStatus,
};

const variable = { Namespace: text, Path: text, Lock: anyObject, CreateTime: integer, ModifyTime: integer, ...placed };
const policy = { Name: text, Description: text, JobACL: orNull(anyObject), Hash: text, ...placed };
const token = {
  AccessorID: text,
  Name: text,
  Type: { enum: ['client', 'management', 'node'] },
  Policies: orNull(strings),
  Roles: orNull({ type: 'array', items: anyObject }),
  NodeID: text,
  NodePool: text,
  Workspaces: anyObject,
  Global: flag,
  Hash: orNull(text),
  CreateTime: text,
  ExpirationTime: orNull(text),
  ...placed,
};

/** The documents of variables and of access control, by the names that the interface gives them. */
export const accessSchemas: Readonly<Record<string, JsonSchema>> = {
  VariableStub: objectSchema(variable, ['Path']),
  Variable: objectSchema({ ...variable, Items: orNull(mapOf(text)) }, ['Path', 'Items']),
  ACLPolicyStub: objectSchema({ ...policy }, ['Name']),
  ACLPolicy: objectSchema({ ...policy, Rules: text, RulesJSON: anyObject }, ['Name', 'Rules']),
  ACLRole: objectSchema(
    { ID: text, Name: text, Description: text, Policies: { type: 'array', items: anyObject }, Hash: text, ...placed },
    ['ID', 'Name'],
  ),
  OneTimeTokenUpsertResponse: wholeObject({
    OneTimeToken: wholeObject({ OneTimeSecretID: text, AccessorID: text, ExpiresAt: text, ...placed }),
    Index: count,
  }),
  OneTimeTokenExchangeResponse: wholeObject({ Token: namedSchema('ACLToken'), Index: count }),
  ACLTokenStub: objectSchema(token, ['AccessorID', 'Type']),
  ACLToken: objectSchema({ ...token, SecretID: text, ExpirationTTL: text }, ['AccessorID', 'Type', 'SecretID']),
};

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
