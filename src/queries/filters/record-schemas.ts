import { filterCompiler } from '../../filter/compile-filter.js';
import {
  any,
  bytes,
  flag,
  integer,
  listOf,
  mapOf,
  nullable,
  struct,
  text,
  time,
  unsigned,
} from '../../filter/schema.js';
import { allocationSchema, jobSchema, metricSchema } from './job-schema.js';
import { nodeSchema } from './node-schema.js';

const link = struct({ ID: text, Name: text });

const tokenSchema = struct({
  AccessorID: text,
  SecretID: text,
  Name: text,
  Type: text,
  Policies: listOf(text),
  Roles: listOf(link),
  Global: flag,
  Hash: bytes,
  CreateTime: time,
  ExpirationTime: nullable(time),
  ExpirationTTL: integer,
  CreateIndex: unsigned,
  ModifyIndex: unsigned,
});

const policySchema = struct({
  Name: text,
  Description: text,
  Rules: text,
  JobACL: nullable(struct({ Namespace: text, JobID: text, Group: text, Task: text })),
  Hash: bytes,
  CreateIndex: unsigned,
  ModifyIndex: unsigned,
});

const roleSchema = struct({
  ID: text,
  Name: text,
  Description: text,
  Policies: listOf(struct({ Name: text })),
  Hash: bytes,
  CreateIndex: unsigned,
  ModifyIndex: unsigned,
});

const namespaceSchema = struct({
  Name: text,
  Description: text,
  Quota: text,
  Capabilities: nullable(
    struct({
      EnabledTaskDrivers: listOf(text),
      DisabledTaskDrivers: listOf(text),
      EnabledNetworkModes: listOf(text),
      DisabledNetworkModes: listOf(text),
    }),
  ),
  NodePoolConfiguration: nullable(struct({ Default: text, Allowed: listOf(text), Denied: listOf(text) })),
  VaultConfiguration: nullable(struct({ Default: text, Allowed: listOf(text), Denied: listOf(text) })),
  ConsulConfiguration: nullable(struct({ Default: text, Allowed: listOf(text), Denied: listOf(text) })),
  Meta: mapOf(text),
  Hash: bytes,
  RequiredExtraClaims: mapOf(text),
  OptionalExtraClaims: mapOf(text),
  CreateIndex: unsigned,
  ModifyIndex: unsigned,
});

const nodePoolSchema = struct({
  Name: text,
  Description: text,
  Meta: mapOf(text),
  NodeIdentityTTL: integer,
  SchedulerConfiguration: nullable(struct({ SchedulerAlgorithm: text, MemoryOversubscriptionEnabled: nullable(flag) })),
  Hash: bytes,
  CreateIndex: unsigned,
  ModifyIndex: unsigned,
});

const serviceSchema = struct({
  ID: text,
  ServiceName: text,
  Namespace: text,
  NodeID: text,
  Datacenter: text,
  JobID: text,
  AllocID: text,
  Tags: listOf(text),
  Address: text,
  Port: integer,
  CreateIndex: unsigned,
  ModifyIndex: unsigned,
});

/** The listed members of a variable: all but its items. */
const variableSchema = struct({
  Namespace: text,
  Path: text,
  Lock: nullable(struct({ ID: text, TTL: integer, LockDelay: integer })),
  CreateIndex: unsigned,
  CreateTime: integer,
  ModifyIndex: unsigned,
  ModifyTime: integer,
});

const scalingPolicySchema = struct({
  ID: text,
  Type: text,
  Target: mapOf(text),
  Policy: mapOf(any),
  Min: integer,
  Max: integer,
  Enabled: flag,
  CreateIndex: unsigned,
  ModifyIndex: unsigned,
});

const groupState = struct({
  AutoRevert: flag,
  AutoPromote: flag,
  ProgressDeadline: integer,
  RequireProgressBy: time,
  Promoted: flag,
  PlacedCanaries: listOf(text),
  DesiredCanaries: integer,
  DesiredTotal: integer,
  PlacedAllocs: integer,
  HealthyAllocs: integer,
  UnhealthyAllocs: integer,
});

export const deploymentSchema = struct({
  ID: text,
  Namespace: text,
  JobID: text,
  JobVersion: unsigned,
  JobModifyIndex: unsigned,
  JobSpecModifyIndex: unsigned,
  JobCreateIndex: unsigned,
  IsMultiregion: flag,
  TaskGroups: mapOf(nullable(groupState)),
  Status: text,
  StatusDescription: text,
  EvalPriority: integer,
  CreateIndex: unsigned,
  ModifyIndex: unsigned,
  CreateTime: integer,
  ModifyTime: integer,
});

const desiredUpdates = struct({
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

const allocationStub = struct({
  ID: text,
  EvalID: text,
  Name: text,
  Namespace: text,
  NodeID: text,
  NodeName: text,
  JobID: text,
  JobType: text,
  JobVersion: unsigned,
  TaskGroup: text,
  DesiredStatus: text,
  ClientStatus: text,
});

export const evaluationSchema = struct({
  ID: text,
  Namespace: text,
  Priority: integer,
  Type: text,
  TriggeredBy: text,
  JobID: text,
  JobModifyIndex: unsigned,
  NodeID: text,
  NodeModifyIndex: unsigned,
  DeploymentID: text,
  Status: text,
  StatusDescription: text,
  Wait: integer,
  WaitUntil: time,
  NextEval: text,
  PreviousEval: text,
  BlockedEval: text,
  RelatedEvals: listOf(
    struct({
      ID: text,
      PreviousEval: text,
      NextEval: text,
      BlockedEval: text,
      Namespace: text,
      DeploymentID: text,
      TriggeredBy: text,
      JobID: text,
      NodeID: text,
      Type: text,
      Status: text,
      StatusDescription: text,
      WaitUntil: time,
      Priority: integer,
      CreateTime: integer,
      ModifyTime: integer,
    }),
  ),
  FailedTGAllocs: mapOf(nullable(metricSchema)),
  PlanAnnotations: nullable(
    struct({ DesiredTGUpdates: mapOf(desiredUpdates), PreemptedAllocs: listOf(allocationStub) }),
  ),
  ClassEligibility: mapOf(flag),
  QuotaLimitReached: text,
  MissingNonNodeResources: listOf(text),
  EscapedComputedClass: flag,
  AnnotatePlan: flag,
  QueuedAllocations: mapOf(integer),
  LeaderACL: text,
  SnapshotIndex: unsigned,
  CreateIndex: unsigned,
  ModifyIndex: unsigned,
  CreateTime: integer,
  ModifyTime: integer,
});

/** The filter of each list, applied to stored records as in Nomad, instead of to the list's entries. */
export const compileFilter = {
  job: filterCompiler(jobSchema),
  /** Input: an allocation with its job as `Job`, and with `derivedMembers` of its document if the filter's `members` include them. */
  allocation: filterCompiler(allocationSchema),
  evaluation: filterCompiler(evaluationSchema),
  deployment: filterCompiler(deploymentSchema),
  node: filterCompiler(nodeSchema),
  nodePool: filterCompiler(nodePoolSchema),
  namespace: filterCompiler(namespaceSchema),
  service: filterCompiler(serviceSchema),
  variable: filterCompiler(variableSchema),
  scalingPolicy: filterCompiler(scalingPolicySchema),
  token: filterCompiler(tokenSchema),
  policy: filterCompiler(policySchema),
  role: filterCompiler(roleSchema),
} as const;
