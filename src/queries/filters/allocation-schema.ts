import { flag, integer, listOf, mapOf, nullable, struct, text, time, unsigned } from '../../filter/schema.js';
import { jobSchema } from './job-schema.js';
import { metricSchema } from './metric-schema.js';
import { allocatedResources, networkStatus, resourceSum } from './resources-schema.js';

const taskEvent = struct({
  Type: text,
  Time: integer,
  Message: text,
  DisplayMessage: text,
  Details: mapOf(text),
  FailsTask: flag,
  RestartReason: text,
  SetupError: text,
  DriverError: text,
  ExitCode: integer,
  Signal: integer,
  KillTimeout: integer,
  KillError: text,
  KillReason: text,
  StartDelay: integer,
  DownloadError: text,
  ValidationError: text,
  DiskLimit: integer,
  FailedSibling: text,
  VaultError: text,
  TaskSignalReason: text,
  TaskSignal: text,
  DriverMessage: text,
  GenericSource: text,
});

const taskState = struct({
  State: text,
  Failed: flag,
  Restarts: unsigned,
  LastRestart: time,
  StartedAt: time,
  FinishedAt: time,
  Events: listOf(taskEvent),
  Paused: text,
  TaskHandle: nullable(struct({})),
});

const transition = struct({
  Migrate: nullable(flag),
  MigrateDisablePlacement: nullable(flag),
  Reschedule: nullable(flag),
  ForceReschedule: nullable(flag),
  NoShutdownDelay: nullable(flag),
});

/** An allocation with its job embedded. Members that only its stub has (`JobVersion`, `JobType`) cannot be named. */
export const allocationSchema = struct({
  ID: text,
  Namespace: text,
  EvalID: text,
  Name: text,
  NodeID: text,
  NodeName: text,
  JobID: text,
  Job: nullable(jobSchema),
  TaskGroup: text,
  Resources: nullable(resourceSum),
  SharedResources: nullable(resourceSum),
  TaskResources: mapOf(nullable(resourceSum)),
  AllocatedResources: nullable(allocatedResources),
  Metrics: nullable(metricSchema),
  DesiredStatus: text,
  DesiredDescription: text,
  DesiredTransition: transition,
  ClientStatus: text,
  ClientDescription: text,
  TaskStates: mapOf(nullable(taskState)),
  AllocStates: listOf(struct({ Field: unsigned, Value: text, Time: time })),
  PreviousAllocation: text,
  NextAllocation: text,
  DeploymentID: text,
  DeploymentStatus: nullable(struct({ Healthy: nullable(flag), Timestamp: time, Canary: flag, ModifyIndex: unsigned })),
  RescheduleTracker: nullable(
    struct({
      Events: listOf(struct({ RescheduleTime: integer, PrevAllocID: text, PrevNodeID: text, Delay: integer })),
      LastReschedule: text,
    }),
  ),
  NetworkStatus: nullable(networkStatus),
  FollowupEvalID: text,
  PreemptedAllocations: listOf(text),
  PreemptedByAllocation: text,
  SignedIdentities: mapOf(text),
  SigningKeyID: text,
  CreateIndex: unsigned,
  ModifyIndex: unsigned,
  AllocModifyIndex: unsigned,
  CreateTime: integer,
  ModifyTime: integer,
});
