import type { Result } from 'neverthrow';
import type { CommandInput, CommandOutput, CommandRefused } from '../../../src/agent/link/node-command.js';
import { timerOf } from '../../../src/shared/duration.js';
import { messageOf } from '../disk/transient-fault.js';
import type { CommandRequest } from '../drivers/task-driver.js';

type Exec = (request: CommandRequest) => Promise<Result<AsyncIterable<CommandOutput>, CommandRefused>>;

interface Ended {
  readonly code: number;
  readonly output: string;
}

/** What is kept of the output. In characters. */
const maximumOutput = 3 * 1024;

/**
 * Runs a command to its end, or for as long as it may take; then it is ended and counts as failed. Its process group ends with it: such
 * commands are repeated, and what each of them left would add up. Never rejects: whoever repeats it goes on.
 */
export async function runBriefly(exec: Exec, command: readonly string[], timeout: number): Promise<Ended> {
  const signal = AbortSignal.timeout(timerOf(Math.max(1, timeout)));
  try {
    const { code, output } = await runUntil(signal, exec, command);
    return signal.aborted ? { code: 1, output: `${output}\nthe command took too long` } : { code, output };
  } catch (error) {
    // A driver may throw: so does the system when it has no memory for another process.
    return { code: 1, output: messageOf(error) };
  }
}

async function runUntil(signal: AbortSignal, exec: Exec, command: readonly string[]): Promise<Ended> {
  const begun = await exec({ command, terminal: false, input: noMoreInput(), signal, leftovers: 'end' });
  if (begun.isErr()) return { code: 1, output: begun.error.message };
  let output = '';
  let code = 1;
  for await (const message of begun.value) {
    if (message.type === 'exited') code = message.code;
    if (message.type === 'failed') output += message.message;
    if (message.type === 'data') output = (output + Buffer.from(message.bytes).toString()).slice(0, maximumOutput);
  }
  return { code, output };
}

async function* noMoreInput(): AsyncGenerator<CommandInput> {
  yield { type: 'end' };
}
