import { err, ok, type Result } from 'neverthrow';
import {
  type CommandInput,
  type CommandOutput,
  type CommandRefused,
  commandRefused,
} from '../../agent/link/node-command.js';
import type { MessageSocket } from '../../api/message-socket.js';

/*
 * The messages of a command that runs over a socket (job interface, sockets): JSON objects with base64 data. The input is
 * `{"stdin":{"data":…,"close":true}}` and `{"tty_size":{"height":…,"width":…}}`; anything else is a sign of life. The output
 * is `{"stdout":{"data":…}}`, `{"stdout":{"close":true}}`, the same of `stderr`, and last `{"exited":true,"result":{…}}`.
 */

/** Passes the output of a command on until it has exited or the client goes away. */
export async function sendOutput(socket: MessageSocket, outputs: AsyncIterable<CommandOutput>): Promise<void> {
  for await (const output of outputs) {
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
    case 'value':
    case 'piece':
    case 'file_event':
      return undefined;
  }
}

/** What the client sends; ends when the client does. */
export async function* inputOf(socket: MessageSocket): AsyncGenerator<CommandInput> {
  for await (const message of socket.messages) {
    const text = typeof message === 'string' ? message : new TextDecoder().decode(message);
    const inputs = inputsIn(text);
    if (inputs === undefined) {
      socket.close(1008, 'a message is not valid JSON');
      return;
    }
    yield* inputs;
  }
}

/** Undefined when the text is no JSON. Of several values on lines of their own only the first counts. */
function inputsIn(text: string): CommandInput[] | undefined {
  const value = parsed(text) ?? parsed(text.split('\n', 1)[0] ?? '');
  if (value === undefined) return undefined;
  const inputs: CommandInput[] = [];
  const input = member(value.json, 'stdin');
  const data = member(input, 'data');
  if (typeof data === 'string' && data !== '') {
    const bytes = bytesFrom(data);
    if (bytes === undefined) return undefined;
    inputs.push({ type: 'data', bytes });
  }
  if (member(input, 'close') === true) inputs.push({ type: 'end' });
  const size = member(value.json, 'tty_size');
  if (isObject(size)) inputs.push({ type: 'resize', rows: countIn(size, 'height'), columns: countIn(size, 'width') });
  return inputs;
}

function parsed(text: string): { readonly json: unknown } | undefined {
  try {
    return { json: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

/** Clients of the interface may write names in any case. */
function member(value: unknown, name: string): unknown {
  if (!isObject(value)) return undefined;
  return Object.entries(value).find(([key]) => key.toLowerCase() === name)?.[1];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function countIn(value: unknown, name: string): number {
  const count = member(value, name);
  return typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= 0xffff ? count : 0;
}

function bytesFrom(base64: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function base64From(bytes: Uint8Array): string {
  let characters = '';
  for (const byte of bytes) characters += String.fromCharCode(byte);
  return btoa(characters);
}

/** A command as clients write it: a JSON list of strings. */
export function commandFrom(text: string | undefined): Result<readonly string[], CommandRefused> {
  const json = parsed(text ?? '')?.json;
  if (json === null) return ok([]);
  if (Array.isArray(json) && json.every((item) => typeof item === 'string' || item === null)) {
    return ok(json.map((item) => item ?? ''));
  }
  return err(commandRefused('failed', 'the command must be a JSON list of strings'));
}

/** Whether a terminal is asked for. */
export function terminalFrom(text: string | undefined): Result<boolean, CommandRefused> {
  const word = text ?? 'false';
  if (['1', 't', 'T', 'TRUE', 'true', 'True'].includes(word)) return ok(true);
  if (['0', 'f', 'F', 'FALSE', 'false', 'False'].includes(word)) return ok(false);
  return err(commandRefused('failed', 'tty must be true or false'));
}
