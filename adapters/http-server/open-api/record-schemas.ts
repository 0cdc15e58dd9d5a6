import { namedSchema } from '../../../src/api/json-codecs.js';
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
  objectSchema,
  orNull,
  placed,
  strings,
  text,
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
