import { err, ok, type Result } from 'neverthrow';
import {
  type CommandInput,
  type CommandOutput,
  type CommandRefused,
  callerFailed,
} from '../../agent/link/node-command.js';
import type { MessageSocket } from '../../api/message-socket.js';
import { jsonFaultIn, jsonFaultText, wrongJsonType } from '../../shared/json-scan.js';
import { noBooleanText, parseBoolean } from '../../shared/values.js';
import { execInputsFrom } from './exec-inputs.js';

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
