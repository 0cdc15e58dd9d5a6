import type { Invocation } from '../command-line/command.js';

/** Prints a value as JSON when that was asked for, else as the text that is made of it. Gives the exit code 0. */
export function print<T>({ terminal, json }: Invocation, value: T, text: (value: T) => string): number {
  terminal.out(json ? `${JSON.stringify(value, null, 2)}\n` : text(value));
  return 0;
}
