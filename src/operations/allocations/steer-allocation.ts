import { errAsync, ResultAsync } from 'neverthrow';
import { allows, everyNamespace } from '../../access/allows.js';
import type { Principal } from '../../access/principal.js';
import { type AllocationUsage, callerFailed, commandRefused, type HostUsage } from '../../agent/link/node-command.js';
import type { EngineContext } from '../context/engine-context.js';
import { type AllocationCommandError, askNodeOnce, findAllocation, unknownAllocation } from './ask-node.js';

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

/**
 * Removes the folder of an ended allocation from its node. Needs `submit-job` or `gc-allocation`; without them the allocation is
 * reported as unknown.
 */
export function collectAllocation(
  context: EngineContext,
  caller: Principal,
  { allocationId }: { readonly allocationId: string },
): ResultAsync<void, AllocationCommandError> {
  const anyOf = ['submit-job', 'gc-allocation'] as const;
  const hidden = (): ResultAsync<never, AllocationCommandError> =>
    errAsync(unknownAllocation(allocationId.slice(0, 64)));
  if (!allows(caller, everyNamespace, anyOf)) return hidden();
  return findAllocation(context, caller, allocationId, anyOf)
    .orElse((error) => (error.type === 'permission_denied' ? hidden() : errAsync(error)))
    .andThen((allocation) => askNodeOnce<null>(context, allocation, { type: 'collect', allocationId }))
    .map(() => undefined);
}

/** The current resource usage of a node's host; without a node ID, of the only connected node. Needs `node:read`. */
export function readHostUsage(
  context: EngineContext,
  _caller: Principal,
  { nodeId = '' }: { readonly nodeId?: string },
): ResultAsync<HostUsage, AllocationCommandError> {
  const [only = '', ...others] = context.agents.nodeIds();
  const asked = nodeId === '' && others.length === 0 ? only : nodeId.toLowerCase();
  if (asked === '')
    return errAsync(commandRefused('invalid', 'name the node: this server has no connected node, or several'));
  return askNodeOnce<HostUsage>(context, { NodeID: asked }, { type: 'host_stats' });
}

/** Removes the folders of all ended allocations from a node, or from all nodes connected here. Needs `node:write`. */
export function collectOnNodes(
  context: EngineContext,
  _caller: Principal,
  { nodeId = '' }: { readonly nodeId?: string },
): ResultAsync<void, AllocationCommandError> {
  const { agents } = context;
  const asked = nodeId === '' ? agents.nodeIds() : [nodeId.toLowerCase()];
  if (asked.length === 0) return errAsync(commandRefused('not_found', 'No node is connected to this server'));
  const command = { type: 'collect', allocationId: null } as const;
  return ResultAsync.combine(asked.map((id) => askNodeOnce<null>(context, { NodeID: id }, command))).map(
    () => undefined,
  );
}
