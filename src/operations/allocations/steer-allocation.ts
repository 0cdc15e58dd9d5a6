import { errAsync, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import { type AllocationUsage, callerFailed } from '../../agent/link/node-command.js';
import type { EngineContext } from '../context/engine-context.js';
import { type AllocationCommandError, askNodeOnce, findAllocation } from './ask-node.js';

interface RestartAllocationInput {
  readonly allocationId: string;
  /** Absent: every task that runs. */
  readonly task?: string;
  /** Restarts every task, including ended ones. */
  readonly all?: boolean;
}

/** Restarts tasks of an allocation in place, on their node. Needs `alloc-lifecycle`. */
export function restartAllocation(
  context: EngineContext,
  caller: Principal,
  { allocationId, task = '', all = false }: RestartAllocationInput,
): ResultAsync<void, AllocationCommandError> {
  return findAllocation(context, caller, allocationId, ['alloc-lifecycle']).andThen((allocation) => {
    if (all && task !== '')
      return errAsync(callerFailed('invalid', 'task name cannot be set when restarting all tasks'));
    const command = { type: 'restart', allocationId, task: task === '' ? null : task, all } as const;
    return askNodeOnce<null>(context, allocation, command).map(() => undefined);
  });
}

interface SignalAllocationInput {
  readonly allocationId: string;
  /** Absent: every task that runs. */
  readonly task?: string;
  /** The same, as some clients name it. */
  readonly taskName?: string;
  readonly signal: string;
}

/** Sends a signal to tasks of an allocation. Needs `alloc-lifecycle`. */
export function signalAllocation(
  context: EngineContext,
  caller: Principal,
  { allocationId, taskName = '', task = taskName, signal }: SignalAllocationInput,
): ResultAsync<void, AllocationCommandError> {
  return findAllocation(context, caller, allocationId, ['alloc-lifecycle']).andThen((allocation) => {
    const command = { type: 'signal', allocationId, task: task === '' ? null : task, signal } as const;
    return askNodeOnce<null>(context, allocation, command).map(() => undefined);
  });
}

/** The current resource usage of an allocation's tasks. Needs `read-job`. */
export function readAllocationStats(
  context: EngineContext,
  caller: Principal,
  { allocationId, task = '' }: { readonly allocationId: string; readonly task?: string },
): ResultAsync<AllocationUsage, AllocationCommandError> {
  return findAllocation(context, caller, allocationId, ['read-job']).andThen((allocation) =>
    askNodeOnce<AllocationUsage>(context, allocation, {
      type: 'stats',
      allocationId,
      task: task === '' ? null : task,
      eachProcess: true,
    }),
  );
}

/** The newest results of the checks of an allocation's services, by their IDs. Needs `read-job`. */
export function readAllocationChecks(
  context: EngineContext,
  caller: Principal,
  { allocationId }: { readonly allocationId: string },
): ResultAsync<unknown, AllocationCommandError> {
  return findAllocation(context, caller, allocationId, ['read-job']).andThen((allocation) =>
    askNodeOnce<unknown>(context, allocation, { type: 'checks', allocationId }),
  );
}
