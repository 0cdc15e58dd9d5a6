import { err, errAsync, ok, type Result, ResultAsync } from 'neverthrow';
import { allows, everyNamespace, type PermissionDenied } from '../../access/allows.js';
import type { Capability } from '../../access/capability.js';
import type { Principal } from '../../access/principal.js';
import {
  type CommandInput,
  type CommandOutput,
  type CommandRefused,
  callerFailed,
  commandRefused,
  type NodeCommand,
} from '../../agent/link/node-command.js';
import { runOfAllocationId } from '../../functions/job-projection.js';
import { runId } from '../../functions/run.js';
import type { StorageError } from '../../ports/storage.js';
import { isUuid } from '../../queries/page.js';
import { type Allocation, allocations } from '../../scheduler/allocation.js';
import type { EngineContext } from '../context/engine-context.js';
import { performOnNode } from '../node-commands/perform-on-node.js';
import { type RunOfJob, readRunAnywhere } from '../records/function-jobs.js';
import { type Permission, whileAllowed } from '../records/while-allowed.js';

export type AllocationCommandError = CommandRefused | PermissionDenied | StorageError;

/** The caller's side of a command: its input, and a signal that aborts when the caller disconnects. */
export interface Conversation {
  readonly input?: AsyncIterable<CommandInput>;
  readonly signal?: AbortSignal;
}

/** The allocation, for a caller who has one of the capabilities in its namespace. */
export function findAllocation(
  context: EngineContext,
  caller: Principal,
  id: string,
  anyOf: readonly Capability[],
): ResultAsync<Allocation, AllocationCommandError> {
  // A caller without any right must not learn which allocations exist.
  if (!allows(caller, everyNamespace, anyOf)) return errAsync({ type: 'permission_denied' });
  return lookUpAllocation(context, caller, id, anyOf);
}

/** The same, but every caller learns that an allocation is unknown, as clients of sockets expect. */
export function lookUpAllocation(
  context: EngineContext,
  caller: Principal,
  id: string,
  anyOf: readonly Capability[],
): ResultAsync<Allocation, AllocationCommandError> {
  const fault = lookupFault(id);
  if (fault !== undefined) return errAsync(fault);
  const ofRun = runOfAllocationId(id);
  return context.storage
    .read((view) => ({
      allocation: view.get(allocations, [id.toLowerCase()])?.record,
      run: ofRun === undefined ? undefined : readRunAnywhere(view, ofRun),
    }))
    .andThen(({ allocation, run }): Result<Allocation, AllocationCommandError> => {
      if (run !== undefined)
        return err(allows(caller, run.job.Namespace, anyOf) ? withoutNode(run) : { type: 'permission_denied' });
      if (allocation === undefined) return err(unknownAllocation(id));
      return allows(caller, allocation.Namespace, anyOf) ? ok(allocation) : err({ type: 'permission_denied' });
    });
}

/** A run of a function is not on a node: what only a node can do is refused. */
function withoutNode({ job, run }: RunOfJob): CommandRefused {
  const message =
    `the allocation is that of ${JSON.stringify(job.ID)}, a run of a function: it has a log and can be stopped, but has no files, ` +
    `processes or node. To run it again: signalbox function retry ${runId(run)}`;
  return commandRefused('invalid', message);
}

export function unknownAllocation(id: string): CommandRefused {
  return commandRefused('not_found', `Unknown allocation "${id}"`);
}

/** Sends a command to the node of the allocation. */
export function askNode(
  context: EngineContext,
  allocation: Pick<Allocation, 'NodeID'>,
  command: NodeCommand,
  { input = noInput(), signal = never }: Conversation = {},
): ResultAsync<AsyncIterable<CommandOutput>, AllocationCommandError> {
  return performOnNode(context, allocation.NodeID, { command, input, signal });
}

/** The same for a long-running command: when the caller loses the right, it ends with a refusal as its last output. */
export function askNodeWhileAllowed(
  context: EngineContext,
  permission: Permission,
  { allocation, command }: { readonly allocation: Pick<Allocation, 'NodeID'>; readonly command: NodeCommand },
  conversation: Conversation,
): ResultAsync<AsyncIterable<CommandOutput>, AllocationCommandError> {
  const onLoss: CommandOutput = { type: 'failed', message: 'Permission denied' };
  return whileAllowed(context, { ...permission, onLoss, signal: conversation.signal }, (signal) =>
    askNode(context, allocation, command, { ...conversation, signal }),
  );
}

/** For commands that return one value. */
export function askNodeOnce<T>(
  context: EngineContext,
  allocation: Pick<Allocation, 'NodeID'>,
  command: NodeCommand,
): ResultAsync<T, AllocationCommandError> {
  return askNode(context, allocation, command).andThen((outputs) => new ResultAsync(firstValue<T>(outputs)));
}

async function firstValue<T>(outputs: AsyncIterable<CommandOutput>): Promise<Result<T, AllocationCommandError>> {
  try {
    for await (const output of outputs) if (output.type === 'value') return ok(output.value as T);
    return err(commandRefused('failed', 'The node gave no answer'));
  } catch (error) {
    return err(commandRefused('failed', error instanceof Error ? error.message : 'The node gave no answer'));
  }
}

async function* noInput(): AsyncGenerator<CommandInput> {
  yield* [];
}

const never = new AbortController().signal;

/** The message for an invalid allocation ID. */
export function lookupFault(id: string): CommandRefused | undefined {
  if (isUuid(id)) return undefined;
  const fault = id.length === 36 ? 'Invalid UUID' : 'UUID must be 36 characters';
  return callerFailed('invalid', `alloc lookup failed: index error: ${fault}`);
}
