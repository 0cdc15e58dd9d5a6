import type { AllocationUsage, CommandOutput, FileDescription, HostUsage } from '../agent/link/node-command.js';
import type { StoppedAllocation } from '../operations/allocations/index.js';
import { anyCaller, inArea, inNamespaceOf } from './access.js';
import { type AnswerForm, computed, nothing, written } from './answers.js';
import { base64From, bytesFromBase64 } from './base64.js';
import { socket, stream, write, writeServer } from './call.js';
import { inBody, inPath, inQuery, required } from './inputs.js';
import { jsonBoolean, jsonName } from './json-codecs.js';
import { boolean, contractWhole, strictBoolean, text, whole, word } from './text-codecs.js';

const allocationId = inPath('allocation_id', text);
const refusals = ['command_invalid', 'command_not_found', 'command_failed'] as const;
const path = inQuery('path', text, 'Path below the folder of the allocation; the folder itself when absent');
const offset = inQuery('offset', whole, 'Bytes after the start, or before the end; 0 when absent');
const readOffset = inQuery('offset', contractWhole, 'Bytes after the start, or before the end; 0 when absent');
const origin = inQuery('origin', word('start', 'end'), 'What `offset` counts from; `start` when absent');
const task = inQuery('task', text, 'Name of the task');

/** The answer of commands: existing clients expect an index, which carries no information. */
const ordered: AnswerForm<void, void> = {
  ...computed<void>('Ordered', () => ({ Index: 0 })),
  toClient: () => undefined,
};

/** The JSON form of one data message of a stream. */
const frames: AnswerForm<StreamItem, StreamItem> = {
  ...computed<StreamItem>('StreamFrame', frameOf),
  fromWire: itemOfFrame,
};

/** Bytes as they come. */
const bytes: AnswerForm<Uint8Array, Uint8Array> = computed<Uint8Array>('StreamFrame');

type FilePiece = Extract<CommandOutput, { readonly type: 'piece' | 'file_event' }>;

/** A chunk of a file, a file event, or plain bytes if the request is for bytes. */
export type StreamItem = FilePiece | Uint8Array;

interface Frame {
  readonly File?: unknown;
  readonly FileEvent?: unknown;
  readonly Offset?: unknown;
  readonly Data?: unknown;
}

const fileEvents = { 'file deleted': 'deleted', 'file truncated': 'truncated' } as const;

function itemOfFrame(frame: unknown): FilePiece | undefined {
  const { File: file = '', FileEvent, Offset: offset = 0, Data = '' } = frame as Frame;
  if (typeof file !== 'string' || typeof offset !== 'number' || typeof Data !== 'string') return undefined;
  if (FileEvent === undefined) {
    const decoded = bytesFromBase64(Data);
    return decoded === undefined ? undefined : { type: 'piece', file, offset, bytes: decoded };
  }
  const event = fileEvents[FileEvent as keyof typeof fileEvents];
  return event === undefined ? undefined : { type: 'file_event', file, event };
}

function frameOf(item: StreamItem): unknown {
  if (item instanceof Uint8Array) return {};
  if (item.type === 'file_event') return { File: item.file, FileEvent: `file ${item.event}` };
  return { Offset: item.offset, Data: base64From(item.bytes), File: item.file };
}

/** Commands for an allocation; most are executed by its node. */
export const allocationCommandCalls = {
  /** Ends an allocation; another one takes its place. */
  stop: writeServer({
    path: '/v1/allocation/{allocation_id}/stop',
    access: inNamespaceOf('record', 'alloc-lifecycle'),
    summary: 'Ends an allocation; another one takes its place where the job still wants it',
    args: ['id'],
    inputs: {
      id: allocationId,
      noShutdownDelay: inQuery('no_shutdown_delay', boolean, 'End its tasks without shutdown delays'),
      reschedule: inQuery('reschedule', boolean, 'Count the replacement as a rescheduling'),
    },
    errors: refusals,
    answer: written<StoppedAllocation>('StoppedAllocation', { evalId: 'EvalID', index: 'Index' }),
  }),

  /** Restarts tasks of an allocation in place. */
  restart: write({
    path: '/v1/client/allocation/{allocation_id}/restart',
    access: inNamespaceOf('record', 'alloc-lifecycle'),
    summary: 'Restarts one task, all that run, or everything from its beginning',
    args: ['id'],
    anyMethod: true,
    optionalBody: true,
    inputs: { id: allocationId, task: inBody('TaskName', jsonName), all: inBody('AllTasks', jsonBoolean) },
    errors: refusals,
    answer: ordered,
  }),

  /** Sends a signal to tasks of an allocation. */
  signal: write({
    path: '/v1/client/allocation/{allocation_id}/signal',
    access: inNamespaceOf('record', 'alloc-lifecycle'),
    summary: 'Sends a signal to one task, or to all that run',
    args: ['id', 'signal'],
    inputs: {
      id: allocationId,
      signal: required(inBody('Signal', jsonName)),
      task: inBody('Task', jsonName),
      taskName: inBody('TaskName', jsonName),
    },
    errors: refusals,
    answer: ordered,
  }),

  /** Removes what is left of an allocation that has ended on its node: its folder, with the logs. */
  collect: writeServer({
    path: '/v1/client/allocation/{allocation_id}/gc',
    methods: ['PUT', 'POST', 'GET'],
    access: anyCaller,
    summary: 'Removes what is left of an allocation that has ended on its node: its folder, with the logs',
    args: ['id'],
    inputs: { id: allocationId },
    errors: refusals,
    answer: nothing(200),
  }),

  /** What the tasks of an allocation use at present. */
  stats: write({
    path: '/v1/client/allocation/{allocation_id}/stats',
    methods: ['GET'],
    access: inNamespaceOf('record', 'read-job'),
    summary: 'What the tasks of an allocation use at present',
    args: ['id'],
    inputs: { id: allocationId, task },
    errors: refusals,
    answer: computed<AllocationUsage>('AllocationUsage', usageOnTheWire),
  }),

  /** The newest results of the checks of an allocation's services. */
  clientChecks: write({
    path: '/v1/client/allocation/{allocation_id}/checks',
    methods: ['GET'],
    access: inNamespaceOf('record', 'read-job'),
    summary: 'The newest results of the checks of an allocation, from its node',
    args: ['id'],
    inputs: { id: allocationId },
    errors: refusals,
    answer: computed<unknown>('CheckResults'),
  }),

  /** The newest results of the checks of an allocation's services. */
  checks: write({
    path: '/v1/allocation/{allocation_id}/checks',
    methods: ['GET'],
    access: inNamespaceOf('record', 'read-job'),
    summary: 'The newest results of the checks of an allocation',
    args: ['id'],
    inputs: { id: allocationId },
    errors: refusals,
    answer: computed<unknown>('CheckResults'),
  }),

  /** Runs a command beside a task, and talks with it. */
  exec: socket({
    path: '/v1/client/allocation/{allocation_id}/exec',
    access: inNamespaceOf('record', 'alloc-exec'),
    summary: 'Runs a command beside a task: its input and output as messages of a WebSocket',
    args: ['id'],
    inputs: {
      id: allocationId,
      task,
      command: inQuery('command', text, 'The command and its arguments: a JSON list of strings'),
      tty: inQuery('tty', text, 'Whether it runs in a terminal'),
    },
    errors: refusals,
    closeCodes: { command_failed: 1011 },
    answer: computed<unknown>('ExecFrame'),
  }),
} as const;

function hostUsageOnTheWire({ memory, processors, disk, uptime, at }: HostUsage): unknown {
  const { total, available } = memory;
  return {
    Memory: { Total: total, Available: available, Used: total - available, Free: available },
    CPU: processors.map(({ user, system, idle }, number) => ({
      CPU: `cpu${number}`,
      User: user,
      System: system,
      Idle: idle,
      TotalPercent: user + system,
      TotalTicks: 0,
    })),
    DiskStats: [],
    AllocDirStats: disk && {
      Device: '',
      Mountpoint: disk.folder,
      Size: disk.size,
      Used: disk.size - disk.available,
      Available: disk.available,
      UsedPercent: disk.size === 0 ? 0 : (100 * (disk.size - disk.available)) / disk.size,
      InodesUsedPercent: 0,
    },
    DeviceStats: null,
    Uptime: uptime,
    CPUTicksConsumed: 0,
    Timestamp: at * 1_000_000,
  };
}

/** Commands for whole nodes. */
export const nodeCommandCalls = {
  /** What a host uses at present. */
  stats: writeServer({
    path: '/v1/client/stats',
    methods: ['GET'],
    access: inArea('node', 'read'),
    summary: 'What a host uses at present: memory, processors, the disk of its allocations',
    inputs: { nodeId: inQuery('node_id', text, 'The node; the one that is connected to this server when absent') },
    errors: refusals,
    answer: computed<HostUsage>('HostUsage', hostUsageOnTheWire),
  }),

  /** Removes what is left of all allocations that have ended on a node: their folders, with the logs. */
  collect: writeServer({
    path: '/v1/client/gc',
    methods: ['PUT', 'POST', 'GET'],
    access: inArea('node', 'write'),
    summary: 'Removes what is left of all allocations that have ended on a node: their folders, with the logs',
    inputs: { nodeId: inQuery('node_id', text, 'The node; all that are connected to this server when absent') },
    errors: refusals,
    answer: nothing(200),
  }),
} as const;

/** Actions that jobs declare for their tasks. */
export const actionCalls = {
  /** Runs an action of a job in one of its allocations, and talks with it. */
  runAction: socket({
    path: '/v1/job/{job_id}/action',
    access: inNamespaceOf('record', 'alloc-exec'),
    summary: 'Runs an action of a job: its input and output as messages of a WebSocket',
    args: ['id'],
    inputs: {
      id: inPath('job_id', text),
      allocationId: inQuery('allocID', text, 'The allocation to run it in', ['alloc_id']),
      task,
      action: inQuery('action', text, 'Name of the action'),
      tty: inQuery('tty', text, 'Whether it runs in a terminal'),
    },
    errors: refusals,
    closeCodes: { command_failed: 1011 },
    answer: computed<unknown>('ExecFrame'),
  }),

  /** The actions of a job, in order of groups, tasks and definition. */
  actions: write({
    path: '/v1/job/{job_id}/actions',
    methods: ['GET'],
    access: inNamespaceOf('record', 'read-job'),
    summary: 'The actions of a job, in order of groups, tasks and definition',
    args: ['id'],
    inputs: { id: inPath('job_id', text) },
    errors: refusals,
    leaderHeaders: 'unknown',
    // Read from the job, but the interface sends no index header.
    answer: { ...computed<readonly JobAction[]>('JobActions'), indexOf: () => 0 },
  }),
} as const;

export interface JobAction {
  readonly Name: string;
  readonly Command: string;
  readonly Args: readonly string[] | null;
  readonly TaskName: string;
  readonly TaskGroupName: string;
}

/** Files of allocations, on their nodes. */
export const fileCalls = {
  /** What lies in a folder of an allocation. */
  list: write({
    path: '/v1/client/fs/ls/{allocation_id}',
    methods: ['GET'],
    access: inNamespaceOf('record', 'read-fs'),
    summary: 'What lies in a folder of an allocation',
    args: ['id'],
    inputs: { id: allocationId, path },
    errors: refusals,
    answer: computed<readonly FileDescription[]>('FileList'),
  }),

  /** One file or folder of an allocation. */
  stat: write({
    path: '/v1/client/fs/stat/{allocation_id}',
    methods: ['GET'],
    access: inNamespaceOf('record', 'read-fs'),
    summary: 'One file or folder of an allocation',
    args: ['id'],
    inputs: { id: allocationId, path },
    errors: refusals,
    answer: computed<FileDescription>('FileDescription'),
  }),

  /** A file of an allocation, whole. */
  read: stream('bytes', {
    path: '/v1/client/fs/cat/{allocation_id}',
    access: inNamespaceOf('record', 'read-fs'),
    summary: 'A file of an allocation, whole',
    args: ['id'],
    inputs: { id: allocationId, path },
    errors: refusals,
    contentType: 'text/plain; charset=utf-8',
    answer: bytes,
  }),

  /** A part of a file of an allocation. */
  readAt: stream('bytes', {
    path: '/v1/client/fs/readat/{allocation_id}',
    access: inNamespaceOf('record', 'read-fs'),
    summary: 'A part of a file of an allocation',
    args: ['id'],
    inputs: { id: allocationId, path, offset: readOffset, limit: inQuery('limit', contractWhole, 'Bytes at most') },
    errors: refusals,
    contentType: 'text/plain; charset=utf-8',
    answer: bytes,
  }),

  /** A file of an allocation in pieces, and what is added to it. */
  stream: stream('joined', {
    path: '/v1/client/fs/stream/{allocation_id}',
    access: inNamespaceOf('record', 'read-fs'),
    summary: 'A file of an allocation in pieces, and what is added to it',
    args: ['id'],
    inputs: {
      id: allocationId,
      path,
      offset: readOffset,
      origin,
      follow: inQuery('follow', strictBoolean, 'Whether to wait for what is added; true when absent'),
    },
    errors: refusals,
    answer: frames,
  }),

  /** The output of a task, over the files that it is kept in. */
  logs: stream('joined', {
    path: '/v1/client/fs/logs/{allocation_id}',
    access: inNamespaceOf('record', 'read-logs', 'read-fs'),
    summary: 'The output of a task',
    args: ['id'],
    inputs: {
      id: allocationId,
      task,
      type: inQuery('type', text, 'The stream: `stdout` or `stderr`'),
      offset,
      origin,
      follow: inQuery('follow', strictBoolean, 'Whether to wait for what is added; false when absent'),
      plain: inQuery('plain', strictBoolean, 'Whether to answer the bytes as they are'),
    },
    errors: refusals,
    bytesWhen: 'plain',
    contentType: 'text/plain',
    answer: frames,
  }),
} as const;

function usageOnTheWire({ tasks, at }: AllocationUsage): unknown {
  const entries = Object.entries(tasks);
  const sum = (of: (usage: AllocationUsage['tasks'][string]) => number): number =>
    entries.reduce((total, [, usage]) => total + of(usage), 0);
  const timestamp = at * 1_000_000;
  return {
    ResourceUsage: resourceUsage(
      sum(({ residentBytes }) => residentBytes),
      sum(({ userPercent }) => userPercent),
      sum(({ systemPercent }) => systemPercent),
    ),
    Tasks: Object.fromEntries(
      entries.map(([name, { residentBytes, userPercent, systemPercent, processes }]) => [
        name,
        {
          ResourceUsage: resourceUsage(residentBytes, userPercent, systemPercent),
          Timestamp: timestamp,
          Pids: Object.fromEntries(processes.map((pid) => [String(pid), null])),
        },
      ]),
    ),
    Timestamp: timestamp,
  };
}

function resourceUsage(resident: number, user: number, system: number): unknown {
  return {
    MemoryStats: {
      RSS: resident,
      Cache: 0,
      Swap: 0,
      MappedFile: 0,
      Usage: resident,
      MaxUsage: 0,
      KernelUsage: 0,
      KernelMaxUsage: 0,
      Measured: ['RSS', 'Usage'],
    },
    CpuStats: {
      SystemMode: system,
      UserMode: user,
      TotalTicks: 0,
      ThrottledPeriods: 0,
      ThrottledTime: 0,
      Percent: user + system,
      Measured: ['System Mode', 'User Mode', 'Percent'],
    },
    DeviceStats: [],
  };
}
