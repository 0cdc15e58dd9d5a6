import { err, errAsync, ok, type Result, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import {
  type CommandInput,
  type CommandOutput,
  type CommandRefused,
  callerFailed,
  commandRefused,
} from '../../agent/link/node-command.js';
import type { StreamItem } from '../../api/calls/allocation-command-calls.js';
import type { MessageSocket } from '../../api/message-socket.js';
import { second } from '../../shared/duration.js';
import { jsonFaultIn, jsonFaultText, jsonValueEnd, wrongJsonType } from '../../shared/json-scan.js';
import { isBase64, noBooleanText, parseBoolean, stated } from '../../shared/values.js';
import type { EngineContext } from '../context/engine-context.js';
import type { CallManner } from '../operation.js';
import { withHeartbeats } from '../waiting/with-heartbeats.js';
import type { AllocationCommandError, Conversation } from './ask-node.js';
import { pathFault, readAllocationFile, streamAllocationFile, streamTaskLogs } from './read-allocation-files.js';
import { asDownload, bytesOf, downloadTaskLog, streamNamed } from './read-task-log.js';
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
    download = false,
    signal,
  }: FileInput & UntilGone & { readonly offset?: number; readonly limit?: number; readonly download?: boolean },
): ResultAsync<AsyncIterable<Uint8Array>, AllocationCommandError> {
  const query = { allocationId, path, signal, ...stated({ offset, limit }) };
  const named = (bytes: AsyncIterable<Uint8Array>) => (download ? asDownload(bytes, path.replace(/.*\//s, '')) : bytes);
  return pathFault(path) ?? readAllocationFile(context, caller, query).map(bytesOf).map(named);
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
  /** All kept bytes, as a file. */
  readonly download?: boolean;
}

/** `streamTaskLogs` in frames, as plain bytes, or as a file. */
export function streamLogs(
  context: EngineContext,
  caller: Principal,
  input: StreamLogsInput,
): ResultAsync<AsyncIterable<StreamItem | undefined>, AllocationCommandError> {
  const { allocationId, task = '', type, offset = 0, origin = 'start', follow = false, plain = false, signal } = input;
  const stream = streamNamed(task, type);
  if (typeof stream !== 'string') return errAsync(stream);
  const query = { allocationId, task, stream, offset, origin, follow, signal } as const;
  if (input.download === true) {
    if (!follow && offset === 0 && origin === 'start') return downloadTaskLog(context, caller, query);
    const message =
      'a download has the whole output that is kept: it takes neither offset nor origin, and cannot follow';
    return errAsync(commandRefused('invalid', message));
  }
  return streamTaskLogs(context, caller, query).map((outputs) =>
    plain ? bytesOf(outputs) : framesOf(context, outputs, signal),
  );
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

/*
 * The messages of a command that runs over a socket (job interface, sockets): JSON objects with base64 data. The input is
 * `{"stdin":{"data":…,"close":true}}` and `{"tty_size":{"height":…,"width":…}}`; an object with neither is a heartbeat. The output
 * is `{"stdout":{"data":…}}`, `{"stdout":{"close":true}}`, the same of `stderr`, and last `{"exited":true,"result":{…}}`.
 */

/** Passes on the output of a command until it exits or the client disconnects. */
export async function sendOutput(socket: MessageSocket, outputs: AsyncIterable<CommandOutput>): Promise<void> {
  for await (const output of outputs) {
    if (output.type === 'failed') return socket.close(1011, output.message);
    const message = messageOf(output);
    if (message !== undefined && !(await socket.send(JSON.stringify(message)))) return;
  }
  socket.cut();
}

function messageOf(output: CommandOutput): object | undefined {
  switch (output.type) {
    case 'data':
      return { [output.stream]: { data: base64From(output.bytes) } };
    case 'closed':
      return { [output.stream]: { close: true } };
    case 'exited':
      return { exited: true, result: output.code === 0 ? {} : { exit_code: output.code } };
    case 'failed':
    case 'value':
    case 'piece':
    case 'file_event':
      return undefined;
  }
}

/** The client's input; ends with the connection or the first invalid message. */
export async function* inputOf(socket: MessageSocket): AsyncGenerator<CommandInput> {
  for await (const message of socket.messages) {
    const text = typeof message === 'string' ? message : new TextDecoder().decode(message);
    const inputs = execInputsFrom(text);
    if (inputs.isErr()) {
      socket.close(1011, inputs.error);
      return;
    }
    yield* inputs.value;
  }
}

function base64From(bytes: Uint8Array): string {
  let characters = '';
  for (const byte of bytes) characters += String.fromCharCode(byte);
  return btoa(characters);
}

/** The command from a JSON list of strings; null means an empty list, and inside it an empty string. */
export function commandFrom(text = ''): Result<readonly string[], CommandRefused> {
  const fault = jsonFaultIn(text);
  if (fault !== undefined) return noCommand(jsonFaultText(text, fault));
  const json: unknown = JSON.parse(text);
  if (json === null) return ok([]);
  if (!Array.isArray(json)) return noCommand(wrongJsonType(json, 'value of type []string'));
  const words: string[] = [];
  for (const item of json) {
    if (item !== null && typeof item !== 'string') return noCommand(wrongJsonType(item, 'value of type string'));
    words.push(item ?? '');
  }
  return ok(words);
}

function noCommand(fault: string): Result<never, CommandRefused> {
  return err(callerFailed('invalid', `failed to marshal command into json: ${fault}`));
}

/** Whether a terminal is requested; an empty string counts as absent. */
export function terminalFrom(text = ''): Result<boolean, CommandRefused> {
  const value = text === '' ? false : parseBoolean(text);
  return value === undefined ? err(callerFailed('invalid', noBooleanText('tty', text))) : ok(value);
}

type Members = Readonly<Record<string, unknown>>;

/**
 * The inputs in one message of a client, or the reason for closing the socket. Only the first JSON value
 * counts, names are case-insensitive, null means absent, and unknown members are ignored.
 */
function execInputsFrom(text: string): Result<CommandInput[], string> {
  return firstValueOf(text)
    .andThen((json) => objectFrom(json, 'value of type proto.ExecTaskStreamingRequest'))
    .andThen(inputsIn);
}

function inputsIn(message: Members): Result<CommandInput[], string> {
  const input = objectFrom(message['stdin'], request('stdin', 'IOOperation'));
  const size = objectFrom(message['tty_size'], request('tty_size', 'Request_TerminalSize'));
  return input.andThen(dataAndEnd).andThen((inputs) => {
    if (message['tty_size'] === undefined) return ok(inputs);
    return size.andThen(sizeFrom).map((resize) => [...inputs, resize]);
  });
}

function request(member: string, type: string): string {
  return `struct field ExecTaskStreamingRequest.${member} of type proto.ExecTaskStreaming${type}`;
}

function dataAndEnd({ data = '', close = false }: Members): Result<CommandInput[], string> {
  const operation = 'struct field ExecTaskStreamingIOOperation.stdin';
  if (typeof data !== 'string') return err(wrongJsonType(data, `${operation}.data of type []uint8`));
  if (typeof close !== 'boolean') return err(wrongJsonType(close, `${operation}.close of type bool`));
  const fault = base64Fault(data);
  if (fault !== undefined) return err(`illegal base64 data at input byte ${fault}`);
  const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
  return ok([
    ...(bytes.length > 0 ? [{ type: 'data', bytes } as const] : []),
    ...(close ? [{ type: 'end' } as const] : []),
  ]);
}

function sizeFrom(size: Members): Result<CommandInput, string> {
  for (const name of ['height', 'width']) {
    const value = size[name] ?? 0;
    if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 2 ** 31) continue;
    return err(
      wrongJsonType(value, `struct field ExecTaskStreamingRequest_TerminalSize.tty_size.${name} of type int32`),
    );
  }
  return ok({ type: 'resize', rows: countFrom(size['height']), columns: countFrom(size['width']) });
}

/** Absent and impossible sizes become 0. */
function countFrom(value: unknown): number {
  return typeof value === 'number' && value >= 0 && value <= 0xffff ? value : 0;
}

/** With its names in lower case and without null; an absent object is empty. */
function objectFrom(value: unknown, type: string): Result<Members, string> {
  if (value === undefined || value === null) return ok({});
  if (typeof value !== 'object' || Array.isArray(value)) return err(wrongJsonType(value, type));
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return ok(Object.fromEntries(members.map(([name, member]) => [name.toLowerCase(), member])));
}

/** Most messages are a single value: its end is searched for only in others. */
function firstValueOf(text: string): Result<unknown, string> {
  try {
    return ok(JSON.parse(text));
  } catch {
    const end = jsonValueEnd(text);
    return typeof end === 'number'
      ? ok(JSON.parse(text.slice(0, end)))
      : err(jsonFaultText(text, end, 'unexpected EOF'));
  }
}

/** The offset of the first base64 error (RFC 4648, section 4, padded; line ends not counted); undefined for valid base64. */
function base64Fault(data: string): number | undefined {
  const text = data.replace(/[\r\n]/g, '');
  if (isBase64(text)) return undefined;
  const at = /^(?:[A-Za-z0-9+/]{4})*/.exec(text)?.[0].length ?? 0;
  const [padded = ''] = /^(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)/.exec(text.slice(at)) ?? [];
  if (padded !== '') return at + padded.length;
  const [group = ''] = /^[A-Za-z0-9+/]*/.exec(text.slice(at)) ?? [];
  if (at + group.length === text.length) return at;
  return text.slice(at + group.length) === '=' && group.length === 2 ? text.length : at + group.length;
}
