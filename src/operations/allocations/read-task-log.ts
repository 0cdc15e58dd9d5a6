import { err, errAsync, ok, type Result, ResultAsync } from 'neverthrow';
import { allows, everyNamespace } from '../../access/allows.js';
import type { Principal } from '../../access/principal.js';
import {
  type CommandOutput,
  type CommandRefused,
  callerFailed,
  commandRefused,
  type LogRange,
} from '../../agent/link/node-command.js';
import { logRangeIn } from '../../agent/link/node-shapes.js';
import type { Download } from '../../api/download.js';
import { runOfAllocationId } from '../../functions/job-projection.js';
import { messageOf } from '../../shared/values.js';
import type { EngineContext } from '../context/engine-context.js';
import { type AllocationCommandError, askNode } from './ask-node.js';
import { findStartedTask, streamTaskLogs, type TaskStream } from './read-allocation-files.js';

/** A part of a task's output, and where the output begins and ends. Positions are bytes since the task began to write. */
export interface TaskLog extends LogRange {
  /** Whether the task has ended: nothing is added after `endByte` unless it is restarted. */
  readonly hasEnded: boolean;
  /** The bytes from `from` to `to`, in base64. */
  readonly data: string;
}

interface ReadTaskLogInput {
  readonly allocationId: string;
  readonly task: string;
  /** `stdout` or `stderr`. */
  readonly type: string;
  /** Position of the first byte. Absent: the last `limit` bytes. */
  readonly from?: number;
  /** Bytes, at most 1 MiB. 0: positions only. */
  readonly limit?: number;
}

const defaultLimit = 64 * 1024;
const largestLimit = 1024 * 1024;

/** A range of a task's output by positions that rotation does not change. Needs `read-logs` or `read-fs`. */
export function readTaskLog(
  context: EngineContext,
  caller: Principal,
  { allocationId, task, type, from, limit = defaultLimit }: ReadTaskLogInput,
): ResultAsync<TaskLog, AllocationCommandError> {
  const stream = streamNamed(task, type);
  if (typeof stream !== 'string') return errAsync(stream);
  if (from !== undefined && !isWhole(from, Number.MAX_SAFE_INTEGER))
    return errAsync(commandRefused('invalid', 'from must be a whole number of 0 or more: a position in bytes'));
  if (!isWhole(limit, largestLimit))
    return errAsync(commandRefused('invalid', `limit must be a whole number from 0 to ${largestLimit}, in bytes`));
  return findStartedTask(context, caller, { allocationId, task }).andThen(({ allocation, state }) => {
    const command = { type: 'read_log', allocationId, task, stream, from: from ?? null, limit } as const;
    return askNode(context, allocation, command)
      .mapErr(ofEarlierAgent)
      .andThen((outputs) => new ResultAsync(gathered(outputs, limit)))
      .map((read): TaskLog => ({ ...read, hasEnded: state.State === 'dead' }));
  });
}

/** The stream, or why the request does not name one. */
export function streamNamed(task: string, type: string | undefined): TaskStream['stream'] | CommandRefused {
  if (task === '') return commandRefused('invalid', 'must provide task name');
  const isStream = type === 'stdout' || type === 'stderr';
  return isStream ? type : commandRefused('invalid', 'the type of log must be stdout or stderr');
}

function isWhole(value: number, most: number): boolean {
  return Number.isSafeInteger(value) && value >= 0 && value <= most;
}

/** Reads no more than was asked for: what a node sends is not trusted. */
async function gathered(
  outputs: AsyncIterable<CommandOutput>,
  limit: number,
): Promise<Result<Omit<TaskLog, 'hasEnded'>, AllocationCommandError>> {
  let range: LogRange | undefined;
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const output of outputs) {
      range ??= logRangeIn(output);
      if (output.type !== 'piece') continue;
      pieces.push(output.bytes);
      length += output.bytes.length;
      if (length > limit) break;
    }
  } catch (error) {
    return err(commandRefused('failed', messageOf(error)));
  }
  if (range === undefined || range.to - range.from !== length)
    return err(commandRefused('failed', 'The node gave no complete answer'));
  return ok({ ...range, data: Buffer.concat(pieces).toString('base64') });
}

/** Agents of earlier versions answer so to a command that they do not know. */
function ofEarlierAgent(error: AllocationCommandError): AllocationCommandError {
  if (error.type !== 'command_failed' || !error.message.endsWith('is not a function')) return error;
  return unknownToAgent;
}

const unknownToAgent: CommandRefused = callerFailed(
  'state',
  'the agent of the node is of an earlier version, which cannot read a range of the output: update it, or use /v1/client/fs/logs',
);

/** All that is kept of a task's output, up to its present end, or the log of a run, as a file. */
export function downloadTaskLog(
  context: EngineContext,
  caller: Principal,
  query: TaskStream & { readonly signal: AbortSignal },
): ResultAsync<Download, AllocationCommandError> {
  const { allocationId, task, stream, signal } = query;
  const named = (jobId: string) => (outputs: AsyncIterable<CommandOutput>) =>
    asDownload(
      bytesOf(outputs),
      `${jobId.slice(0, 48)}-${task.slice(0, 32)}-${allocationId.slice(0, 8)}.${stream}.log`,
    );
  if (runOfAllocationId(allocationId) !== undefined && allows(caller, everyNamespace, ['read-logs'])) {
    const whole = { ...query, offset: 0, origin: 'start', follow: false } as const;
    return streamTaskLogs(context, caller, whole).map(named('run'));
  }
  return findStartedTask(context, caller, query).andThen(({ allocation }) => {
    const command = { type: 'read_log', allocationId, task, stream, from: null, limit: null } as const;
    return askNode(context, allocation, command, { signal }).mapErr(ofEarlierAgent).map(named(allocation.JobID));
  });
}

export function asDownload(bytes: AsyncIterable<Uint8Array>, fileName: string): Download {
  return { fileName, [Symbol.asyncIterator]: () => bytes[Symbol.asyncIterator]() };
}

export async function* bytesOf(outputs: AsyncIterable<CommandOutput>): AsyncGenerator<Uint8Array> {
  for await (const output of outputs) if (output.type === 'piece') yield output.bytes;
}
