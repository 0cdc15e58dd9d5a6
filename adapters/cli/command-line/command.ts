import type { Client } from '../../../src/client/index.js';
import type { Terminal } from '../terminal.js';

/** What one option takes. */
export interface OptionDefinition {
  /** `flag` takes nothing, `text` one value, `list` may be repeated. */
  readonly type: 'flag' | 'text' | 'list';
  /** Name of the value in the help: `INDEX`. */
  readonly value?: string;
  /** One line for the help. */
  readonly summary: string;
}

export type OptionDefinitions = Readonly<Record<string, OptionDefinition>>;

export type OptionValues<O extends OptionDefinitions> = {
  readonly [N in keyof O]: O[N]['type'] extends 'flag'
    ? boolean
    : O[N]['type'] extends 'list'
      ? readonly string[]
      : string | undefined;
};

/** One call of a command. */
export interface Invocation<O extends OptionDefinitions = OptionDefinitions> {
  /** As many as the command takes. */
  readonly parameters: readonly string[];
  readonly options: OptionValues<O>;
  readonly terminal: Terminal;
  /** The server that the options or the environment name. Nothing is asked of it before the first call. */
  readonly box: Client;
  /** The namespace that was asked for, for the options of a call; nothing when none was. */
  readonly inNamespace: { readonly namespace?: string };
  /** The answer itself is wanted, as JSON, instead of text for people. */
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
  /** Options stand before the first parameter; behind it nothing is one, for words that are somebody else's command. */
  readonly optionsFirst?: true;
  /** It passes on what tasks write: there is no answer to print as JSON. */
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
