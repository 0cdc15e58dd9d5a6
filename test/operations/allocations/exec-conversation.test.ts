import { describe, expect, it } from 'vitest';
import type { CommandInput, CommandOutput } from '../../../src/agent/link/node-command.js';
import { socketPair } from '../../../src/client/socket-pair.js';
import {
  commandFrom,
  inputOf,
  sendOutput,
  terminalFrom,
} from '../../../src/operations/allocations/streams-and-sockets.js';

describe('the command of a request', () => {
  it.each([
    ['["ls","-l"]', ['ls', '-l']],
    [' [] ', []],
    ['null', []],
    ['[null,"x"]', ['', 'x']],
  ])('%s is taken', (text, words) => {
    expect(commandFrom(text)._unsafeUnwrap()).toEqual(words);
  });

  it.each([
    [undefined, 'unexpected end of JSON input'],
    ['["ls"', 'unexpected end of JSON input'],
    ['ls', "invalid character 'l' looking for beginning of value"],
    ['["ls"] x', "invalid character 'x' after top-level value"],
    ['"ls"', 'json: cannot unmarshal string into Go value of type []string'],
    ['{}', 'json: cannot unmarshal object into Go value of type []string'],
    ['true', 'json: cannot unmarshal bool into Go value of type []string'],
    ['["ls",1]', 'json: cannot unmarshal number into Go value of type string'],
    ['[["ls"]]', 'json: cannot unmarshal array into Go value of type string'],
  ])('%s is refused', (text, fault) => {
    const message = `failed to marshal command into json: ${fault}`;
    expect(commandFrom(text)._unsafeUnwrapErr()).toEqual({ type: 'command_failed', reason: 'invalid', message });
  });
});

describe('whether a terminal is asked for', () => {
  it.each([
    [undefined, false],
    ['', false],
    ['F', false],
    ['1', true],
    ['True', true],
  ])('%s', (text, wanted) => {
    expect(terminalFrom(text)._unsafeUnwrap()).toBe(wanted);
  });

  it('is not guessed', () => {
    const message = 'tty value is not a boolean: strconv.ParseBool: parsing "perhaps": invalid syntax';
    expect(terminalFrom('perhaps')._unsafeUnwrapErr()).toEqual({ type: 'command_failed', reason: 'invalid', message });
  });
});

describe('a conversation with a command', () => {
  async function heard(...messages: readonly string[]): Promise<CommandInput[]> {
    const [client, server] = socketPair();
    for (const message of messages) await client.send(message);
    client.close();
    const inputs: CommandInput[] = [];
    for await (const input of inputOf(server)) inputs.push(input);
    return inputs;
  }

  it('takes sizes as they are given: what is absent is 0', async () => {
    expect(
      await heard('{"tty_size":{"height":12}}', '{"tty_size":{}}', '{"tty_size":{"height":-1,"width":70000}}'),
    ).toEqual([
      { type: 'resize', rows: 12, columns: 0 },
      { type: 'resize', rows: 0, columns: 0 },
      { type: 'resize', rows: 0, columns: 0 },
    ]);
  });

  it('takes the first of several values in one message', async () => {
    const bytes = Uint8Array.from([120]);
    expect(await heard('{"stdin":{"data":"eA=="}}{"stdin":{"data":"eQ=="}}')).toEqual([{ type: 'data', bytes }]);
    expect(await heard('{"stdin":{"data":"eA=="}}\n{"stdin":{"data":"eQ=="}}')).toEqual([{ type: 'data', bytes }]);
  });

  it('takes null as absent, names in any case, and neither as a sign of life', async () => {
    const bytes = Uint8Array.from([120]);
    expect(await heard('null', '{}', '{"stdin":null,"tty_size":null}', '{"stdin":{"data":null,"close":null}}')).toEqual(
      [],
    );
    expect(
      await heard('{"STDIN":{"Data":"e\\nA=="}}', '{"other":7}', '{"stdin":{"data":"eA==","Close":true}}'),
    ).toEqual([{ type: 'data', bytes }, { type: 'data', bytes }, { type: 'end' }]);
  });

  it.each([
    ['hello', "invalid character 'h' looking for beginning of value"],
    ['', 'unexpected EOF'],
    ['{"stdin":', 'unexpected EOF'],
    ['[1]', 'json: cannot unmarshal array into Go value of type proto.ExecTaskStreamingRequest'],
    ['7', 'json: cannot unmarshal number into Go value of type proto.ExecTaskStreamingRequest'],
    ['"text"', 'json: cannot unmarshal string into Go value of type proto.ExecTaskStreamingRequest'],
    [
      '{"stdin":7}',
      'json: cannot unmarshal number into Go struct field ExecTaskStreamingRequest.stdin of type proto.ExecTaskStreamingIOOperation',
    ],
    [
      '{"stdin":{"data":7}}',
      'json: cannot unmarshal number into Go struct field ExecTaskStreamingIOOperation.stdin.data of type []uint8',
    ],
    [
      '{"stdin":{"close":"yes"}}',
      'json: cannot unmarshal string into Go struct field ExecTaskStreamingIOOperation.stdin.close of type bool',
    ],
    [
      '{"tty_size":{"height":"a"}}',
      'json: cannot unmarshal string into Go struct field ExecTaskStreamingRequest_TerminalSize.tty_size.height of type int32',
    ],
    [
      '{"tty_size":{"width":1.5}}',
      'json: cannot unmarshal number 1.5 into Go struct field ExecTaskStreamingRequest_TerminalSize.tty_size.width of type int32',
    ],
    ['{"stdin":{"data":"!!"}}', 'illegal base64 data at input byte 0'],
    ['{"stdin":{"data":"eHh4eA"}}', 'illegal base64 data at input byte 4'],
    ['{"stdin":{"data":"eA="}}', 'illegal base64 data at input byte 3'],
    ['{"stdin":{"data":"eA=x"}}', 'illegal base64 data at input byte 2'],
    ['{"stdin":{"data":"eA==eA=="}}', 'illegal base64 data at input byte 4'],
    ['{"stdin":{"data":"e=A="}}', 'illegal base64 data at input byte 1'],
    ['{"stdin":{"data":"eHh4=x"}}', 'illegal base64 data at input byte 4'],
  ])('ends with the first message that is invalid: %s', async (message, reason) => {
    const [client, server] = socketPair();
    await client.send('{"stdin":{"data":"eA=="}}');
    await client.send(message);
    await client.send('{"stdin":{"data":"eA=="}}');
    const inputs: CommandInput[] = [];
    for await (const input of inputOf(server)) inputs.push(input);
    expect(inputs).toEqual([{ type: 'data', bytes: Uint8Array.from([120]) }]);
    expect(await client.closed).toEqual({ code: 1011, reason });
  });

  it('is closed with the reason when the command cannot go on', async () => {
    const [client, server] = socketPair();
    const outputs = async function* (): AsyncGenerator<CommandOutput> {
      yield { type: 'data', stream: 'stdout', bytes: Buffer.from('x') };
      yield { type: 'failed', message: 'plugin is shut down' };
    };
    await sendOutput(server, outputs());
    const messages: unknown[] = [];
    for await (const message of client.messages) messages.push(message);
    expect(messages).toEqual(['{"stdout":{"data":"eA=="}}']);
    expect(await client.closed).toEqual({ code: 1011, reason: 'plugin is shut down' });
  });
});
