import { err, errAsync, ok, type Result, ResultAsync } from 'neverthrow';
import {
  type CommandInput,
  type CommandOutput,
  type CommandPerformer,
  type CommandRefused,
  commandRefused,
  type NodeCommand,
} from '../../agent/link/node-command.js';
import { readCommandOutput, readCommandRefusal } from '../../agent/link/node-shapes.js';
import { type Channel, ChannelBroken } from '../../channels/channel.js';
import type { Channels } from '../../channels/channels.js';
import type { Item } from '../../channels/frame.js';
import type { Clock } from '../../ports/clock.js';
import { second } from '../../shared/duration.js';
import { messageOf } from '../../shared/values.js';

interface Asked {
  readonly command: NodeCommand;
  readonly input: AsyncIterable<CommandInput>;
  readonly signal: AbortSignal;
}

/** How long a node may take to begin a command. */
const beginTimeout = 30 * second;

/**
 * Sends commands to the agent at the other end of a connection, each on a separate channel. The agent first responds with
 * `{ type: 'begun' }` or `{ type: 'refused', refusal }`.
 */
export function remotePerformer(channels: Channels, clock: Clock): CommandPerformer {
  return (command, input, signal) => {
    const channel = channels.open();
    if (channel === undefined)
      return errAsync(commandRefused('failed', 'the node has too many concurrent commands; try again later'));
    return new ResultAsync(ask(channel, clock, { command, input, signal }));
  };
}

async function ask(
  channel: Channel,
  clock: Clock,
  asked: Asked,
): Promise<Result<AsyncIterable<CommandOutput>, CommandRefused>> {
  const leave = (): void => channel.reset('the caller has gone');
  asked.signal.addEventListener('abort', leave);
  // The signal may live much longer than the command.
  const over = (): void => asked.signal.removeEventListener('abort', leave);
  if (asked.signal.aborted) leave();
  const answers = channel[Symbol.asyncIterator]();
  try {
    void channel.send({ command: asked.command });
    const first = await firstAnswer(channel, answers, clock);
    const type = first?.['type'];
    if (type === 'begun') return ok(conversation(channel, answers, asked, over));
    const refusal = type === 'refused' ? readCommandRefusal(first?.['refusal']) : undefined;
    channel.end();
    over();
    return err(refusal ?? commandRefused('failed', 'The node gave no answer'));
  } catch (error) {
    over();
    return err(commandRefused('failed', `The node gave no answer: ${messageOf(error)}`));
  }
}

async function firstAnswer(channel: Channel, answers: AsyncGenerator<Item>, clock: Clock): Promise<Item | undefined> {
  const answered = new AbortController();
  void clock.sleep(beginTimeout, answered.signal).then(() => {
    if (!answered.signal.aborted) channel.reset('the node did not answer in time');
  });
  try {
    const first = await answers.next();
    return first.done === true ? undefined : first.value;
  } finally {
    answered.abort();
  }
}

/** The node's output, while the caller's input is sent to it. Ends when either of them does. */
async function* conversation(
  channel: Channel,
  answers: AsyncGenerator<Item>,
  { command, input, signal }: Asked,
  over: () => void,
): AsyncGenerator<CommandOutput> {
  const finished = new AbortController();
  void pump(channel, input, finished.signal);
  try {
    for await (const item of answers) {
      const output = readCommandOutput(command.type, item);
      if (output === undefined) throw new ChannelBroken('the node sent an invalid response');
      yield output;
    }
  } catch (error) {
    // The caller has disconnected, so nothing is reported.
    if (signal.aborted) return;
    // The error shows readers of files that the file is incomplete.
    if (command.type !== 'exec') throw error;
    yield { type: 'failed', message: `The node gave no further answer: ${messageOf(error)}` };
  } finally {
    finished.abort();
    channel.end();
    over();
  }
}

/** Stops reading the caller's input when the command is over, even while it waits for the next item. */
async function pump(channel: Channel, input: AsyncIterable<CommandInput>, finished: AbortSignal): Promise<void> {
  const over = AbortSignal.any([finished, channel.gone]);
  const inputs = input[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await unlessAborted(inputs.next(), over);
      if (next === undefined) break;
      if (next.done === true) return channel.end();
      if (!(await channel.send(next.value))) break;
    }
    void inputs.return?.();
  } catch {
    channel.reset('the caller has gone');
  }
}

/**
 * The value of a promise, or undefined when the signal aborts first. The listener is removed from the signal once the promise has settled: a
 * signal may live much longer than each promise.
 */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const stop = (): void => resolve(undefined);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    const settled = (): void => signal.removeEventListener('abort', stop);
    promise.then(
      (value) => {
        settled();
        resolve(value);
      },
      (error: unknown) => {
        settled();
        reject(error);
      },
    );
  });
}
