import type { CommandInput, CommandOutput, CommandPerformer, NodeCommand } from '../agent/link/node-command.js';
import { messageOf } from '../shared/values.js';
import type { Channel } from './channel.js';
import type { Item } from './frame.js';

/** An output in the form that the caller of the command accepts. */
type OutputForm = (command: NodeCommand, output: CommandOutput) => CommandOutput;

/** Carries out the command of a channel: its first item is the command, the others are the caller's input. Never rejects. */
export async function carryOut(channel: Channel, perform: CommandPerformer, inForm: OutputForm): Promise<void> {
  try {
    const items = channel[Symbol.asyncIterator]();
    const first = await items.next();
    if (first.done === true) return channel.end();
    const command = first.value['command'] as NodeCommand;
    const begun = await perform(command, inputsOf(items), channel.gone);
    if (begun.isErr()) {
      await channel.send({ type: 'refused', refusal: begun.error });
      return channel.end();
    }
    // The channel has ended if the caller has gone; the command then ends by its signal, or here.
    let goesOn = await channel.send({ type: 'begun' });
    for await (const output of begun.value) {
      goesOn &&= await channel.send(inForm(command, output));
      if (!goesOn) break;
    }
    channel.end();
  } catch (error) {
    channel.reset(messageOf(error));
  }
}

/**
 * Ends with the caller's input, and when the caller has gone. An ended command reads no further input, and its end is still reported: later
 * input is dropped, since a channel without a reader is broken off.
 */
async function* inputsOf(items: AsyncGenerator<Item>): AsyncGenerator<CommandInput> {
  try {
    for (let next = await items.next(); next.done !== true; next = await items.next()) {
      yield next.value as unknown as CommandInput;
    }
  } catch {
    // The command's signal reports it, too.
  } finally {
    void drop(items);
  }
}

async function drop(items: AsyncGenerator<Item>): Promise<void> {
  try {
    while ((await items.next()).done !== true);
  } catch {
    // The caller has gone.
  }
}
