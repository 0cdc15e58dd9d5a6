import type { CommandOutput, FileDescription } from '../../agent/link/node-command.js';
import { inNamespaceOf } from '../access.js';
import { type AnswerForm, computed } from '../answers.js';
import { stream, write } from '../call.js';
import { allocationInPath, commandErrors, taskInQuery } from '../common-inputs.js';
import { inQuery, required } from '../inputs.js';
import { base64From, boolean, bytesFromBase64, strictBoolean, text, whole, wholeOr500, word } from '../text-codecs.js';

const path = inQuery('path', text, 'Path below the folder of the allocation; default: the folder itself');
const offset = inQuery('offset', whole, 'Bytes after the start, or before the end; default: 0');
const readOffset = inQuery('offset', wholeOr500, 'Bytes after the start, or before the end; default: 0');
const startOffset = required(inQuery('offset', wholeOr500, 'Bytes after the start'));
const file = inQuery('path', text, 'Path below the folder of the allocation');
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
    access: inNamespaceOf('record', 'read-fs'),
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
    access: inNamespaceOf('record', 'read-fs'),
    summary: 'One file or folder of an allocation',
    args: ['allocationId'],
    inputs: { allocationId: allocationInPath, path: file },
    errors: commandErrors,
    answer: computed<FileDescription>('FileDescription'),
  }),

  /** A file of an allocation, whole. */
  read: stream('bytes', {
    path: '/v1/client/fs/cat/{allocation_id}',
    access: inNamespaceOf('record', 'read-fs'),
    summary: 'The complete content of a file of an allocation',
    args: ['allocationId'],
    inputs: { allocationId: allocationInPath, path: file },
    errors: commandErrors,
    contentType: 'text/plain; charset=utf-8',
    answer: bytes,
  }),

  /** A part of a file of an allocation. */
  readAt: stream('bytes', {
    path: '/v1/client/fs/readat/{allocation_id}',
    access: inNamespaceOf('record', 'read-fs'),
    summary: 'A part of a file of an allocation',
    args: ['allocationId'],
    inputs: {
      allocationId: allocationInPath,
      path: file,
      offset: startOffset,
      limit: inQuery('limit', wholeOr500, 'The most bytes to return; 0 or less: no limit'),
    },
    errors: commandErrors,
    contentType: 'text/plain; charset=utf-8',
    answer: bytes,
  }),

  /** A file of an allocation in chunks, and further output as it is appended. */
  stream: stream('joined', {
    path: '/v1/client/fs/stream/{allocation_id}',
    access: inNamespaceOf('record', 'read-fs'),
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
  logs: stream('joined', {
    path: '/v1/client/fs/logs/{allocation_id}',
    access: inNamespaceOf('record', 'read-logs', 'read-fs'),
    summary: 'The output of a task',
    args: ['allocationId'],
    inputs: {
      allocationId: allocationInPath,
      task: taskInQuery,
      type: inQuery('type', text, 'The stream: `stdout` or `stderr`'),
      offset,
      origin,
      follow: inQuery('follow', strictBoolean, 'Whether to wait for appended bytes; default: false'),
      plain: inQuery('plain', strictBoolean, 'Whether to send raw bytes without frames'),
    },
    errors: commandErrors,
    bytesWhen: 'plain',
    contentType: 'text/plain',
    answer: frames,
  }),
} as const;
