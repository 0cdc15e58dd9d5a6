import type { Client } from '../../../src/client/index.js';
import type { Terminal } from '../terminal.js';

/** The definition of an option. */
export interface OptionDefinition {
  /** `flag` has no value, `text` one value, `list` may be repeated. */
  readonly type: 'flag' | 'text' | 'list';
  /** Name of the value in the help: `INDEX`. */
  readonly value?: string;
  /** One line for the help; the choices are added to it. */
  readonly summary: string;
  /** The values that a string option accepts, in lower case; absent for free values. */
  readonly choices?: readonly string[];
}

/** The choices of a boolean option with a value. */
export const yesOrNo = ['true', 'false'] as const;

export type OptionDefinitions = Readonly<Record<string, OptionDefinition>>;

export type OptionValues<O extends OptionDefinitions> = {
  readonly [N in keyof O]: O[N]['type'] extends 'flag'
    ? boolean
    : O[N]['type'] extends 'list'
      ? readonly string[]
      : string | undefined;
};

/** A raw HTTP request. */
export interface RawRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** One call of a command. */
export interface Invocation<O extends OptionDefinitions = OptionDefinitions> {
  /** As many as the command declares. */
  readonly parameters: readonly string[];
  readonly options: OptionValues<O>;
  readonly terminal: Terminal;
  /** A client for the server of the options or the environment. It connects at the first call. */
  readonly box: Client;
  /** Sends a raw request to the same server with the same token. `path` begins with a slash. Rejects with `Stopped` without an answer. */
  readonly send: (path: string, request: RawRequest) => Promise<Response>;
  /** The requested namespace as an option of calls; empty if none was given. */
  readonly inNamespace: { readonly namespace?: string };
  /** Print the answer as JSON instead of formatted for people. */
  readonly json: boolean;
}

/** A command of the command line. */
export interface Command<O extends OptionDefinitions = OptionDefinitions> {
  /** `job status` */
  readonly words: string;
  /** `[JOB]`, `FILE`, `JOB [GROUP] COUNT`: brackets mark optional parameters; a final `...` accepts any number. */
  readonly parameters: string;
  /** One line for the help, without a full stop. */
  readonly summary: string;
  readonly options: O;
  /** Absent: the command calls a server and accepts the options for that. */
  readonly local?: true;
  /** Options must precede the first parameter, because the rest is another program's command line. */
  readonly optionsFirst?: true;
  /** The command prints the output of tasks, so `--json` does not apply. */
  readonly raw?: true;
  /** The command needs WebSockets of `box`. */
  readonly sockets?: true;
  /** Resolves with the exit code. Rejects with `Stopped` or with the client's `SignalboxError`. */
  run(invocation: Invocation<O>): Promise<number>;
}

/** Infers the types of the options for `run`. */
export function command<const O extends OptionDefinitions>(definition: Command<O>): Command {
  return definition as unknown as Command;
}
