import { errAsync, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import {
  type CommandOutput,
  commandRefused,
  type FileDescription,
  type OutputStream,
  type StreamPosition,
} from '../../agent/link/node-command.js';
import type { Allocation } from '../../scheduler/allocation.js';
import type { EngineContext } from '../context/engine-context.js';
import { type AllocationCommandError, askNode, askNodeOnce, findAllocation } from './ask-node.js';

interface FileQuery {
  readonly allocationId: string;
  /** Below the allocation's folder. */
  readonly path: string;
}

/** What lies in a folder of an allocation. Needs `read-fs`. */
export function listAllocationFiles(
  context: EngineContext,
  caller: Principal,
  { allocationId, path }: FileQuery,
): ResultAsync<readonly FileDescription[], AllocationCommandError> {
  return findAllocation(context, caller, allocationId, ['read-fs']).andThen((allocation) =>
    askNodeOnce<readonly FileDescription[]>(context, allocation, { type: 'list_files', allocationId, path }),
  );
}

/** One file or folder of an allocation. Needs `read-fs`. */
export function statAllocationFile(
  context: EngineContext,
  caller: Principal,
  { allocationId, path }: FileQuery,
): ResultAsync<FileDescription, AllocationCommandError> {
  return findAllocation(context, caller, allocationId, ['read-fs']).andThen((allocation) =>
    askNodeOnce<FileDescription>(context, allocation, { type: 'stat_file', allocationId, path }),
  );
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

/** The bytes of a file in pieces, and those that are added to it. Needs `read-fs`. */
export function streamAllocationFile(
  context: EngineContext,
  caller: Principal,
  query: FileQuery & StreamPosition & { readonly signal?: AbortSignal },
): ResultAsync<AsyncIterable<CommandOutput>, AllocationCommandError> {
  const { allocationId, path, offset, origin, follow } = query;
  return findAllocation(context, caller, allocationId, ['read-fs']).andThen((allocation) =>
    askNode(context, allocation, { type: 'stream_file', allocationId, path, offset, origin, follow }, query),
  );
}

/** The output of a task, from the files that it is kept in. Needs `read-logs` or `read-fs`. */
export function streamTaskLogs(
  context: EngineContext,
  caller: Principal,
  query: {
    readonly allocationId: string;
    readonly task: string;
    readonly stream: OutputStream;
    readonly signal?: AbortSignal;
  } & StreamPosition,
): ResultAsync<AsyncIterable<CommandOutput>, AllocationCommandError> {
  const { allocationId, task, stream, offset, origin, follow } = query;
  return findAllocation(context, caller, allocationId, ['read-logs', 'read-fs']).andThen((allocation) => {
    const state = allocation.TaskStates?.[task];
    if (state === undefined && !hasTask(allocation, task)) {
      return errAsync(commandRefused('invalid', `unknown task name "${task}"`));
    }
    if (state === undefined || state.StartedAt === null) {
      return errAsync(commandRefused('not_found', `task "${task}" not started yet. No logs available`));
    }
    const command = { type: 'stream_logs', allocationId, task, stream, offset, origin, follow } as const;
    return askNode(context, allocation, command, query);
  });
}

function hasTask({ AllocatedResources }: Allocation, task: string): boolean {
  return Object.hasOwn(AllocatedResources.Tasks, task);
}
