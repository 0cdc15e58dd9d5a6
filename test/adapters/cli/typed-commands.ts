import { Readable } from 'node:stream';
import { runCommand } from '../../../adapters/cli/run-command.js';
import type { Keyboard } from '../../../adapters/cli/terminal.js';

/** What a command line is given beside its words. */
export interface Given {
  /** What standard input brings, in chunks. */
  readonly input?: readonly string[];
  /** Contents of files by path; `-` is standard input. */
  readonly files?: Readonly<Record<string, string>>;
  readonly keyboard?: Keyboard;
  /** Standard output is a terminal. */
  readonly isTerminal?: boolean;
  readonly environment?: Readonly<Record<string, string>>;
  /** Told of all output so far, whenever there is more. */
  readonly onOutput?: (out: string) => void;
  /** The same of what goes to standard error. */
  readonly onError?: (error: string) => void;
}

export interface Printed {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** Runs one command line in this process against a server. Texts that it prints and bytes that it passes on are gathered alike. */
export async function typed(origin: string, given: Given, ...words: readonly string[]): Promise<Printed> {
  let out = '';
  let error = '';
  const print = (text: string): void => {
    out += text;
    given.onOutput?.(out);
  };
  const complain = (text: string): void => {
    error += text;
    given.onError?.(error);
  };
  const code = await runCommand(words, {
    out: print,
    error: complain,
    read: async (path) => given.files?.[path] ?? '',
    colours: false,
    isTerminal: given.isTerminal ?? false,
    environment: { SIGNALBOX_ADDR: origin, ...given.environment },
    streams: {
      input: () => Readable.from((given.input ?? []).map((chunk) => Buffer.from(chunk))),
      out: async (piece) => print(Buffer.from(piece).toString()),
      error: async (piece) => complain(Buffer.from(piece).toString()),
      keyboard: given.keyboard,
    },
  });
  return { code, out, error };
}
