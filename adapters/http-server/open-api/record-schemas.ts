import { namedSchema } from '../../../src/api/json-codecs.js';
import {
  type ChildrenSummary,
  type GroupScaleStatus,
  type GroupSummary,
  type JobScaleStatus,
  type JobSummary,
  type OneTimeToken,
  outcomeWords,
  type PolicyStub,
  type ScalingEvent,
  type StoredPolicy,
  type StoredRole,
  type TokenDocument,
  type TokenStub,
  type VariableDocument,
  type VariableStub,
} from '../../../src/index.js';
import { namespaceSchema } from '../../../src/jobs/index.js';
import { recordSchemas } from '../../../src/scheduler/index.js';
import {
  anyObject,
  componentsOf,
  count,
  countMap,
  flag,
  integer,
  type JsonSchema,
  listOf,
  mapOf,
  named,
  objectSchema,
  orNull,
  placed,
  strings,
  text,
  time,
  unixNanoseconds,
  wholeObject,
} from './json-schema.js';

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

const jobSummary = wholeObject<JobSummary>({
  JobID: text,
  Namespace: text,
  Summary: mapOf(
    wholeObject<GroupSummary>({
      Queued: count,
      Complete: count,
      Failed: count,
      Running: count,
      Starting: count,
      Lost: count,
      Unknown: count,
    }),
  ),
  Children: orNull(wholeObject<ChildrenSummary>({ Pending: count, Running: count, Dead: count })),
  ...placed,
});

const scalingEvent = wholeObject<ScalingEvent>({
  Time: unixNanoseconds,
  Count: orNull(integer),
  PreviousCount: integer,
  Message: text,
  Error: flag,
  Meta: orNull(anyObject),
  EvalID: orNull(text),
  CreateIndex: count,
});

const jobScaleStatus = wholeObject<JobScaleStatus>({
  JobID: text,
  Namespace: text,
  JobCreateIndex: count,
  JobModifyIndex: count,
  JobStopped: flag,
  TaskGroups: mapOf(
    wholeObject<GroupScaleStatus>({
      Desired: integer,
      Placed: count,
      Running: count,
      Healthy: count,
      Unhealthy: count,
      Events: orNull(listOf(scalingEvent)),
    }),
  ),
});

/** Records of the scheduler, diffs and counters of jobs, by the names that the interface gives them. */
export const schedulingSchemas: Readonly<Record<string, JsonSchema>> = {
  ...componentsOf([...Object.values(recordSchemas), namespaceSchema]),
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
  Roles: orNull(listOf(anyObject)),
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
  VariableStub: objectSchema<VariableStub>(variable, ['Path']),
  Variable: objectSchema<VariableDocument>({ ...variable, Items: orNull(mapOf(text)) }, ['Path', 'Items']),
  ACLPolicyStub: objectSchema<PolicyStub>(policy, ['Name']),
  ACLPolicy: objectSchema<StoredPolicy>({ ...policy, Rules: text, RulesJSON: anyObject }, ['Name', 'Rules']),
  CallerRights: wholeObject({
    ...{ name: text, accessor: text, management: flag, namespaces: mapOf(strings), nodePools: mapOf(strings) },
    areas: mapOf({ enum: ['list', 'read', 'write'] }),
    workspaces: mapOf(wholeObject({ name: text, right: text })),
    ...{ isCut: flag, region: text, now: time },
  }),
  TriedPolicy: objectSchema(
    {
      allowed: flag,
      requires: text,
      isCheckedByOperation: flag,
      rule: wholeObject({ block: text, name: text, grants: strings }),
    },
    ['allowed', 'requires', 'isCheckedByOperation'],
  ),
  ACLRole: objectSchema<StoredRole>(
    { ID: text, Name: text, Description: text, Policies: listOf(anyObject), Hash: text, ...placed },
    ['ID', 'Name'],
  ),
  OneTimeTokenUpsertResponse: wholeObject({
    OneTimeToken: wholeObject<OneTimeToken>({ OneTimeSecretID: text, AccessorID: text, ExpiresAt: text, ...placed }),
    Index: count,
  }),
  OneTimeTokenExchangeResponse: wholeObject({ Token: namedSchema('ACLToken'), Index: count }),
  ACLTokenStub: objectSchema<TokenStub>(token, ['AccessorID', 'Type']),
  ACLToken: objectSchema<TokenDocument>({ ...token, SecretID: text, ExpirationTTL: text }, [
    'AccessorID',
    'Type',
    'SecretID',
  ]),
};

/** Of runs and allocations that have ended. */
export const outcome: JsonSchema = { enum: Object.keys(outcomeWords) };
