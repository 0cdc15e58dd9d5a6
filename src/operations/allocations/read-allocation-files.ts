import { err, errAsync, ok, type ResultAsync } from 'neverthrow';
import { allows, everyNamespace } from '../../access/allows.js';
import type { Capability } from '../../access/capability.js';
import type { Principal } from '../../access/principal.js';
import {
  type CommandOutput,
  commandRefused,
  type FileDescription,
  type NodeCommand,
  type OutputStream,
  type StreamPosition,
} from '../../agent/link/node-command.js';
import { runOfAllocationId } from '../../functions/job-projection.js';
import type { Allocation, TaskState } from '../../scheduler/allocation.js';
import type { EngineContext } from '../context/engine-context.js';
import { streamRunLog } from '../functions/jobs-of-functions.js';
import { type AllocationCommandError, askNode, askNodeOnce, askNodeWhileAllowed, findAllocation } from './ask-node.js';

interface FileQuery {
  readonly allocationId: string;
  /** Relative to the allocation's folder. */
  readonly path: string;
}

/** The entries of a folder of an allocation. Needs `read-fs`. */
export function listAllocationFiles(
  context: EngineContext,
  caller: Principal,
  { allocationId, path = '/' }: Partial<FileQuery> & Pick<FileQuery, 'allocationId'>,
): ResultAsync<readonly FileDescription[], AllocationCommandError> {
  return findAllocation(context, caller, allocationId, ['read-fs']).andThen((allocation) =>
    askNodeOnce<readonly FileDescription[]>(context, allocation, { type: 'list_files', allocationId, path }),
  );
}

/** One file or folder of an allocation. Needs `read-fs`. */
export function statAllocationFile(
  context: EngineContext,
  caller: Principal,
  { allocationId, path = '' }: Partial<FileQuery> & Pick<FileQuery, 'allocationId'>,
): ResultAsync<FileDescription, AllocationCommandError> {
  const fault = pathFault(path);
  if (fault !== undefined) return fault;
  return findAllocation(context, caller, allocationId, ['read-fs']).andThen((allocation) =>
    askNodeOnce<FileDescription>(context, allocation, { type: 'stat_file', allocationId, path }),
  );
}

/** A file must be named, unlike a folder. */
export function pathFault(path: string): ResultAsync<never, AllocationCommandError> | undefined {
  return path === '' ? errAsync(commandRefused('invalid', 'must provide a file name')) : undefined;
}

/** The bytes of a file, or a part of them. Needs `read-fs`. */
export function readAllocationFile(
  context: EngineContext,
  caller: Principal,
  query: FileQuery & { readonly offset?: number; readonly limit?: number; readonly signal?: AbortSignal },
): ResultAsync<AsyncIterable<CommandOutput>, AllocationCommandError> {
  const { allocationId, path, offset = 0, limit } = query;
  return findAllocation(context, caller, allocationId, ['read-fs']).andThen((allocation) =>
    askNode(context, allocation, { type: 'read_file', allocationId, path, offset, limit: limit ?? null }, query),
  );
}

/** The bytes of a file in chunks, and those appended later. Needs `read-fs`. */
export function streamAllocationFile(
  context: EngineContext,
  caller: Principal,
  query: FileQuery & StreamPosition & { readonly signal?: AbortSignal },
): ResultAsync<AsyncIterable<CommandOutput>, AllocationCommandError> {
  const { allocationId, path, offset, origin, follow } = query;
  const command = { type: 'stream_file', allocationId, path, offset, origin, follow } as const;
  return findAllocation(context, caller, allocationId, ['read-fs']).andThen((allocation) =>
    streamFromNode(context, { caller, anyOf: ['read-fs'] }, { allocation, command }, query.signal),
  );
}

/** The output of a task, across its log files, or the log of a run. Needs `read-logs` or, for a task, `read-fs`. */
export function streamTaskLogs(
  context: EngineContext,
  caller: Principal,
  query: TaskStream & { readonly signal?: AbortSignal } & StreamPosition,
): ResultAsync<AsyncIterable<CommandOutput>, AllocationCommandError> {
  const { allocationId, task, stream, offset, origin, follow } = query;
  const ofRun = runOfAllocationId(allocationId);
  if (ofRun !== undefined && allows(caller, everyNamespace, ['read-logs']))
    return streamRunLog(context, caller, ofRun, query);
  return findStartedTask(context, caller, query).andThen(({ allocation }) => {
    const command = { type: 'stream_logs', allocationId, task, stream, offset, origin, follow } as const;
    return streamFromNode(context, { caller, anyOf: logReaders }, { allocation, command }, query.signal);
  });
}

/** One of the two outputs of a task. */
export interface TaskStream {
  readonly allocationId: string;
  readonly task: string;
  readonly stream: OutputStream;
}

const logReaders = ['read-logs', 'read-fs'] as const;

/** The allocation, and the state of a task that has started. Needs `read-logs` or `read-fs`. */
export function findStartedTask(
  context: EngineContext,
  caller: Principal,
  { allocationId, task }: Omit<TaskStream, 'stream'>,
): ResultAsync<{ readonly allocation: Allocation; readonly state: TaskState }, AllocationCommandError> {
  return findAllocation(context, caller, allocationId, logReaders).andThen((allocation) => {
    const state = allocation.TaskStates?.[task];
    if (state === undefined && !Object.hasOwn(allocation.AllocatedResources.Tasks, task)) {
      return err(commandRefused('invalid', `unknown task name "${task}"`));
    }
    return state === undefined || state.StartedAt === null
      ? err(commandRefused('not_found', `task "${task}" not started yet. No logs available`))
      : ok({ allocation, state });
  });
}

interface Stream {
  readonly allocation: Allocation;
  readonly command: NodeCommand & { readonly follow: boolean };
}

/** A followed file ends when the caller loses the right; a finite read is completed. */
function streamFromNode(
  context: EngineContext,
  { caller, anyOf }: { readonly caller: Principal; readonly anyOf: readonly Capability[] },
  { allocation, command }: Stream,
  signal: AbortSignal | undefined,
): ResultAsync<AsyncIterable<CommandOutput>, AllocationCommandError> {
  const conversation = signal === undefined ? {} : { signal };
  if (!command.follow) return askNode(context, allocation, command, conversation);
  const isAllowed = (now: Principal) => allows(now, allocation.Namespace, anyOf);
  return askNodeWhileAllowed(context, { caller, isAllowed }, { allocation, command }, conversation);
}
