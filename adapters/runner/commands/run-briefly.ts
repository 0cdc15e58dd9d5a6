import type { Result } from 'neverthrow';
import type { CommandInput, CommandOutput, CommandRefused } from '../../../src/agent/link/node-command.js';
import { timerOf } from '../../../src/shared/duration.js';
import type { CommandRequest } from '../drivers/task-driver.js';

type Exec = (request: CommandRequest) => Promise<Result<AsyncIterable<CommandOutput>, CommandRefused>>;

/** What is kept of the output. In characters. */
const maximumOutput = 3 * 1024;

/** Runs a command to its end, or for as long as it may take; then it is ended and counts as failed. */
export async function runBriefly(
  exec: Exec,
  command: readonly string[],
  timeout: number,
): Promise<{ readonly code: number; readonly output: string }> {
  const signal = AbortSignal.timeout(timerOf(Math.max(1, timeout)));
  const begun = await exec({ command, terminal: false, input: noMoreInput(), signal });
  if (begun.isErr()) return { code: 1, output: begun.error.message };
  let output = '';
  let code = 1;
  for await (const message of begun.value) {
    if (message.type === 'exited') code = message.code;
    if (message.type === 'failed') output += message.message;
    if (message.type === 'data') output = (output + Buffer.from(message.bytes).toString()).slice(0, maximumOutput);
  }
  return signal.aborted ? { code: 1, output: `${output}\nthe command took too long` } : { code, output };
}

async function* noMoreInput(): AsyncGenerator<CommandInput> {
  yield { type: 'end' };
}
