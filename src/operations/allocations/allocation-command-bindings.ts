import { errAsync, type ResultAsync } from 'neverthrow';
import { type CommandOutput, commandRefused } from '../../agent/link/node-command.js';
import type { actionCalls } from '../../api/calls/action-calls.js';
import type { allocationCommandCalls } from '../../api/calls/allocation-command-calls.js';
import type { fileCalls, StreamItem } from '../../api/calls/file-calls.js';
import type { nodeCommandCalls } from '../../api/calls/node-command-calls.js';
import type { MessageSocket } from '../../api/message-socket.js';
import { second } from '../../shared/duration.js';
import type { Bindings } from '../binding.js';
import type { EngineContext } from '../context/engine-context.js';
import { withHeartbeats } from '../waiting/with-heartbeats.js';
import type { AllocationCommandError, Conversation } from './ask-node.js';
import { commandFrom, inputOf, sendOutput, terminalFrom } from './exec-conversation.js';
import { listJobActions } from './list-job-actions.js';
import {
  listAllocationFiles,
  readAllocationFile,
  statAllocationFile,
  streamAllocationFile,
  streamTaskLogs,
} from './read-allocation-files.js';
import { execInAllocation, runJobAction } from './run-in-allocation.js';
import { readAllocationChecks, readAllocationStats, restartAllocation, signalAllocation } from './steer-allocation.js';
import { collectAllocation, collectOnNodes, readHostUsage } from './steer-node.js';
import { stopAllocation } from './stop-allocation.js';

/** The operations of commands for allocations. */
export const allocationCommandBindings: Bindings<typeof allocationCommandCalls> = {
  stop: (context, caller, { id, ...options }) => stopAllocation(context, caller, { ...options, allocationId: id }),
  restart: (context, caller, { id, ...input }) => restartAllocation(context, caller, { ...input, allocationId: id }),
  signal: (context, caller, { id, signal, task, taskName }) =>
    signalAllocation(context, caller, { allocationId: id, signal, task: task ?? taskName ?? '' }),
  stats: (context, caller, { id, task = '' }) => readAllocationStats(context, caller, { allocationId: id, task }),
  clientChecks: (context, caller, { id }) => readAllocationChecks(context, caller, { allocationId: id }),
  checks: (context, caller, { id }) => readAllocationChecks(context, caller, { allocationId: id }),
  collect: (context, caller, { id }) => collectAllocation(context, caller, { allocationId: id }),
  exec: (context, caller, { id, task = '', command, tty }, { signal }) =>
    terminalFrom(tty)
      .andThen((terminal) => commandFrom(command).map((words) => ({ terminal, words })))
      .asyncAndThen(({ terminal, words }) =>
        conversation(signal, (talk) =>
          execInAllocation(context, caller, { allocationId: id, task, command: words, terminal, ...talk }),
        ),
      ),
};

/** The operations of commands for whole nodes. */
export const nodeCommandBindings: Bindings<typeof nodeCommandCalls> = {
  stats: (context, caller, input) => readHostUsage(context, caller, input),
  collect: (context, caller, input) => collectOnNodes(context, caller, input),
};

/** The operations of actions. */
export const actionBindings: Bindings<typeof actionCalls> = {
  actions: (context, caller, { id, namespace = 'default' }) =>
    listJobActions(context, caller, { namespace, jobId: id }),
  runAction: (context, caller, { id, allocationId = '', task = '', action = '', tty }, { signal }) =>
    terminalFrom(tty).asyncAndThen((terminal) =>
      conversation(signal, (talk) =>
        runJobAction(context, caller, { jobId: id, allocationId, task, action, terminal, ...talk }),
      ),
    ),
};

/** The operations of files. */
export const fileBindings: Bindings<typeof fileCalls> = {
  list: (context, caller, { id, path = '/' }) => listAllocationFiles(context, caller, { allocationId: id, path }),
  stat: (context, caller, { id, path = '' }) =>
    pathGiven(path) ?? statAllocationFile(context, caller, { allocationId: id, path }),
  read: (context, caller, { id, path = '' }, { signal }) =>
    pathGiven(path) ?? readAllocationFile(context, caller, { allocationId: id, path, signal }).map(bytesOf),
  readAt: (context, caller, { id, path = '', offset, limit }, { signal }) =>
    pathGiven(path) ??
    readAllocationFile(context, caller, {
      allocationId: id,
      path,
      offset,
      signal,
      ...(limit === undefined ? {} : { limit }),
    }).map(bytesOf),
  stream: (context, caller, { id, path = '', offset = 0, origin = 'start', follow = true }, { signal }) =>
    pathGiven(path) ??
    streamAllocationFile(context, caller, { allocationId: id, path, offset, origin, follow, signal }).map((outputs) =>
      framesOf(context, outputs, signal),
    ),
  logs: (context, caller, { id, task = '', type, offset = 0, origin = 'start', ...how }, { signal }) => {
    const { follow = false, plain = false } = how;
    if (task === '') return errAsync(commandRefused('invalid', 'must provide task name'));
    if (type !== 'stdout' && type !== 'stderr') {
      return errAsync(commandRefused('invalid', 'the type of log must be stdout or stderr'));
    }
    const query = { allocationId: id, task, stream: type, offset, origin, follow, signal } as const;
    return streamTaskLogs(context, caller, query).map((outputs) =>
      plain ? bytesOf(outputs) : framesOf(context, outputs, signal),
    );
  },
};

function pathGiven(path: string): ResultAsync<never, AllocationCommandError> | undefined {
  return path === '' ? errAsync(commandRefused('invalid', 'must provide a file name')) : undefined;
}

async function* bytesOf(outputs: AsyncIterable<CommandOutput>): AsyncGenerator<Uint8Array> {
  for await (const output of outputs) if (output.type === 'piece') yield output.bytes;
}

/** Clients and proxies drop a stream that is silent for long. */
const heartbeat = second;

function framesOf(
  { clock }: EngineContext,
  outputs: AsyncIterable<CommandOutput>,
  signal: AbortSignal,
): AsyncIterable<StreamItem | undefined> {
  return withHeartbeats(itemsOf(outputs), { clock, period: heartbeat, signal });
}

async function* itemsOf(outputs: AsyncIterable<CommandOutput>): AsyncGenerator<StreamItem> {
  for await (const output of outputs) if (output.type === 'piece' || output.type === 'file_event') yield output;
}

type Opened = (socket: MessageSocket) => Promise<void>;

/**
 * Starts the command before the socket is open, so that a refusal closes the socket; the client's messages reach the command once
 * the socket is handed over.
 */
function conversation(
  signal: AbortSignal,
  begin: (talk: Required<Conversation>) => ResultAsync<AsyncIterable<CommandOutput>, AllocationCommandError>,
): ResultAsync<Opened, AllocationCommandError> {
  let open: (socket: MessageSocket) => void = () => undefined;
  const opened = new Promise<MessageSocket>((resolve) => {
    open = resolve;
  });
  const input = (async function* () {
    yield* inputOf(await opened);
  })();
  return begin({ input, signal }).map((outputs) => (socket: MessageSocket) => {
    open(socket);
    return sendOutput(socket, outputs);
  });
}
