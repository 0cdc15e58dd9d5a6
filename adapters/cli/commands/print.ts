import type { ResultAsync } from 'neverthrow';
import { orThrow } from '../../../src/client/index.js';
import type { Invocation } from '../command-line/command.js';
import { inJson } from '../output/tables.js';
import { forOutput, shownText } from '../output/terminal-text.js';
import type { Terminal } from '../terminal.js';

/** The result of a call. */
type Answer<T> = ResultAsync<T, { readonly type: string }>;

/** Prints a value as JSON if requested, otherwise as formatted text with control characters escaped. Returns the exit code 0. */
export function print<T>({ terminal, json }: Invocation, value: T, text: (value: T) => string): number {
  terminal.out(json ? `${inJson(value, 2)}\n` : shownText(text(value)));
  return 0;
}

/** Prints the answer of a call like `print`. Rejects if the call fails. */
export async function printAnswer<T>(
  invocation: Invocation,
  answer: Answer<T>,
  text: (value: T) => string,
): Promise<number> {
  return print(invocation, await orThrow(answer), text);
}

/** Prints one line after a successful call, or its answer as JSON. Rejects if the call fails. */
export async function confirm(invocation: Invocation, answer: Answer<unknown>, line: string): Promise<number> {
  return print(invocation, (await orThrow(answer)) ?? null, () => `${line}\n`);
}

/**
 * Forwards bytes as fast as the output accepts them; to a terminal without control characters other than colours. Returns the exit
 * code 0.
 */
export async function passOn(terminal: Terminal, pieces: AsyncIterable<Uint8Array>): Promise<number> {
  const { streams, out } = terminal;
  const decoder = new TextDecoder();
  for await (const piece of forOutput(terminal, pieces)) {
    if (streams === undefined) out(decoder.decode(piece, { stream: true }));
    else await streams.out(piece);
  }
  return 0;
}
