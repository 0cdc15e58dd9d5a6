import { okAsync } from 'neverthrow';
import { expect, it } from 'vitest';
import { manualClock } from '../../adapters/memory/index.js';
import type { CommandInput, CommandOutput, CommandPerformer } from '../../src/agent/link/node-command.js';
import { outputFor } from '../../src/agent/link/node-shapes.js';
import { carryOut } from '../../src/channels/carry-out.js';
import { Channels } from '../../src/channels/channels.js';
import type { Item } from '../../src/channels/frame.js';
import { socketPair } from '../../src/client/socket-pair.js';

it.each([
  [
    'in whole to a server that takes it',
    { eachProcess: true },
    [{ pid: 7, residentBytes: 1, userPercent: 2, systemPercent: 3 }],
  ],
  ['by its number to a server of an earlier version, which would refuse the rest', {}, [7]],
])('tells what each process uses %s', async (_what, asked, processes) => {
  const used = { residentBytes: 1, userPercent: 2, systemPercent: 3 };
  const usage = { tasks: { main: { ...used, processes: [{ ...used, pid: 7 }] } }, at: 5 };
  async function* outputs(): AsyncGenerator<CommandOutput> {
    yield { type: 'value', value: usage };
  }
  const heard = await answersTo({ type: 'stats', allocationId: 'a', task: null, ...asked }, () => okAsync(outputs()));
  expect(heard).toEqual([
    { type: 'begun' },
    { type: 'value', value: { tasks: { main: { ...used, processes } }, at: 5 } },
  ]);
});

it('tells the end of a command that reads no further input, although more comes', async () => {
  async function* outputs(input: AsyncIterable<CommandInput>): AsyncGenerator<CommandOutput> {
    for await (const _first of input) break;
    yield { type: 'exited', code: 8 };
  }
  const resize = { type: 'resize', rows: 1, columns: 1 } as const;
  const heard = await answersTo({ type: 'exec' }, (_command, input) => okAsync(outputs(input)), [
    resize,
    resize,
    resize,
  ]);
  expect(heard).toEqual([{ type: 'begun' }, { type: 'exited', code: 8 }]);
});

/** What is answered to a command over a connection. */
async function answersTo(
  command: object,
  perform: CommandPerformer,
  inputs: readonly CommandInput[] = [],
): Promise<Item[]> {
  const clock = manualClock();
  const [near, far] = socketPair();
  const asking = new Channels({ socket: near, clock });
  const answering = new Channels({
    socket: far,
    clock,
    onOpen: (channel) => void carryOut(channel, perform, outputFor),
  });
  const running = Promise.all([asking.run(), answering.run()]);
  const channel = asking.open();
  if (channel === undefined) throw new Error('no channel');
  const sending = (async () => {
    for (const item of [{ command }, ...inputs]) await channel.send(item as Item);
  })();
  const heard: Item[] = [];
  for await (const item of channel) heard.push(item);
  await sending;
  near.close();
  await running;
  return heard;
}
