import type { AllocationUsage, CommandOutput, FileDescription, Usage } from '../../agent/link/node-command.js';
import type { TaskLog } from '../../operations/allocations/read-task-log.js';
import type { StoppedAllocation } from '../../operations/allocations/stop-allocation.js';
import { anyCaller, inNamespace, onRecord } from '../access.js';
import { type AnswerForm, computed, nothing, written } from '../answers.js';
import { socket, stream, write, writeServer } from '../call.js';
import { allocationInPath, commandErrors, inBody, inPath, inQuery, required, taskInQuery } from '../inputs.js';
import { jsonBoolean, jsonName } from '../json-codecs.js';
import { base64From, boolean, bytesFromBase64, text, whole, word } from '../text-codecs.js';

/** The answer of commands: existing clients expect an index, which carries no information. */
const ordered: AnswerForm<void, void> = {
  ...computed<void>('Ordered', () => ({ Index: 0 })),
  toClient: () => undefined,
};

/** The results of the checks of an allocation, at both addresses of Nomad. */
function checksAt<const P extends string>(path: P, from: string) {
  return write({
    path,
    methods: ['GET'],
    access: onRecord('read-job'),
    summary: `The newest results of the checks of an allocation${from}`,
    args: ['allocationId'],
    inputs: { allocationId: allocationInPath },
    errors: commandErrors,
    answer: computed<unknown>('CheckResults'),
  });
}

/** Commands for an allocation; most are executed by its node. */
export const allocationCommandCalls = {
  /** Stops an allocation; it is replaced. */
  stop: writeServer({
    path: '/v1/allocation/{allocation_id}/stop',
    access: onRecord('alloc-lifecycle'),
    summary: 'Stops an allocation; it is replaced if the job still needs it',
    args: ['allocationId'],
    inputs: {
      allocationId: allocationInPath,
      noShutdownDelay: inQuery('no_shutdown_delay', boolean, 'End its tasks without shutdown delays'),
      reschedule: inQuery('reschedule', boolean, 'Count the replacement as a rescheduling'),
    },
    errors: commandErrors,
    answer: written<StoppedAllocation>('StoppedAllocation', { evalId: 'EvalID', index: 'Index' }),
  }),

  /** Restarts tasks of an allocation in place. */
  restart: write({
    path: '/v1/client/allocation/{allocation_id}/restart',
    access: onRecord('alloc-lifecycle'),
    summary: 'Restarts one task, all running tasks, or all tasks including ended ones',
    args: ['allocationId'],
    optionalBody: true,
    inputs: {
      allocationId: allocationInPath,
      task: inBody('TaskName', jsonName),
      all: inBody('AllTasks', jsonBoolean),
    },
    errors: commandErrors,
    answer: ordered,
  }),

  /** Sends a signal to tasks of an allocation. */
  signal: write({
    path: '/v1/client/allocation/{allocation_id}/signal',
    access: onRecord('alloc-lifecycle'),
    summary: 'Sends a signal to one task, or to all running tasks',
    args: ['allocationId', 'signal'],
    inputs: {
      allocationId: allocationInPath,
      signal: required(inBody('Signal', jsonName)),
      task: inBody('Task', jsonName),
      taskName: inBody('TaskName', jsonName),
    },
    errors: commandErrors,
    answer: ordered,
  }),

  /** Removes the folder of an ended allocation from its node, with the logs. */
  collect: writeServer({
    path: '/v1/client/allocation/{allocation_id}/gc',
    methods: ['PUT', 'POST', 'GET'],
    access: anyCaller,
    summary: 'Removes the folder of an ended allocation from its node, with the logs',
    args: ['allocationId'],
    inputs: { allocationId: allocationInPath },
    errors: commandErrors,
    // Clients of Nomad read a JSON body.
    answer: { ...nothing(200), schema: { type: 'object' }, toWire: () => '{}' },
  }),

  /** The current resource usage of an allocation's tasks. */
  stats: write({
    path: '/v1/client/allocation/{allocation_id}/stats',
    methods: ['GET'],
    access: onRecord('read-job'),
    summary: "The current resource usage of an allocation's tasks",
    args: ['allocationId'],
    inputs: { allocationId: allocationInPath, task: taskInQuery },
    errors: commandErrors,
    answer: computed<AllocationUsage>('AllocationUsage', usageOnTheWire),
  }),

  /** The newest results of the checks of an allocation's services. */
  clientChecks: checksAt('/v1/client/allocation/{allocation_id}/checks', ', from its node'),

  /** The newest results of the checks of an allocation's services. */
  checks: checksAt('/v1/allocation/{allocation_id}/checks', ''),

  /** Runs a command in the context of a task, with its input and output. */
  exec: socket({
    path: '/v1/client/allocation/{allocation_id}/exec',
    access: onRecord('alloc-exec'),
    summary: 'Runs a command in the context of a task: its input and output as messages of a WebSocket',
    args: ['allocationId'],
    inputs: {
      allocationId: allocationInPath,
      task: taskInQuery,
      command: inQuery('command', text, 'The command and its arguments: a JSON list of strings'),
      tty: inQuery('tty', text, 'Whether it runs in a terminal'),
    },
    errors: commandErrors,
    closeCodes: { command_failed: 1011 },
    answer: computed<unknown>('ExecFrame'),
  }),
} as const;

function usageOnTheWire({ tasks, at, megahertz = 0 }: AllocationUsage): unknown {
  const resourceUsage = (usage: Usage): unknown => usageDocument(usage, megahertz);
  const entries = Object.entries(tasks);
  const sum = (of: (usage: AllocationUsage['tasks'][string]) => number): number =>
    entries.reduce((total, [, usage]) => total + of(usage), 0);
  const timestamp = at * 1_000_000;
  return {
    ResourceUsage: resourceUsage({
      residentBytes: sum(({ residentBytes }) => residentBytes),
      userPercent: sum(({ userPercent }) => userPercent),
      systemPercent: sum(({ systemPercent }) => systemPercent),
    }),
    Tasks: Object.fromEntries(
      entries.map(([name, usage]) => [
        name,
        {
          ResourceUsage: resourceUsage(usage),
          Timestamp: timestamp,
          Pids: Object.fromEntries(usage.processes.map((process) => [String(process.pid), resourceUsage(process)])),
        },
      ]),
    ),
    Timestamp: timestamp,
  };
}

function usageDocument({ residentBytes, userPercent, systemPercent }: Usage, megahertz: number): unknown {
  return {
    MemoryStats: {
      RSS: residentBytes,
      Cache: 0,
      Swap: 0,
      MappedFile: 0,
      Usage: residentBytes,
      MaxUsage: 0,
      KernelUsage: 0,
      KernelMaxUsage: 0,
      Measured: ['RSS', 'Usage'],
    },
    CpuStats: {
      SystemMode: systemPercent,
      UserMode: userPercent,
      TotalTicks: ((userPercent + systemPercent) / 100) * megahertz,
      ThrottledPeriods: 0,
      ThrottledTime: 0,
      Percent: userPercent + systemPercent,
      Measured: ['System Mode', 'User Mode', 'Percent', 'Total Ticks'],
    },
    DeviceStats: [],
  };
}

const path = inQuery('path', text, 'Path below the folder of the allocation; default: the folder itself');
const offset = inQuery('offset', whole, 'Bytes after the start, or before the end; default: 0');
const readOffset = inQuery('offset', whole, 'Bytes after the start, or before the end; default: 0');
const startOffset = required(inQuery('offset', whole, 'Bytes after the start'));
const file = inQuery('path', text, 'Path below the folder of the allocation');
const download = inQuery('download', boolean, 'Whether to answer with a file to save: all bytes up to the present end');
const origin = inQuery('origin', word('start', 'end'), 'Reference point of `offset`; default: `start`');

/** The JSON form of one data message of a stream. */
const frames: AnswerForm<StreamItem, StreamItem> = {
  ...computed<StreamItem>('StreamFrame', frameOf),
  fromWire: itemOfFrame,
};

/** Bytes as they arrive. */
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

/** Files of allocations, on their nodes. */
export const fileCalls = {
  /** The entries of a folder of an allocation. */
  list: write({
    path: '/v1/client/fs/ls/{allocation_id}',
    methods: ['GET'],
    access: onRecord('read-fs'),
    summary: 'The entries of a folder of an allocation',
    args: ['allocationId'],
    inputs: { allocationId: allocationInPath, path },
    errors: commandErrors,
    answer: computed<readonly FileDescription[]>('FileList'),
  }),

  /** One file or folder of an allocation. */
  stat: write({
    path: '/v1/client/fs/stat/{allocation_id}',
    methods: ['GET'],
    access: onRecord('read-fs'),
    summary: 'One file or folder of an allocation',
    args: ['allocationId'],
    inputs: { allocationId: allocationInPath, path: file },
    errors: commandErrors,
    answer: computed<FileDescription>('FileDescription'),
  }),

  /** A file of an allocation, whole. */
  read: stream({
    framing: 'bytes',
    path: '/v1/client/fs/cat/{allocation_id}',
    access: onRecord('read-fs'),
    summary: 'The complete content of a file of an allocation',
    args: ['allocationId'],
    inputs: { allocationId: allocationInPath, path: file, download },
    errors: commandErrors,
    contentType: 'text/plain; charset=utf-8',
    answer: bytes,
  }),

  /** A part of a file of an allocation. */
  readAt: stream({
    framing: 'bytes',
    path: '/v1/client/fs/readat/{allocation_id}',
    access: onRecord('read-fs'),
    summary: 'A part of a file of an allocation',
    args: ['allocationId'],
    inputs: {
      allocationId: allocationInPath,
      path: file,
      offset: startOffset,
      limit: inQuery('limit', whole, 'The most bytes to return; 0 or less: no limit'),
    },
    errors: commandErrors,
    contentType: 'text/plain; charset=utf-8',
    answer: bytes,
  }),

  /** A file of an allocation in chunks, and further output as it is appended. */
  stream: stream({
    framing: 'joined',
    path: '/v1/client/fs/stream/{allocation_id}',
    access: onRecord('read-fs'),
    summary: 'Streams a file of an allocation, including bytes appended later',
    args: ['allocationId'],
    inputs: {
      allocationId: allocationInPath,
      path: file,
      offset: readOffset,
      origin,
      follow: inQuery('follow', boolean, 'Whether to wait for appended bytes; default: true'),
    },
    errors: commandErrors,
    framesType: 'text/plain; charset=utf-8',
    answer: frames,
  }),

  /** The output of a task, across its rotated log files. */
  logs: stream({
    framing: 'joined',
    path: '/v1/client/fs/logs/{allocation_id}',
    access: onRecord('read-logs', 'read-fs'),
    summary: 'The output of a task',
    args: ['allocationId'],
    inputs: {
      allocationId: allocationInPath,
      task: taskInQuery,
      type: inQuery('type', text, 'The stream: `stdout` or `stderr`'),
      offset,
      origin,
      follow: inQuery('follow', boolean, 'Whether to wait for appended bytes; default: false'),
      plain: inQuery('plain', boolean, 'Whether to send raw bytes without frames'),
      download,
    },
    errors: commandErrors,
    bytesWhen: 'plain',
    contentType: 'text/plain',
    answer: frames,
  }),

  /** A range of the output of a task, by positions that rotation does not change. */
  readLog: write({
    path: '/v1/allocation/{allocation_id}/log',
    methods: ['GET'],
    access: onRecord('read-logs', 'read-fs'),
    summary: 'A range of the output of a task, in bytes since the task began to write, and which bytes are kept',
    args: ['allocationId'],
    inputs: {
      allocationId: allocationInPath,
      task: required(taskInQuery),
      type: required(inQuery('type', text, 'The stream: `stdout` or `stderr`')),
      from: inQuery('from', whole, 'Position of the first byte; default: that of the last `limit` bytes'),
      limit: inQuery('limit', whole, 'The most bytes, 0 to 1,048,576; default: 65,536'),
    },
    errors: commandErrors,
    answer: computed<TaskLog>('TaskLog'),
  }),
} as const;

/** Actions that jobs declare for their tasks. */
export const actionCalls = {
  /** Runs an action of a job in one of its allocations, with its input and output. */
  runAction: socket({
    path: '/v1/job/{job_id}/action',
    access: onRecord('alloc-exec'),
    summary: 'Runs an action of a job: its input and output as messages of a WebSocket',
    args: ['jobId'],
    inputs: {
      jobId: inPath('job_id', text),
      allocationId: inQuery('allocID', text, 'The allocation to run it in', ['alloc_id']),
      task: taskInQuery,
      action: inQuery('action', text, 'Name of the action'),
      tty: inQuery('tty', text, 'Whether it runs in a terminal'),
    },
    errors: commandErrors,
    closeCodes: { command_failed: 1011 },
    answer: computed<unknown>('ExecFrame'),
  }),

  /** The actions of a job, in order of groups, tasks and definition. */
  actions: write({
    path: '/v1/job/{job_id}/actions',
    methods: ['GET'],
    access: inNamespace('read-job'),
    summary: 'The actions of a job, in order of groups, tasks and definition',
    args: ['jobId'],
    inputs: { jobId: inPath('job_id', text) },
    errors: commandErrors,
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
