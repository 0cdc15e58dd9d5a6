import type { Client } from '../../../src/client/index.js';
import type { Terminal } from '../terminal.js';

/** What one option takes. */
export interface OptionDefinition {
  /** `flag` takes nothing, `text` one value, `list` may be repeated. */
  readonly type: 'flag' | 'text' | 'list';
  /** Name of the value in the help: `INDEX`. */
  readonly value?: string;
  /** One line for the help; the choices are added to it. */
  readonly summary: string;
  /** The values that a string option accepts, in lower case; absent for free values. */
  readonly choices?: readonly string[];
}

/** Choices of options that can say no as well. */
export const yesOrNo = ['true', 'false'] as const;

export type OptionDefinitions = Readonly<Record<string, OptionDefinition>>;

export type OptionValues<O extends OptionDefinitions> = {
  readonly [N in keyof O]: O[N]['type'] extends 'flag'
    ? boolean
    : O[N]['type'] extends 'list'
      ? readonly string[]
      : string | undefined;
};

/** A request in the words of HTTP. */
export interface RawRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** One call of a command. */
export interface Invocation<O extends OptionDefinitions = OptionDefinitions> {
  /** As many as the command takes. */
  readonly parameters: readonly string[];
  readonly options: OptionValues<O>;
  readonly terminal: Terminal;
  /** A client for the server of the options or the environment. It is not contacted before the first call. */
  readonly box: Client;
  /** Sends a request as it is to the same server, with the same token. `path` begins with a slash. Rejects with `Stopped` when no answer comes. */
  readonly send: (path: string, request: RawRequest) => Promise<Response>;
  /** The requested namespace as an option of calls; empty if none was given. */
  readonly inNamespace: { readonly namespace?: string };
  /** The answer itself is wanted, as JSON, instead of a string for people. */
  readonly json: boolean;
}

/** A command of the command line. */
export interface Command<O extends OptionDefinitions = OptionDefinitions> {
  /** `job status` */
  readonly words: string;
  /** `[JOB]`, `FILE`, `JOB [GROUP] COUNT`: words in brackets may be left out; `...` at the end takes all that follow. */
  readonly parameters: string;
  /** One line for the help, without a full stop. */
  readonly summary: string;
  readonly options: O;
  /** Absent: the command talks to a server, and takes the options for that. */
  readonly local?: true;
  /** Options must precede the first parameter: the words after it are another program's command line. */
  readonly optionsFirst?: true;
  /** The command prints the output of tasks: there is no answer to print as JSON. */
  readonly raw?: true;
  /** It opens sockets: `box` can. */
  readonly sockets?: true;
  /** Gives the exit code. Rejects with `Stopped`, or with the client's `SignalboxError`. */
  run(invocation: Invocation<O>): Promise<number>;
}

/** States the options once, so that `run` knows them. */
export function command<const O extends OptionDefinitions>(definition: Command<O>): Command {
  return definition as unknown as Command;
}
