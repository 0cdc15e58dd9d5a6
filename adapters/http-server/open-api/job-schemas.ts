import { anyObject, type JsonSchema, objectSchema, orNull } from './json-schema.js';

const text: JsonSchema = { type: 'string' };
const integer: JsonSchema = { type: 'integer' };
const flag: JsonSchema = { type: 'boolean' };
const count: JsonSchema = { type: 'integer', minimum: 0 };
const texts: JsonSchema = { type: 'array', items: text };
const objects: JsonSchema = { type: 'array', items: anyObject };

const job = objectSchema(
  {
    ID: text,
    Namespace: text,
    Name: text,
    Type: { enum: ['service', 'batch', 'system', 'sysbatch'] },
    Status: { enum: ['pending', 'running', 'dead'] },
    Priority: integer,
    Version: count,
    TaskGroups: { type: ['array', 'null'], items: anyObject },
    Meta: orNull(anyObject),
    JobModifyIndex: count,
    ModifyIndex: count,
    CreateIndex: count,
  },
  ['ID'],
);

const listOfObjects: JsonSchema = { type: 'array', items: anyObject };
const variableReads: JsonSchema = {
  type: 'array',
  items: objectSchema({ path: text, namespace: text }, ['path']),
};

const scalingPolicy = objectSchema(
  { ID: text, Type: text, Target: orNull(anyObject), Enabled: flag, Min: integer, Max: integer },
  ['ID', 'Type', 'Enabled'],
);

/** What reads carry in headers and register-shaped answers in the body. */
const metadata = { Index: count, LastContact: integer, KnownLeader: flag, NextToken: text };

const file = objectSchema({ Name: text, IsDir: flag, Size: count, FileMode: text, ModTime: text }, ['Name']);
const capabilityList = orNull(texts);
const health = objectSchema({ ok: flag, message: text }, ['ok', 'message']);

const placed = { CreateIndex: count, ModifyIndex: count };
const variable = { Namespace: text, Path: text, Lock: anyObject, CreateTime: integer, ModifyTime: integer, ...placed };
const policy = { Name: text, Description: text, JobACL: orNull(anyObject), Hash: text, ...placed };
const token = {
  AccessorID: text,
  Name: text,
  Type: { enum: ['client', 'management', 'node'] },
  Policies: orNull(texts),
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

/** The documents of the job interface, by the names that the interface gives them. */
export const jobSchemas: Readonly<Record<string, JsonSchema>> = {
  StoredJob: job,
  JobVersions: objectSchema(
    { Versions: { type: 'array', items: job }, Diffs: orNull({ type: 'array', items: anyObject }), ...metadata },
    ['Versions'],
  ),
  ServiceNamespaceStub: objectSchema(
    {
      Namespace: text,
      Services: { type: 'array', items: objectSchema({ ServiceName: text, Tags: texts }, ['ServiceName']) },
    },
    ['Namespace'],
  ),
  ServiceRegistration: objectSchema(
    {
      ID: text,
      ServiceName: text,
      Namespace: text,
      NodeID: text,
      Datacenter: text,
      JobID: text,
      AllocID: text,
      Tags: texts,
      Address: text,
      Port: count,
      CreateIndex: count,
      ModifyIndex: count,
    },
    ['ID', 'ServiceName'],
  ),
  StoppedAllocation: objectSchema({ EvalID: text, Index: count }, ['EvalID', 'Index']),
  Ordered: objectSchema({ Index: count }, ['Index']),
  StreamFrame: objectSchema({ Offset: integer, Data: text, File: text, FileEvent: text }, []),
  ExecFrame: anyObject,
  HostUsage: objectSchema({ Memory: anyObject, Uptime: count, Timestamp: count }, ['Memory', 'Uptime', 'Timestamp']),
  AllocationUsage: objectSchema({ ResourceUsage: anyObject, Tasks: anyObject, Timestamp: count }, ['Tasks']),
  CheckResults: anyObject,
  JobActions: {
    type: 'array',
    items: objectSchema({ Name: text, Command: text, Args: orNull(texts), TaskName: text, TaskGroupName: text }, [
      'Name',
    ]),
  },
  FileList: { type: 'array', items: file },
  FileDescription: file,
  JobListStub: objectSchema(
    {
      ID: text,
      Name: text,
      Namespace: text,
      Type: text,
      Status: text,
      Priority: integer,
      JobSummary: orNull(anyObject),
    },
    ['ID'],
  ),
  JobStatusEntry: objectSchema(
    {
      ID: text,
      Namespace: text,
      Name: text,
      Type: text,
      Status: text,
      Version: count,
      Allocs: orNull({ type: 'array', items: anyObject }),
      ChildStatuses: orNull(texts),
      GroupCountSum: count,
      LatestDeployment: orNull(anyObject),
    },
    ['ID', 'Namespace', 'Status'],
  ),
  JobSubmission: objectSchema({
    Source: text,
    Format: text,
    VariableFlags: orNull(anyObject),
    Variables: text,
    Namespace: text,
    JobID: text,
    Version: count,
    JobModifyIndex: count,
  }),
  JobSummary: objectSchema(
    {
      JobID: text,
      Namespace: text,
      Summary: orNull(anyObject),
      Children: orNull(anyObject),
      CreateIndex: count,
      ModifyIndex: count,
    },
    ['JobID'],
  ),
  JobScaleStatus: objectSchema(
    {
      JobID: text,
      Namespace: text,
      JobCreateIndex: count,
      JobModifyIndex: count,
      JobStopped: flag,
      TaskGroups: anyObject,
    },
    ['JobID', 'TaskGroups'],
  ),
  TaggedVersion: objectSchema({ Name: text, Description: text, TaggedTime: integer, Index: count }, ['Name', 'Index']),
  Registered: objectSchema(
    { EvalID: text, EvalCreateIndex: count, JobModifyIndex: count, Warnings: text, ...metadata },
    ['EvalID', 'EvalCreateIndex', 'JobModifyIndex', 'Index'],
  ),
  DispatchedJob: objectSchema(
    { DispatchedJobID: text, EvalID: text, EvalCreateIndex: count, JobCreateIndex: count, Index: count },
    ['DispatchedJobID', 'EvalID', 'Index'],
  ),
  StoppedJob: objectSchema({ EvalID: text, EvalCreateIndex: count, JobModifyIndex: count, Index: count }, [
    'EvalID',
    'Index',
  ]),
  ValidatedJob: objectSchema({
    DriverConfigValidated: flag,
    ValidationErrors: orNull(texts),
    Error: text,
    Warnings: text,
  }),
  SearchMatches: objectSchema({ Matches: anyObject, Truncations: anyObject, ...metadata }, ['Matches', 'Truncations']),
  EvaluationCount: objectSchema({ Count: count, ...metadata }, ['Count', 'Index']),
  DeletedEvaluations: objectSchema({ Count: count, Index: count }, ['Count', 'Index']),
  ScalingPolicyStub: scalingPolicy,
  ScalingPolicy: scalingPolicy,
  WriteIndex: objectSchema({ Index: count }, ['Index']),
  Evaluation: objectSchema(
    { ID: text, JobID: text, Status: text, TriggeredBy: text, CreateIndex: count, ModifyIndex: count },
    ['ID', 'Status'],
  ),
  Allocation: objectSchema(
    { ID: text, JobID: text, TaskGroup: text, ClientStatus: text, DesiredStatus: text, NodeID: text },
    ['ID'],
  ),
  AllocationListStub: objectSchema(
    { ID: text, JobID: text, TaskGroup: text, ClientStatus: text, DesiredStatus: text, NodeID: text },
    ['ID'],
  ),
  Deployment: objectSchema({ ID: text, JobID: text, JobVersion: count, Status: text }, ['ID', 'Status']),
  Node: objectSchema({ ID: text, Name: text, Status: text, SchedulingEligibility: text, Datacenter: text }, ['ID']),
  NodeListStub: objectSchema(
    { ID: text, Name: text, Status: text, SchedulingEligibility: text, Datacenter: text, Address: text },
    ['ID'],
  ),
  Namespace: objectSchema(
    {
      Name: text,
      Description: text,
      Meta: orNull({ type: 'object', additionalProperties: text }),
      Capabilities: orNull(
        objectSchema({
          EnabledTaskDrivers: capabilityList,
          DisabledTaskDrivers: capabilityList,
          EnabledNetworkModes: capabilityList,
          DisabledNetworkModes: capabilityList,
        }),
      ),
    },
    ['Name', 'Description'],
  ),
  EventBatch: objectSchema({
    Index: count,
    Events: {
      type: 'array',
      items: objectSchema({ Topic: text, Type: text, Key: text, Namespace: text, Index: count }, [
        'Topic',
        'Type',
        'Key',
      ]),
    },
    Missed: { const: true },
  }),
  JobPlan: objectSchema(
    {
      Annotations: orNull(anyObject),
      FailedTGAllocs: orNull(anyObject),
      JobModifyIndex: count,
      CreatedEvals: orNull({ type: 'array', items: anyObject }),
      Diff: orNull(anyObject),
      NextPeriodicLaunch: orNull(text),
      Warnings: text,
      Index: count,
    },
    ['JobModifyIndex', 'Index'],
  ),
  ForcedLaunch: objectSchema({ EvalID: text, EvalCreateIndex: count, Index: count }, ['EvalID', 'Index']),
  ChangedDeployment: objectSchema(
    {
      EvalID: text,
      EvalCreateIndex: count,
      DeploymentModifyIndex: count,
      RevertedJobVersion: orNull(count),
      Index: count,
    },
    ['EvalID', 'Index'],
  ),
  ChangedNode: objectSchema({ EvalIDs: orNull(texts), EvalCreateIndex: count, NodeModifyIndex: count, Index: count }, [
    'Index',
  ]),
  EvaluatedNode: objectSchema(
    {
      EvalIDs: orNull(texts),
      EvalCreateIndex: count,
      NodeModifyIndex: count,
      Index: count,
      SchedulingEligibility: text,
      NumNodes: count,
      LeaderRPCAddr: text,
      Servers: { type: 'array', items: anyObject },
    },
    ['Index'],
  ),
  NodePool: objectSchema(
    {
      Name: text,
      Description: text,
      Meta: orNull({ type: 'object', additionalProperties: text }),
      SchedulerConfiguration: orNull(anyObject),
      CreateIndex: count,
      ModifyIndex: count,
    },
    ['Name'],
  ),
  AgentNode: objectSchema(
    { ID: text, Name: text, Datacenter: text, NodePool: text, NodeResources: anyObject, Drivers: anyObject },
    ['ID', 'Name', 'Datacenter', 'NodePool', 'NodeResources', 'ReservedResources', 'Drivers'],
  ),
  AgentRegistered: objectSchema({ index: count, heartbeatTtl: count }, ['index', 'heartbeatTtl']),
  AgentHeard: objectSchema({ heartbeatTtl: count }, ['heartbeatTtl']),
  AgentWork: objectSchema(
    {
      index: count,
      complete: flag,
      work: { type: 'array', items: objectSchema({ allocation: anyObject, job: anyObject }, ['allocation']) },
      gone: texts,
    },
    ['index', 'complete', 'work', 'gone'],
  ),
  AgentVariablesQuery: objectSchema(
    { allocationId: text, task: text, variables: variableReads, prefixes: variableReads, known: orNull(text) },
    ['allocationId', 'task', 'variables', 'prefixes', 'known'],
  ),
  AgentVariables: objectSchema(
    {
      version: text,
      items: { type: 'array', items: orNull(anyObject) },
      lists: { type: 'array', items: listOfObjects },
    },
    ['version', 'items', 'lists'],
  ),
  AgentReports: {
    type: 'array',
    items: objectSchema(
      {
        allocationId: text,
        clientStatus: { enum: ['pending', 'running', 'complete', 'failed'] },
        clientDescription: text,
        taskStates: anyObject,
        healthy: orNull(flag),
      },
      ['allocationId', 'clientStatus', 'clientDescription', 'taskStates'],
    ),
  },
  AgentReported: objectSchema({ index: count, unknown: texts }, ['index', 'unknown']),
  AgentFrame: { type: 'string', contentEncoding: 'binary' },
  SchedulerConfigurationAnswer: objectSchema({ SchedulerConfig: anyObject, ...metadata }, ['SchedulerConfig']),
  UpdatedConfiguration: objectSchema({ Updated: flag, Index: count }, ['Updated', 'Index']),
  Health: health,
  AgentHealth: objectSchema({ server: health, client: health }),
  AgentSelf: objectSchema({ config: anyObject, member: anyObject, stats: anyObject }, ['config', 'member', 'stats']),
  AgentMembers: objectSchema(
    { ServerName: text, ServerRegion: text, ServerDC: text, Members: { type: 'array', items: anyObject } },
    ['ServerName', 'Members'],
  ),
  Metrics: objectSchema({ Timestamp: text, Gauges: objects, Counters: objects, Samples: objects }, [
    'Timestamp',
    'Gauges',
  ]),
  Address: text,
  Addresses: texts,
  RegionNames: texts,
  VariableStub: objectSchema(variable, ['Path']),
  Variable: objectSchema({ ...variable, Items: orNull(anyObject) }, ['Path', 'Items']),
  ACLPolicyStub: objectSchema({ ...policy }, ['Name']),
  ACLPolicy: objectSchema({ ...policy, Rules: text, RulesJSON: anyObject }, ['Name', 'Rules']),
  ACLRole: objectSchema(
    { ID: text, Name: text, Description: text, Policies: { type: 'array', items: anyObject }, Hash: text, ...placed },
    ['ID', 'Name'],
  ),
  ACLTokenStub: objectSchema(token, ['AccessorID', 'Type']),
  ACLToken: objectSchema({ ...token, SecretID: text, ExpirationTTL: text }, ['AccessorID', 'Type', 'SecretID']),
};
