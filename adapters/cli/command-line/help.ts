import { columns } from '../output/columns.js';
import type { Command, OptionDefinitions } from './command.js';

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
