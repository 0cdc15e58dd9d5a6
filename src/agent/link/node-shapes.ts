import { err, ok, type Result } from 'neverthrow';
import { nodeName, nodePoolName, recordId, textLike } from '../../options/option-kinds.js';
import type { TaskEvent, TaskState } from '../../scheduler/allocation.js';
import type { Node } from '../../scheduler/node.js';
import { tailLength } from '../output/output-tail.js';
import type {
  AllocationUsage,
  CommandOutput,
  CommandRefused,
  FileDescription,
  LogRange,
  NodeCommand,
} from './node-command.js';
import {
  type AgentProcess,
  type AllocationReport,
  MAX_TASK_READS,
  type NodeDescription,
  type TaskVariablesQuery,
} from './node-work.js';
import {
  amount,
  bytes,
  count,
  decimal,
  flag,
  listOf,
  mapOf,
  objectOf,
  oneOf,
  orNull,
  type Shape,
  string,
  stringOf,
  timestamp,
  validated,
  whole,
} from './shape.js';

/** The agent's message is malformed. */
export interface UnfitForNode {
  readonly field: string;
  readonly message: string;
}

/**
 * A node's description as its agent sends it. Excludes values that operators or the server set: such members
 * are ignored.
 */
export function readNodeDescription(value: unknown): Result<NodeDescription, UnfitForNode> {
  return read(nodeDescription, value, 'node');
}

/** Undefined when the agent does not identify its process. */
export function readAgentProcess(value: unknown): Result<AgentProcess | undefined, UnfitForNode> {
  return value === undefined || value === null ? ok(undefined) : read(agentProcess, value, 'agent');
}

export function readReports(value: unknown): Result<readonly AllocationReport[], UnfitForNode> {
  return read(reports, value, 'reports');
}

export function readIds(value: unknown, field: 'ended' | 'kept'): Result<readonly string[], UnfitForNode> {
  return read(listOf(uuid, mostReports), value, field);
}

export function readVariablesQuery(
  value: unknown,
): Result<Omit<TaskVariablesQuery, 'nodeId' | 'instance'>, UnfitForNode> {
  return read(variablesQuery, value, 'query');
}

function read<T>(shape: Shape<T>, value: unknown, field: string): Result<T, UnfitForNode> {
  const found = validated(shape, value, field);
  return 'value' in found
    ? ok(found.value)
    : err({ field: found.at, message: `${found.at} must be ${found.expected}` });
}

/** The maximum number of reports, ended allocations and kept allocations, each, in one message. */
const mostReports = 10_000;
/** The maximum number of tasks in an allocation: a job has no more blocks. */
const mostTasks = 10_000;
/** The maximum number of events of a task in a report; ten of them are stored. */
const mostEvents = 50;

const uuid = stringOf(recordId);
const name = stringOf(nodeName);
const poolName = stringOf(nodePoolName);
const note = string(16_384);
const port = count(65_535);
const texts = mapOf(string(4096));

const network = objectOf({ Mode: string(), Device: string(), IP: string() }, { CIDR: string(), MBits: amount });
const address = objectOf(
  { Alias: string(), Address: string() },
  { Family: string(), ReservedPorts: string(4096), Gateway: string() },
);
const nodeInterface = objectOf(
  { Mode: string(), Device: string(), Addresses: orNull(listOf(address, 100)) },
  { MacAddress: string(), Speed: amount },
);
const deviceAttribute = objectOf({}, { Float: decimal, Int: whole, String: string(), Bool: flag, Unit: string() });
const deviceGroup = objectOf({
  Vendor: string(),
  Type: string(),
  Name: string(),
  Instances: listOf(objectOf({ ID: string(), Healthy: flag }, { HealthDescription: string() }), 1000),
  Attributes: orNull(mapOf(deviceAttribute)),
});
const megabytes = { Cpu: objectOf({ CpuShares: amount }), Memory: objectOf({ MemoryMB: amount }) };
const disk = objectOf({ DiskMB: amount });

const nodeDescription: Shape<NodeDescription> = objectOf(
  {
    ID: uuid,
    Name: name,
    Datacenter: name,
    NodePool: poolName,
    NodeClass: string(),
    HTTPAddr: string(),
    Attributes: texts,
    Meta: orNull(texts),
    NodeResources: objectOf(
      {
        Cpu: objectOf({
          CpuShares: amount,
          TotalCpuCores: count(),
          ReservableCpuCores: orNull(listOf(count(), 10_000)),
        }),
        Memory: megabytes.Memory,
        Disk: disk,
      },
      {
        Networks: orNull(listOf(network, 100)),
        NodeNetworks: orNull(listOf(nodeInterface, 100)),
        Devices: orNull(listOf(deviceGroup, 100)),
        MinDynamicPort: port,
        MaxDynamicPort: port,
      },
    ),
    ReservedResources: objectOf(
      { ...megabytes, Disk: disk },
      { Networks: objectOf({ ReservedHostPorts: string(4096) }) },
    ),
    Drivers: mapOf(
      objectOf({
        Attributes: orNull(texts),
        Detected: flag,
        Healthy: flag,
        HealthDescription: string(),
        UpdateTime: timestamp,
      }),
      100,
    ),
    SchedulingEligibility: oneOf('eligible'),
  },
  {
    Links: orNull(texts),
    HostVolumes: orNull(mapOf(objectOf({ Name: string(), Path: string(4096), ReadOnly: flag }, { ID: string() }))),
    NodeMaxAllocs: count(),
  },
) satisfies Shape<Partial<Node>>;

const taskEvent: Shape<TaskEvent> = objectOf({
  Type: string(),
  Time: decimal,
  Message: note,
  DisplayMessage: note,
  Details: orNull(mapOf(note, 100)),
  FailsTask: flag,
  RestartReason: note,
  SetupError: note,
  DriverError: note,
  ExitCode: decimal,
  Signal: decimal,
  KillTimeout: decimal,
  KillError: note,
  KillReason: note,
  StartDelay: decimal,
  DownloadError: note,
  ValidationError: note,
  DiskLimit: decimal,
  FailedSibling: note,
  VaultError: note,
  TaskSignalReason: note,
  TaskSignal: note,
  DriverMessage: note,
  GenericSource: note,
});

const taskState: Shape<TaskState> = objectOf({
  State: oneOf('pending', 'running', 'dead'),
  Failed: flag,
  Restarts: count(),
  LastRestart: orNull(timestamp),
  StartedAt: orNull(timestamp),
  FinishedAt: orNull(timestamp),
  Events: orNull(listOf(taskEvent, mostEvents)),
  Paused: string(),
});

const reports: Shape<readonly AllocationReport[]> = listOf(
  objectOf(
    {
      allocationId: uuid,
      clientStatus: oneOf('pending', 'running', 'complete', 'failed'),
      clientDescription: note,
      taskStates: mapOf(taskState, mostTasks),
    },
    { healthy: orNull(flag), output: objectOf({ task: string(), text: string(2 * tailLength) }) },
  ),
  mostReports,
);

const variableReads = listOf(objectOf({ path: string() }, { namespace: string() }), MAX_TASK_READS);
const secret = stringOf(textLike(/^[\x21-\x7e]{16,256}$/, 'a string of 16 to 256 visible ASCII characters'));
const agentProcess: Shape<AgentProcess> = objectOf({ instance: secret }, { folder: secret, boot: string(256) });

const variablesQuery: Shape<Omit<TaskVariablesQuery, 'nodeId' | 'instance'>> = objectOf({
  allocationId: uuid,
  task: string(),
  variables: variableReads,
  prefixes: variableReads,
  known: orNull(string()),
});

const used = { residentBytes: amount, userPercent: amount, systemPercent: amount };
const measured = objectOf({ ...used, pid: amount });
/** Agents of earlier versions report only the ID of each process. */
const processUsage: typeof measured = (value, at) =>
  typeof value === 'number'
    ? { pid: amount(value, at), residentBytes: 0, userPercent: 0, systemPercent: 0 }
    : measured(value, at);
const usage = objectOf({ ...used, processes: listOf(processUsage, 100_000) });
const file: Shape<FileDescription> = objectOf(
  { Name: string(4096), IsDir: flag, Size: amount, FileMode: string(), ModTime: string(64) },
  { ContentType: string(256) },
);
const stream = oneOf('stdout', 'stderr');

const allocationUsage: Shape<AllocationUsage> = objectOf({ tasks: mapOf(usage), at: amount }, { megahertz: amount });

const logRange: Shape<LogRange> = objectOf({
  ...{ firstByte: count(), endByte: count(), files: count(), from: count(), to: count() },
});

/** The range in an output of `read_log`; undefined for any other output. */
export function logRangeIn(output: CommandOutput): LogRange | undefined {
  const read = output.type === 'value' ? validated(logRange, output.value, 'answer') : undefined;
  return read !== undefined && 'value' in read ? read.value : undefined;
}

/** The results of commands. */
const values: Readonly<Partial<Record<NodeCommand['type'], Shape<unknown>>>> = {
  stats: allocationUsage,
  list_files: listOf(file, 100_000),
  read_log: logRange,
  stat_file: file,
};
const outputs: { readonly [T in CommandOutput['type']]: Shape<Extract<CommandOutput, { readonly type: T }>> } = {
  value: (value) => ({ type: 'value', value: (value as { readonly value?: unknown }).value ?? null }),
  data: objectOf({ type: oneOf('data'), stream, bytes }),
  closed: objectOf({ type: oneOf('closed'), stream }),
  exited: objectOf({ type: oneOf('exited'), code: whole }),
  failed: objectOf({ type: oneOf('failed'), message: note }),
  piece: objectOf({ type: oneOf('piece'), file: string(4096), offset: amount, bytes }),
  file_event: objectOf({ type: oneOf('file_event'), file: string(4096), event: oneOf('deleted', 'truncated') }),
};
const refusal: Shape<CommandRefused> = objectOf(
  { type: oneOf('command_invalid', 'command_not_found', 'command_failed'), message: note },
  { reason: oneOf('invalid', 'not_found', 'state') },
);

/** Validates a command's output as a node sent it; undefined for any other value. */
export function readCommandOutput(command: NodeCommand['type'], sent: unknown): CommandOutput | undefined {
  const kind = validated(kindOfOutput, sent, 'answer');
  if (!('value' in kind)) return undefined;
  const output = validated<CommandOutput>(outputs[kind.value.type], sent, 'answer');
  if (!('value' in output)) return undefined;
  const valueShape = values[command];
  if (output.value.type !== 'value' || valueShape === undefined) return output.value;
  const value = validated(valueShape, output.value.value, 'answer');
  return 'value' in value ? { type: 'value', value: value.value } : undefined;
}

const kindOfOutput = objectOf({
  type: oneOf('value', 'data', 'closed', 'exited', 'failed', 'piece', 'file_event'),
});

/** The command's output in the form that the caller accepts: see `eachProcess` of the command. */
export function outputFor(command: NodeCommand, output: CommandOutput): CommandOutput {
  if (command?.type !== 'stats' || command.eachProcess === true || output.type !== 'value') return output;
  const read = validated(allocationUsage, output.value, 'answer');
  if (!('value' in read)) return output;
  const { tasks, at } = read.value;
  const earlier = Object.entries(tasks).map(([name, used]) => [
    name,
    { ...used, processes: used.processes.map(({ pid }) => pid) },
  ]);
  return { type: 'value', value: { tasks: Object.fromEntries(earlier), at } };
}

/** Validates a node's refusal of a command; undefined for a value of another shape. */
export function readCommandRefusal(sent: unknown): CommandRefused | undefined {
  const read = validated(refusal, sent, 'refusal');
  return 'value' in read ? read.value : undefined;
}
