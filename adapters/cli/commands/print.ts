import type { ResultAsync } from 'neverthrow';
import { orThrow } from '../../../src/client/index.js';
import type { Invocation } from '../command-line/command.js';
import { inJson } from '../output/cells.js';
import { shownText } from '../output/colours.js';
import type { Terminal } from '../terminal.js';

/** What a call gives: its value, or why there is none. */
type Answer<T> = ResultAsync<T, { readonly type: string }>;

/** Prints a value as JSON if requested, otherwise as a string, without control characters of its strings. Returns the exit code 0. */
export function print<T>({ terminal, json }: Invocation, value: T, text: (value: T) => string): number {
  terminal.out(json ? `${inJson(value, 2)}\n` : shownText(text(value)));
  return 0;
}

/** Prints what a call answers, as `print` does. Rejects when the call is refused. */
export async function printAnswer<T>(
  invocation: Invocation,
  answer: Answer<T>,
  text: (value: T) => string,
): Promise<number> {
  return print(invocation, await orThrow(answer), text);
}

/** Prints one line when a call whose answer says nothing more has succeeded, or the answer as JSON. Rejects when it is refused. */
export async function confirm(invocation: Invocation, answer: Answer<unknown>, line: string): Promise<number> {
  return print(invocation, (await orThrow(answer)) ?? null, () => `${line}\n`);
}

/** Passes bytes on as they come, as fast as they are taken. Gives the exit code 0. */
export async function passOn({ streams, out }: Terminal, pieces: AsyncIterable<Uint8Array>): Promise<number> {
  const decoder = new TextDecoder();
  for await (const piece of pieces) {
    if (streams === undefined) out(decoder.decode(piece, { stream: true }));
    else await streams.out(piece);
  }
  return 0;
}
