import type { JobListStub, JobSubmission } from '../../../src/index.js';
import {
  anyObject,
  count,
  flag,
  integer,
  type JsonSchema,
  listOf,
  mapOf,
  metadata,
  named,
  number,
  objectSchema,
  orNull,
  placed,
  strings,
  text,
  time,
  wholeObject,
} from './json-schema.js';
import { accessSchemas, outcome, schedulingSchemas } from './record-schemas.js';
import { agentSchemas, systemSchemas } from './system-schemas.js';

const endedRun = {
  ...{ namespace: text, parentId: text, number: count, jobId: text, version: count, outcome },
  ...{ createdAt: time, endedAt: time, index: count },
};
const jobRestart = {
  ...{ namespace: text, jobId: text, id: text, atOnce: count, total: count, restarted: count, failed: count },
  failures: listOf(wholeObject({ allocationId: text, message: text })),
  ...{ state: { enum: ['running', 'done', 'failed', 'cancelled'] }, underWay: strings, startedAt: time },
};
const lastRun = wholeObject({ ID: text, Outcome: outcome, EndedAt: time });
const failureCause = {
  ...{ outcome, cause: text, count, share: number, firstAt: time, lastAt: time },
  jobs: listOf(wholeObject({ namespace: text, jobId: text, count })),
  example: wholeObject({ id: text, message: text }),
};

const change = wholeObject({ of: { enum: ['job', 'node'] }, subject: text, from: text, to: text });
const obstacle = wholeObject({ kind: text, message: text, lack: number, changes: listOf(change) });

const launchesAndFindings = {
  launches: listOf(wholeObject({ at: time, wallTime: text, specs: strings })),
  findings: listOf(wholeObject({ kind: text, spec: text, message: text })),
};

/** The members of a stored job in addition to those submitted. */
const job: JsonSchema = {
  allOf: [
    named('Job'),
    objectSchema(
      {
        ID: text,
        Namespace: text,
        Name: text,
        Type: { enum: ['service', 'batch', 'system', 'sysbatch'] },
        Status: { enum: ['pending', 'running', 'dead'] },
        StatusDescription: text,
        Priority: integer,
        Version: count,
        Stable: flag,
        SubmitTime: { type: 'integer', description: 'Nanoseconds since 1970.' },
        JobModifyIndex: count,
        ...placed,
      },
      ['ID', 'Namespace', 'Name', 'Type', 'Status', 'Priority', 'Version'],
    ),
  ],
};

const scalingStub = {
  ID: text,
  Type: text,
  Target: orNull(mapOf(text)),
  Enabled: flag,
  ...placed,
};

const storedScalingPolicy = wholeObject({
  ...scalingStub,
  Policy: orNull(anyObject),
  Min: integer,
  Max: integer,
});

const listStub = {
  ID: text,
  ParentID: text,
  Name: text,
  Namespace: text,
  Datacenters: orNull(strings),
  NodePool: text,
  Multiregion: orNull(anyObject),
  Type: text,
  Priority: integer,
  Periodic: flag,
  ParameterizedJob: flag,
  Stop: flag,
  Status: text,
  StatusDescription: text,
  JobSummary: orNull(named('JobSummary')),
  ...placed,
  JobModifyIndex: count,
  SubmitTime: integer,
};

const statusAllocation = wholeObject({
  ID: text,
  Group: text,
  ClientStatus: text,
  NodeID: text,
  DeploymentStatus: wholeObject({ Canary: flag, Healthy: orNull(flag) }),
  JobVersion: count,
  FollowupEvalID: text,
  HasPausedTask: flag,
});

const statusDeployment = wholeObject({
  ID: text,
  IsActive: flag,
  JobVersion: count,
  Status: text,
  StatusDescription: text,
  AllAutoPromote: flag,
  RequiresPromotion: flag,
});

const statusEntry = {
  ID: text,
  Namespace: text,
  Name: text,
  Type: text,
  NodePool: text,
  Datacenters: orNull(strings),
  Priority: integer,
  Version: count,
  SubmitTime: integer,
  ModifyIndex: count,
  Allocs: orNull(listOf(statusAllocation)),
  GroupCountSum: count,
  ChildStatuses: orNull(strings),
  ParentID: text,
  LatestDeployment: orNull(statusDeployment),
  Stop: flag,
  IsPack: flag,
  Status: text,
};

const file = objectSchema({ Name: text, IsDir: flag, Size: count, FileMode: text, ModTime: text, ContentType: text }, [
  'Name',
]);

/** The documents of the job interface, by the names that the interface gives them. */
export const jobSchemas: Readonly<Record<string, JsonSchema>> = {
  ...agentSchemas,
  ...systemSchemas,
  ...schedulingSchemas,
  ...accessSchemas,
  StoredJob: job,
  JobVersions: objectSchema(
    {
      Versions: listOf(named('StoredJob')),
      Diffs: orNull(listOf(named('JobDiff'))),
      ...metadata,
    },
    ['Versions'],
  ),
  ServiceNamespaceStub: objectSchema(
    {
      Namespace: text,
      Services: listOf(objectSchema({ ServiceName: text, Tags: strings }, ['ServiceName'])),
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
      Tags: strings,
      Address: text,
      Port: count,
      CreateIndex: count,
      ModifyIndex: count,
    },
    ['ID', 'ServiceName'],
  ),
  StoppedAllocation: wholeObject({ EvalID: text, Index: count }),
  Ordered: wholeObject({ Index: count }),
  StreamFrame: objectSchema({ Offset: integer, Data: text, File: text, FileEvent: text }, []),
  ExecFrame: anyObject,
  TaskLog: wholeObject({
    ...{ firstByte: count, endByte: count, files: count, hasEnded: flag, from: count, to: count },
    data: { type: 'string', contentEncoding: 'base64' },
  }),
  AllocationUsage: objectSchema({ ResourceUsage: anyObject, Tasks: anyObject, Timestamp: count }, ['Tasks']),
  CheckResults: anyObject,
  JobActions: listOf(
    objectSchema({ Name: text, Command: text, Args: orNull(strings), TaskName: text, TaskGroupName: text }, ['Name']),
  ),
  FileList: listOf(file),
  FileDescription: file,
  JobListStub: objectSchema<JobListStub>(
    { ...listStub, Meta: mapOf(text), Outcome: outcome, LastRun: lastRun, NextLaunch: time },
    Object.keys(listStub),
  ),
  JobStatusEntry: objectSchema({ ...statusEntry, Outcome: outcome }, Object.keys(statusEntry)),
  JobSubmission: wholeObject<JobSubmission>({
    Source: text,
    Format: text,
    VariableFlags: orNull(mapOf(text)),
    Variables: text,
    Namespace: text,
    JobID: text,
    Version: count,
    JobModifyIndex: count,
  }),
  TaggedVersion: objectSchema({ Name: text, Description: text, TaggedTime: integer, Index: count }, ['Name', 'Index']),
  Registered: objectSchema(
    { EvalID: text, EvalCreateIndex: count, JobModifyIndex: count, Warnings: text, ...metadata },
    ['EvalID', 'EvalCreateIndex', 'JobModifyIndex', 'Index'],
  ),
  Scaled: objectSchema({ EvalID: text, EvalCreateIndex: count, JobModifyIndex: count, Warnings: text, ...metadata }, [
    'JobModifyIndex',
    'Index',
  ]),
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
    ValidationErrors: orNull(strings),
    Error: text,
    Warnings: text,
  }),
  SearchMatches: objectSchema({ Matches: anyObject, Truncations: anyObject, ...metadata }, ['Matches', 'Truncations']),
  EvaluationCount: objectSchema({ Count: count, ...metadata }, ['Count', 'Index']),
  DeletedEvaluations: wholeObject({ Count: count, Index: count }),
  ScalingPolicyStub: wholeObject(scalingStub),
  StoredScalingPolicy: storedScalingPolicy,
  WriteIndex: wholeObject({ Index: count }),
  EventBatch: objectSchema({
    Index: count,
    Events: listOf(
      objectSchema({ Topic: text, Type: text, Key: text, Namespace: text, Index: count }, ['Topic', 'Type', 'Key']),
    ),
    Missed: { const: true },
  }),
  JobPlan: objectSchema(
    {
      Annotations: orNull(named('PlanAnnotations')),
      FailedTGAllocs: orNull(mapOf(named('AllocationMetric'))),
      JobModifyIndex: count,
      CreatedEvals: orNull(listOf(named('Evaluation'))),
      Diff: orNull(named('JobDiff')),
      NextPeriodicLaunch: orNull({ type: 'string', format: 'date-time' }),
      Warnings: text,
      Index: count,
      Seal: text,
    },
    ['JobModifyIndex', 'Index'],
  ),
  JobSimulation: wholeObject({
    ...{ from: time, until: time, playedUntil: time, isCut: flag },
    timeline: listOf(
      objectSchema({ at: time, kind: text, namespace: text, jobId: text, subject: text, text }, [
        ...['at', 'kind', 'subject', 'text'],
      ]),
    ),
    jobs: listOf(wholeObject({ namespace: text, jobId: text, running: count, starting: count, isWaiting: flag })),
  }),
  JobPlacement: wholeObject({
    groups: listOf(
      wholeObject({
        ...{ group: text, waiting: count, summary: text, examined: count, fitting: count },
        nodes: listOf(
          objectSchema({ nodeId: text, nodeName: text, obstacles: listOf(obstacle), score: anyObject }, [
            'nodeId',
            'nodeName',
            'obstacles',
          ]),
        ),
      }),
    ),
  }),
  Schedules: wholeObject({
    schedules: listOf(
      wholeObject({
        ...{ namespace: text, jobId: text, specs: strings, timeZone: text, active: flag, prohibitsOverlap: flag },
        ...{ past: listOf(named('EndedRun')), ...launchesAndFindings },
      }),
    ),
    isCut: flag,
  }),
  EndedRun: objectSchema(
    {
      ...endedRun,
      startedAt: time,
      failure: objectSchema({ allocationId: text, task: text, exitCode: integer, signal: integer, message: text }, [
        'allocationId',
        'message',
      ]),
    },
    Object.keys(endedRun),
  ),
  Failures: wholeObject({
    causes: listOf(objectSchema({ ...failureCause, exitCode: integer }, Object.keys(failureCause))),
    ...{ since: time, failures: count, isCut: flag },
  }),
  JobRestart: objectSchema({ ...jobRestart, startedBy: text, endedAt: time }, Object.keys(jobRestart)),
  TriedSchedule: wholeObject(launchesAndFindings),
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
};
