import { parseArgs } from 'node:util';
import { err, ok, type Result } from 'neverthrow';
import { didYouMean } from '../did-you-mean.js';
import type { FlagText } from './resolve-settings.js';
import { variableOf } from './setting.js';
import { settingTable } from './setting-table.js';

interface ServeFlags {
  readonly flags: readonly FlagText[];
  /** `--config`; null when absent. */
  readonly config: string | null;
  readonly examples: boolean;
}

const ofSettings = settingTable.flatMap(({ key, flag }) => (flag === undefined ? [] : [{ key, flag }]));
const known: Record<string, { readonly type: 'string' | 'boolean'; readonly multiple?: true }> = {
  config: { type: 'string' },
  set: { type: 'string', multiple: true },
  'no-runner': { type: 'boolean' },
  'no-page': { type: 'boolean' },
  examples: { type: 'boolean' },
  ...Object.fromEntries(ofSettings.map(({ flag }) => [flag, { type: 'string', multiple: true }])),
};

/** Adds the second dash to flags with one: no value begins with a dash and a letter. */
export function doubleDashed(args: readonly string[]): string[] {
  return args.map((text) => (/^-[a-zA-Z]/.test(text) ? `-${text}` : text));
}

/** Splits a command line into flags with unparsed values; error messages name the flag. */
export function readFlags(given: readonly string[]): Result<ServeFlags, string> {
  const args = doubleDashed(given);
  const unknown = args.find((text) => text.startsWith('--') && !Object.hasOwn(known, nameOf(text)));
  if (unknown !== undefined) {
    const names = [...Object.keys(known), ...settingTable.map(({ key }) => key)];
    return err(`unknown option --${nameOf(unknown).slice(0, 64)}${flagHint(nameOf(unknown), names)}`);
  }
  try {
    return flagsFrom(parseArgs({ args, options: known, allowPositionals: false, strict: true }).values);
  } catch (error) {
    return err(error instanceof Error ? error.message : 'invalid options');
  }
}

function flagsFrom(values: Readonly<Record<string, unknown>>): Result<ServeFlags, string> {
  const flags: FlagText[] = [];
  const textsOf = (name: string): readonly string[] => [values[name] ?? []].flat().map(String);
  for (const assignment of textsOf('set')) {
    const flag = assigned(assignment);
    if (flag.isErr()) return err(flag.error);
    flags.push(flag.value);
  }
  for (const { key, flag } of ofSettings) {
    for (const text of textsOf(flag)) flags.push({ key, flag: `--${flag}`, text });
  }
  for (const key of ['runner', 'page'])
    if (values[`no-${key}`] === true) flags.push({ key, flag: `--no-${key}`, text: 'false' });
  const config = values['config'];
  return ok({ flags, config: typeof config === 'string' ? config : null, examples: values['examples'] === true });
}

/** Parses `--set KEY=VALUE`. */
function assigned(assignment: string): Result<FlagText, string> {
  const [, key = '', text = ''] = /^([^=]*)=(.*)$/s.exec(assignment) ?? [];
  if (key === '') return err('--set takes KEY=VALUE, such as notifications.delivery.rate.generic=10');
  const setting = settingTable.find((one) => one.key === key);
  if (setting === undefined) {
    const keys = settingTable.map((one) => one.key);
    return err(`--set: unknown setting "${key.slice(0, 64)}"${didYouMean(key, keys)}`);
  }
  if (setting.secret === true) {
    return err(`--set ${key}: other users can read command lines; set it with ${variableOf(key)} or in the file`);
  }
  return ok({ key, flag: `--set ${key}`, text });
}

function nameOf(text: string): string {
  return text.slice(2).split('=')[0] ?? '';
}

/** A hint for an unknown flag: a similar flag, or `--set` for a setting without a flag. */
function flagHint(given: string, names: readonly string[]): string {
  const asKey = given.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const setting = settingTable.find(({ key, flag }) => flag === undefined && key.split('.').at(-1) === asKey);
  return setting === undefined ? didYouMean(given, names) : `; settings without an option: --set ${setting.key}=VALUE`;
}
