import type { Client } from '../../../src/client/index.js';
import { columns } from '../output/tables.js';
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

/** Definitions of options, by their types. */
export const option = {
  flag: (summary: string) => ({ type: 'flag', summary }) as const,
  text: (value: string, summary: string, choices?: readonly string[]) =>
    ({ type: 'text', value, summary, ...(choices && { choices }) }) as const,
  list: (value: string, summary: string) => ({ type: 'list', value, summary }) as const,
};

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
  run(invocation: Invocation<O>, ...parameters: readonly (string | undefined)[]): Promise<number>;
}

/** A command as it is written: options only if there are any. */
interface CommandDefinition<O extends OptionDefinitions> extends Omit<Command<O>, 'words' | 'parameters' | 'options'> {
  /** The words, then the parameters: `job status [JOB]`. */
  readonly usage: string;
  readonly options?: O;
}

/** Infers the types of the options for `run`. */
export function command<const O extends OptionDefinitions = Record<never, never>>({
  usage,
  ...definition
}: CommandDefinition<O>): Command {
  const [words = '', parameters = ''] = usage.split(/ (?=[A-Z[])(.*)/);
  return { options: {}, ...definition, words, parameters };
}

/** The help of one command: usage line, summary and options. */
export function commandHelp(command: Command, options: OptionDefinitions): string {
  const rows = Object.entries(options).map(([name, { value, summary, choices }]) => [
    `  --${name}${value === undefined ? '' : ` ${value}`}`,
    choices === undefined ? summary : `${summary}: ${choicesText(choices)}`,
  ]);
  const usage = ['usage: signalbox', command.words, command.parameters].filter((word) => word !== '').join(' ');
  return `${usage}\n${command.summary}\n\n${columns(rows)}`;
}

/** `a, b or c`, without empty choices. */
export function choicesText(all: readonly string[]): string {
  const choices = all.filter((choice) => choice !== '');
  return choices.length < 2 ? choices.join('') : `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;
}

/** The commands whose first word is the topic. */
export function topicHelp(topic: string, commands: readonly Command[]): string {
  const rows = commands
    .filter(({ words }) => words.split(' ')[0] === topic)
    .map(({ words, parameters, summary }) => [`  signalbox ${words} ${parameters}`.trimEnd(), summary]);
  return `${columns(rows)}\nsignalbox COMMAND --help lists the options of a command.\n`;
}

/** The topics, each with its commands in one line. */
export function generalHelp(commands: readonly Command[]): string {
  const topics = new Map<string, string[]>();
  for (const { words, summary } of commands) {
    const [topic = '', ...rest] = words.split(' ');
    topics.set(topic, [...(topics.get(topic) ?? []), rest.length === 0 ? summary : rest.join(' ')]);
  }
  const rows = [...topics].flatMap(([topic, verbs]) =>
    wrapped(verbs, verbLineWidth).map((line, at) => [at === 0 ? `  ${topic}` : '', line]),
  );
  return `usage: signalbox COMMAND

  serve         run a server; signalbox serve --help lists its options
  config        print the effective settings of a server; signalbox help settings lists all settings
  new-key FILE  create a key for --encryption-key-file
  backup FILE   copy the store of a server, which may be running
  copy          copy a store to another place or medium: SQLite, PostgreSQL
  export        export the store of a server to a file for tests
  play          serve the page over an export, or an empty cluster, with a clock that you move
${columns(rows)}
signalbox help TOPIC explains its commands. Options may have one dash or two; - as FILE reads standard input.
Set the server with --address or SIGNALBOX_ADDR, the token with SIGNALBOX_TOKEN.
Exit codes: 0 success, 1 failure, 2 invalid command line, or a job that could not be placed.
`;
}

/** The most characters of a line of verbs. */
const verbLineWidth = 90;

/** Words separated by commas, in lines of at most this width. */
function wrapped(words: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length + 3 > width) lines.push(word);
    else lines[lines.length - 1] = `${last}, ${word}`;
  }
  return lines.map((line, at) => (at < lines.length - 1 ? `${line},` : line));
}
