import { errAsync, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import { type CommandOutput, commandRefused } from '../../agent/link/node-command.js';
import type { StreamItem } from '../../api/calls/file-calls.js';
import type { MessageSocket } from '../../api/message-socket.js';
import { second } from '../../shared/duration.js';
import { stated } from '../../shared/values.js';
import type { EngineContext } from '../context/engine-context.js';
import type { CallManner } from '../operation.js';
import { withHeartbeats } from '../waiting/with-heartbeats.js';
import type { AllocationCommandError, Conversation } from './ask-node.js';
import { commandFrom, inputOf, sendOutput, terminalFrom } from './exec-conversation.js';
import { pathFault, readAllocationFile, streamAllocationFile, streamTaskLogs } from './read-allocation-files.js';
import { execInAllocation, runJobAction } from './run-in-allocation.js';

/* Commands and files of allocations as clients exchange them: messages of a socket, frames with heartbeats, or plain bytes. */

type UntilGone = Pick<CallManner, 'signal'>;

interface ExecOverSocket extends UntilGone {
  readonly allocationId: string;
  readonly task?: string;
  /** A JSON list of strings. */
  readonly command?: string;
  /** `true` or `false`. */
  readonly tty?: string;
}

/** `execInAllocation` over a socket. */
export function execOverSocket(
  context: EngineContext,
  caller: Principal,
  { allocationId, task = '', command, tty, signal }: ExecOverSocket,
): ResultAsync<Opened, AllocationCommandError> {
  return terminalFrom(tty)
    .andThen((terminal) => commandFrom(command).map((words) => ({ terminal, words })))
    .asyncAndThen(({ terminal, words }) =>
      conversation(signal, (talk) =>
        execInAllocation(context, caller, { allocationId, task, command: words, terminal, ...talk }),
      ),
    );
}

interface ActionOverSocket extends UntilGone {
  readonly jobId: string;
  readonly allocationId?: string;
  readonly task?: string;
  readonly action?: string;
  /** `true` or `false`. */
  readonly tty?: string;
}

/** `runJobAction` over a socket. */
export function runActionOverSocket(
  context: EngineContext,
  caller: Principal,
  { jobId, allocationId = '', task = '', action = '', tty, signal }: ActionOverSocket,
): ResultAsync<Opened, AllocationCommandError> {
  return terminalFrom(tty).asyncAndThen((terminal) =>
    conversation(signal, (talk) =>
      runJobAction(context, caller, { jobId, allocationId, task, action, terminal, ...talk }),
    ),
  );
}

interface FileInput {
  readonly allocationId: string;
  readonly path?: string;
}

/** `readAllocationFile` as plain bytes. */
export function readFileBytes(
  context: EngineContext,
  caller: Principal,
  {
    allocationId,
    path = '',
    offset,
    limit,
    signal,
  }: FileInput & UntilGone & { readonly offset?: number; readonly limit?: number },
): ResultAsync<AsyncIterable<Uint8Array>, AllocationCommandError> {
  const query = { allocationId, path, signal, ...stated({ offset, limit }) };
  return pathFault(path) ?? readAllocationFile(context, caller, query).map(bytesOf);
}

interface StreamFileInput extends FileInput, UntilGone {
  readonly offset?: number;
  readonly origin?: 'start' | 'end';
  /** Waits for appended bytes; the default. */
  readonly follow?: boolean;
}

/** `streamAllocationFile` in frames. */
export function streamFileFrames(
  context: EngineContext,
  caller: Principal,
  { allocationId, path = '', offset = 0, origin = 'start', follow = true, signal }: StreamFileInput,
): ResultAsync<AsyncIterable<StreamItem | undefined>, AllocationCommandError> {
  return (
    pathFault(path) ??
    streamAllocationFile(context, caller, { allocationId, path, offset, origin, follow, signal }).map((outputs) =>
      framesOf(context, outputs, signal),
    )
  );
}

interface StreamLogsInput extends UntilGone {
  readonly allocationId: string;
  readonly task?: string;
  readonly type?: string;
  readonly offset?: number;
  readonly origin?: 'start' | 'end';
  readonly follow?: boolean;
  /** Plain bytes instead of frames. */
  readonly plain?: boolean;
}

/** `streamTaskLogs` in frames, or as plain bytes. */
export function streamLogs(
  context: EngineContext,
  caller: Principal,
  {
    allocationId,
    task = '',
    type,
    offset = 0,
    origin = 'start',
    follow = false,
    plain = false,
    signal,
  }: StreamLogsInput,
): ResultAsync<AsyncIterable<StreamItem | undefined>, AllocationCommandError> {
  if (task === '') return errAsync(commandRefused('invalid', 'must provide task name'));
  if (type !== 'stdout' && type !== 'stderr') {
    return errAsync(commandRefused('invalid', 'the type of log must be stdout or stderr'));
  }
  const query = { allocationId, task, stream: type, offset, origin, follow, signal } as const;
  return streamTaskLogs(context, caller, query).map((outputs) =>
    plain ? bytesOf(outputs) : framesOf(context, outputs, signal),
  );
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
