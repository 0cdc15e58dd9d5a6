import type { CommandInput, CommandPerformer, NodeCommand } from '../agent/link/node-command.js';
import type { Channel } from './channel.js';
import type { Item } from './frame.js';

/** Carries out the command of a channel: its first item names it, the others are what the asker sends. Never rejects. */
export async function carryOut(channel: Channel, perform: CommandPerformer): Promise<void> {
  try {
    const items = channel[Symbol.asyncIterator]();
    const first = await items.next();
    if (first.done === true) return channel.end();
    const begun = await perform(first.value['command'] as NodeCommand, inputsOf(items), channel.gone);
    if (begun.isErr()) {
      await channel.send({ type: 'refused', refusal: begun.error });
      return channel.end();
    }
    // Its channel is gone when the asker is; the command then ends by its signal, or here.
    let goesOn = await channel.send({ type: 'begun' });
    for await (const output of begun.value) {
      goesOn &&= await channel.send(output);
      if (!goesOn) break;
    }
    channel.end();
  } catch (error) {
    channel.reset(error instanceof Error ? error.message : 'unknown error');
  }
}

/** Ends with the asker's input, and when the asker is gone. */
async function* inputsOf(items: AsyncGenerator<Item>): AsyncGenerator<CommandInput> {
  try {
    for await (const item of items) yield item as unknown as CommandInput;
  } catch {
    // The signal of the command says so, too.
  }
}
