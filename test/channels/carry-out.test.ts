import { okAsync } from 'neverthrow';
import { expect, it } from 'vitest';
import { manualClock } from '../../adapters/memory/index.js';
import type { CommandInput, CommandOutput, CommandPerformer } from '../../src/agent/link/node-command.js';
import { carryOut } from '../../src/channels/carry-out.js';
import { Channels } from '../../src/channels/channels.js';
import type { Item } from '../../src/channels/frame.js';
import { socketPair } from '../../src/client/socket-pair.js';

it('tells the end of a command that reads no further input, although more comes', async () => {
  const clock = manualClock();
  const [near, far] = socketPair();
  const asking = new Channels({ socket: near, clock });
  async function* outputs(input: AsyncIterable<CommandInput>): AsyncGenerator<CommandOutput> {
    for await (const _first of input) break;
    yield { type: 'exited', code: 8 };
  }
  const perform: CommandPerformer = (_command, input) => okAsync(outputs(input));
  const answering = new Channels({ socket: far, clock, onOpen: (channel) => void carryOut(channel, perform) });
  const running = Promise.all([asking.run(), answering.run()]);
  const channel = asking.open();
  if (channel === undefined) throw new Error('no channel');
  const resize = { type: 'resize', rows: 1, columns: 1 };
  const sending = (async () => {
    for (const item of [{ command: { type: 'exec' } }, resize, resize, resize]) await channel.send(item as Item);
  })();
  const heard: Item[] = [];
  for await (const item of channel) heard.push(item);
  await sending;
  expect(heard).toEqual([{ type: 'begun' }, { type: 'exited', code: 8 }]);
  near.close();
  await running;
});
