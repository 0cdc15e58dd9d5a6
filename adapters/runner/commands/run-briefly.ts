import type { Result } from 'neverthrow';
import type { CommandInput, CommandOutput, CommandRefused } from '../../../src/agent/link/node-command.js';
import { timerOf } from '../../../src/shared/duration.js';
import { messageOf } from '../disk/text-file.js';
import type { CommandRequest } from '../drivers/task-driver.js';

type Exec = (request: CommandRequest) => Promise<Result<AsyncIterable<CommandOutput>, CommandRefused>>;

export interface BriefCommand {
  readonly code: number;
  readonly output: string;
  /** The task ended first, or the runner released it: there is no result. */
  readonly isAborted: boolean;
}

/** The most characters of output that are kept. */
const maximumOutput = 3 * 1024;

/**
 * Runs a command to its end. After the timeout it is killed and counts as failed. Its process group ends with it: such
 * commands are repeated, and leftover processes would add up. Never rejects, so that repetitions continue.
 */
export async function runBriefly(exec: Exec, command: readonly string[], timeout: number): Promise<BriefCommand> {
  const signal = AbortSignal.timeout(timerOf(Math.max(1, timeout)));
  try {
    const ended = await runUntil(signal, exec, command);
    if (!signal.aborted) return ended;
    return { code: 1, output: `${ended.output}\nthe command timed out`, isAborted: false };
  } catch (error) {
    // A driver may throw, for example when the system has no memory for another process.
    return { code: 1, output: messageOf(error), isAborted: false };
  }
}

async function runUntil(signal: AbortSignal, exec: Exec, command: readonly string[]): Promise<BriefCommand> {
  const begun = await exec({ command, terminal: false, input: noMoreInput(), signal, leftovers: 'end' });
  if (begun.isErr()) {
    const { type, message } = begun.error;
    return { code: 1, output: message, isAborted: type === 'command_not_found' };
  }
  let output = '';
  let code = 1;
  let isAborted = false;
  for await (const message of begun.value) {
    if (message.type === 'exited') code = message.code;
    if (message.type === 'failed') {
      output += message.message;
      isAborted = true;
    }
    if (message.type === 'data') output = (output + Buffer.from(message.bytes).toString()).slice(0, maximumOutput);
  }
  return { code, output, isAborted };
}

async function* noMoreInput(): AsyncGenerator<CommandInput> {
  yield { type: 'end' };
}
