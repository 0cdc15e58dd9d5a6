import { parseArgs } from 'node:util';
import { suggestName } from '../../../src/options/option-kinds.js';
import { Stopped } from '../stopped.js';
import { type Command, choicesText, type OptionDefinitions, option } from './command.js';
import { adviceForOption } from './nomad-commands.js';

/** Options of every command that has an answer to print. */
const everywhere = {
  json: option.flag('print the answer as JSON'),
} as const satisfies OptionDefinitions;

/** Options of every command that talks to a server. */
const ofServers = {
  address: option.text('URL', 'the server (SIGNALBOX_ADDR, else http://127.0.0.1:4646)'),
  namespace: option.text('NAME', 'the namespace (SIGNALBOX_NAMESPACE, else `default`)'),
  'notifications-base': option.text(
    'PATH',
    'where the notification interface is mounted (SIGNALBOX_NOTIFICATIONS_BASE, else /)',
  ),
} as const satisfies OptionDefinitions;

interface Arguments {
  readonly parameters: readonly string[];
  readonly options: Readonly<Record<string, boolean | string | readonly string[] | undefined>>;
}

export function optionsOf(command: Command): OptionDefinitions {
  return {
    ...command.options,
    ...(command.raw === true ? {} : everywhere),
    ...(command.local === true ? {} : ofServers),
  };
}

/** Options may be anywhere and begin with one dash or two; after `--` nothing is an option. Throws `Stopped` for invalid ones. */
export function readArguments(command: Command, args: readonly string[]): Arguments {
  const definitions = optionsOf(command);
  const { values, positionals } = parsed(command, definitions, separated(command, args));
  const options: Record<string, boolean | string | readonly string[] | undefined> = {};
  for (const [name, { type, choices }] of Object.entries(definitions)) {
    const given = values[name] ?? (type === 'flag' ? false : type === 'list' ? [] : undefined);
    options[name] =
      choices !== undefined && typeof given === 'string' ? chosen(command, name, { choices, given }) : given;
  }
  return { parameters: checkedCount(command, positionals), options };
}

/** The matching choice, case-insensitive. */
function chosen(
  command: Command,
  name: string,
  { choices, given }: { readonly choices: readonly string[]; readonly given: string },
): string {
  const choice = given.toLowerCase();
  if (choices.includes(choice)) return choice;
  throw misused(command, `--${name} takes ${choicesText(choices)}, not ${JSON.stringify(given.slice(0, 40))}`);
}

/** The arguments that may contain options: not those after `--`, or after the parameters that end the options. */
export function withOptions(command: Command, args: readonly string[]): readonly string[] {
  const separate = separated(command, args);
  const end = separate.indexOf('--');
  return end === -1 ? separate : separate.slice(0, end);
}

/** Inserts `--` before the first parameter of a command whose options come first; a `--` right after it is removed. */
function separated(command: Command, args: readonly string[]): readonly string[] {
  if (command.optionsFirst !== true) return args;
  const [first, ...others] = args.slice(firstParameter(optionsOf(command), args));
  if (first === undefined || first === '--') return args;
  const options = args.slice(0, args.length - others.length - 1);
  return [...options, '--', first, ...(others[0] === '--' ? others.slice(1) : others)];
}

/** Where the options end: at the first argument that is not an option or its value. */
function firstParameter(definitions: OptionDefinitions, args: readonly string[]): number {
  let at = 0;
  for (;;) {
    const option = /^--?([a-zA-Z][^=]*)(=?)/.exec(args[at] ?? '');
    if (option === null) return at;
    const [, name = '', equals] = option;
    const takesNext = equals === '' && (definitions[name]?.type ?? 'flag') !== 'flag';
    at += takesNext ? 2 : 1;
  }
}

function parsed(command: Command, definitions: OptionDefinitions, args: readonly string[]) {
  const options: Record<string, { type: 'boolean' | 'string'; multiple: boolean }> = {};
  for (const [name, { type }] of Object.entries(definitions)) {
    options[name] = { type: type === 'flag' ? 'boolean' : 'string', multiple: type === 'list' };
  }
  const dashed = withTwoDashes(definitions, args);
  for (const name of optionNames(dashed)) {
    if (!Object.hasOwn(definitions, name)) throw misused(command, `unknown option --${name}${hint(name, definitions)}`);
  }
  try {
    const { values, positionals } = parseArgs({ args: dashed, options, allowPositionals: true, strict: true });
    return { values: values as Arguments['options'], positionals };
  } catch (error) {
    throw misused(command, error instanceof Error ? error.message : 'the options cannot be read');
  }
}

/**
 * `-check-index=7` becomes `--check-index=7`, `-it` becomes `--i --t` if those are flags, and `-detach=false` is removed. A
 * lone dash and everything after `--` stay unchanged.
 */
function withTwoDashes(definitions: OptionDefinitions, args: readonly string[]): string[] {
  const end = args.indexOf('--');
  return args.flatMap((text, at) => (end === -1 || at < end ? spelledOut(definitions, text) : [text]));
}

function spelledOut(definitions: OptionDefinitions, text: string): readonly string[] {
  const [, dashes = '', name = '', value] = /^(--?)([a-zA-Z][^=]*)(?:=(.*))?$/s.exec(text) ?? [];
  if (dashes === '') return [text];
  if (isFlag(definitions, name) && (value === 'true' || value === 'false'))
    return value === 'true' ? [`--${name}`] : [];
  if (dashes === '-' && value === undefined && isCluster(definitions, name)) {
    return [...name].map((letter) => `--${letter}`);
  }
  return [`--${text.slice(dashes.length)}`];
}

function isFlag(definitions: OptionDefinitions, name: string): boolean {
  return definitions[name]?.type === 'flag';
}

/** Whether the letters are one flag each and not an option together. */
function isCluster(definitions: OptionDefinitions, name: string): boolean {
  return definitions[name] === undefined && [...name].every((letter) => isFlag(definitions, letter));
}

function* optionNames(args: readonly string[]): Iterable<string> {
  for (const text of args) {
    if (text === '--') return;
    const name = /^--([a-zA-Z][^=]*)/.exec(text)?.[1];
    if (name !== undefined) yield name;
  }
}

function hint(name: string, definitions: OptionDefinitions): string {
  const other = adviceForOption(name);
  if (other !== undefined) return `: ${other}`;
  const near = suggestName(name, Object.keys(definitions));
  return near === undefined ? '' : `; did you mean --${near}?`;
}

function checkedCount(command: Command, given: readonly string[]): readonly string[] {
  const words = command.parameters === '' ? [] : command.parameters.split(' ');
  const needed = words.filter((word) => !word.startsWith('[')).length;
  const most = command.parameters.includes('...') ? Number.POSITIVE_INFINITY : words.length;
  if (given.length < needed) throw misused(command, `${command.words} needs ${command.parameters}`);
  if (given.length > most) throw misused(command, `"${String(given[most]).slice(0, 60)}" is an unexpected argument`);
  return given;
}

function misused(command: Command, message: string): Stopped {
  const usage = ['signalbox', command.words, command.parameters].filter((word) => word !== '').join(' ');
  return new Stopped(`${message}\nusage: ${usage}; signalbox ${command.words} --help lists the options`, 2);
}
