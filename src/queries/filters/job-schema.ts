import {
  any,
  bytes,
  type FilterType,
  flag,
  float,
  integer,
  listOf,
  type Members,
  mapOf,
  nullable,
  type ScalarType,
  type StructType,
  struct,
  text,
  time,
  unsigned,
} from '../../filter/schema.js';
import { type Block, type Field, type FieldSet, storedFields } from '../../jobs/document/field-table.js';
import { jobBlock } from '../../jobs/document/job.js';

/** A stored job, as the field table describes it. */
export const jobSchema = structOf(jobBlock);

function structOf(block: Block<FieldSet>): StructType {
  return struct(lazily(() => Object.fromEntries(storedFields(block).map(([name, field]) => [name, typeOf(field)]))));
}

function typeOf(field: Field<unknown, unknown>): FilterType {
  switch (field.kind) {
    case 'string':
      return scalar(text, field);
    case 'boolean':
      return scalar(flag, field);
    case 'integer':
    case 'duration':
      return scalar(wholeNumber(field), field);
    case 'base64':
      return bytes;
    case 'strings':
      return listOf(text);
    case 'integers':
      return listOf(wholeNumber(field));
    case 'string_map':
      return mapOf(text);
    case 'string_list_map':
      return mapOf(listOf(text));
    case 'free_form':
      return mapOf(any);
    case 'block':
      return field.stored === 'null' ? nullable(blockOf(field)) : blockOf(field);
    case 'blocks':
      return listOf(blockOf(field));
    case 'block_map':
      return mapOf(blockOf(field));
  }
}

function scalar(type: ScalarType, { stored }: Field<unknown, unknown>): ScalarType {
  return stored === 'null' ? nullable(type) : type;
}

function wholeNumber({ bounds }: Field<unknown, unknown>): ScalarType {
  return bounds !== undefined && bounds.min >= 0 ? unsigned : integer;
}

function blockOf({ block }: Field<unknown, unknown>): StructType {
  return block === undefined ? struct({}) : structOf(block);
}

/** Built when a filter first reads it: most filters read few members of the job. */
function lazily(make: () => Members): () => Members {
  let made: Members | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

const dns = struct({ Servers: listOf(text), Searches: listOf(text), Options: listOf(text) });

const port = struct({ Label: text, Value: integer, To: integer, HostNetwork: text, IgnoreCollision: flag });

export const network = struct({
  Mode: text,
  Device: text,
  CIDR: text,
  IP: text,
  Hostname: text,
  MBits: integer,
  DNS: nullable(dns),
  ReservedPorts: listOf(port),
  DynamicPorts: listOf(port),
  CNI: nullable(struct({ Args: mapOf(text) })),
});

/** Members that the job interface names, and no others. */
const networkStatus = struct({ InterfaceName: text, Address: text, AddressIPv6: text, DNS: nullable(dns) });

const lifecycle = struct({ Hook: text, Sidecar: flag });

/** The resources assigned to an allocation on its node. */
const allocatedResources = struct({
  Tasks: mapOf(
    struct({
      Cpu: struct({ CpuShares: integer, ReservedCores: listOf(integer) }),
      Memory: struct({ MemoryMB: integer, MemoryMaxMB: integer }),
      Networks: listOf(network),
      Devices: listOf(struct({ Vendor: text, Type: text, Name: text, DeviceIDs: listOf(text) })),
    }),
  ),
  TaskLifecycles: mapOf(nullable(lifecycle)),
  Shared: struct({
    Networks: listOf(network),
    DiskMB: integer,
    Ports: listOf(struct({ Label: text, Value: integer, To: integer, HostIP: text, IgnoreCollision: flag })),
  }),
});

/** The same in the form in which jobs request them. */
const resourceSum = struct({
  CPU: integer,
  Cores: integer,
  MemoryMB: integer,
  MemoryMaxMB: integer,
  DiskMB: integer,
  IOPS: integer,
  Networks: listOf(network),
  Devices: listOf(struct({ Name: text, Count: unsigned })),
  NUMA: nullable(struct({ Affinity: text, Devices: listOf(text) })),
  SecretsMB: integer,
});

/** Why nodes were chosen or rejected. */
export const metricSchema = struct({
  NodesEvaluated: integer,
  NodesFiltered: integer,
  NodesInPool: integer,
  NodePool: text,
  NodesAvailable: mapOf(integer),
  ClassFiltered: mapOf(integer),
  ConstraintFiltered: mapOf(integer),
  NodesExhausted: integer,
  ClassExhausted: mapOf(integer),
  DimensionExhausted: mapOf(integer),
  QuotaExhausted: listOf(text),
  ResourcesExhausted: mapOf(struct({ CPU: integer, MemoryMB: integer, MemoryMaxMB: integer, DiskMB: integer })),
  Scores: mapOf(float),
  ScoreMetaData: listOf(struct({ NodeID: text, Scores: mapOf(float), NormScore: float })),
  AllocationTime: integer,
  CoalescedFailures: integer,
});

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
