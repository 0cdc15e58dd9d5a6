import { dirname, isAbsolute, resolve } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import { quoted } from '../../../src/shared/values.js';
import { didYouMean } from '../did-you-mean.js';
import type { Misfit } from './kind.js';
import { type Setting, variableOf } from './setting.js';
import { settingTable } from './setting-table.js';
import { hasPassword, storeIn } from './store-kind.js';

/** The sources of settings by precedence: flags, environment, file, default. */
export interface SettingSources {
  /** Strings of flags, in their order. */
  readonly flags: readonly FlagText[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly file: SettingsFile | null;
}

export interface FlagText {
  readonly key: string;
  /** As given: `--listen`, `--set listen`. */
  readonly flag: string;
  readonly text: string;
}

export interface SettingsFile {
  readonly path: string;
  readonly content: unknown;
}

interface ResolvedSetting {
  readonly setting: Setting;
  /** Undefined: not set, and there is no default. */
  readonly value: unknown;
  /** `--listen`, `SIGNALBOX_LISTEN`, the path of the file, or `default`. */
  readonly source: string;
}

/** All settings of the table, by key, in the order of the table. */
export type ResolvedSettings = ReadonlyMap<string, ResolvedSetting>;

type Found = { readonly value: unknown; readonly source: string };

/** Every setting with its value and source, or all faults, one message each. */
export function resolveSettings({ flags, environment, file }: SettingSources): Result<ResolvedSettings, string[]> {
  const faults: string[] = [];
  const inFile = file === null ? new Map<string, unknown>() : valuesIn(file, faults);
  const resolved = new Map<string, ResolvedSetting>();
  for (const setting of settingTable) {
    const found =
      fromFlags(setting, flags, faults) ??
      fromEnvironment(setting, environment, faults) ??
      fromFile(setting, inFile, file, faults);
    const value = found === undefined ? setting.default : found.value;
    resolved.set(setting.key, { setting, value, source: found?.source ?? 'default' });
  }
  return faults.length > 0 ? err(faults) : ok(resolved);
}

/** A message for each variable that is probably a misspelled setting. */
export function misspelledVariables(environment: SettingSources['environment']): readonly string[] {
  const known = new Set([...settingTable.map(({ key }) => variableOf(key)), ...ofCommands]);
  return Object.keys(environment).flatMap((name) => {
    if (!name.startsWith('SIGNALBOX_') || known.has(name)) return [];
    const near = didYouMean(name, [...known]);
    return near === '' ? [] : [`${name} is not a setting${near}`];
  });
}

/** Environment variables that are not settings. */
const ofCommands = ['SIGNALBOX_CONFIG', 'SIGNALBOX_ADDR', 'SIGNALBOX_TOKEN', 'SIGNALBOX_NAMESPACE'];

function fromFlags(setting: Setting, flags: readonly FlagText[], faults: string[]): Found | undefined {
  const given = flags.filter(({ key }) => key === setting.key);
  const [first] = given;
  const last = given.at(-1);
  if (first === undefined || last === undefined) return undefined;
  // A flag that may hold several values may also be repeated.
  const text = Array.isArray(setting.default) ? given.map((one) => one.text).join(',') : last.text;
  if (setting.secret === 'password' && hasPassword(text)) {
    faults.push(
      `${last.flag}: other users can read command lines: leave the password out of the URL, for PGPASSWORD or a file of passwords (PGPASSFILE), ` +
        `or set the URL with ${variableOf(setting.key)} or in the settings file`,
    );
  }
  return fromText(setting, text, last.flag, faults);
}

function fromEnvironment(
  setting: Setting,
  environment: SettingSources['environment'],
  faults: string[],
): Found | undefined {
  const name = variableOf(setting.key);
  const text = environment[name];
  return text === undefined || text === '' ? undefined : fromText(setting, text, name, faults);
}

function fromText(setting: Setting, text: string, source: string, faults: string[]): Found {
  const read = setting.kind.fromText(text);
  if (read.isErr()) faults.push(`${source} ${faultOf(setting, text, read.error)}`);
  return { value: read.unwrapOr(undefined), source };
}

function fromFile(
  setting: Setting,
  values: ReadonlyMap<string, unknown>,
  file: SettingsFile | null,
  faults: string[],
): Found | undefined {
  const { key, kind } = setting;
  if (file === null || !values.has(key)) return undefined;
  const read = kind.fromJson(values.get(key));
  if (read.isErr()) {
    const at = `/${key.replaceAll('.', '/')}${read.error.pointer}`;
    faults.push(`${file.path}: at ${at}: it ${faultOf(setting, values.get(key), read.error)}`);
    return { value: undefined, source: file.path };
  }
  return { value: rebased(read.value, kind.path, dirname(file.path)), source: file.path };
}

/** `takes …, not "x"`; without the value when it is or may contain a secret. */
function faultOf({ kind, secret }: Setting, value: unknown, { reason }: Misfit): string {
  if (reason !== undefined) return reason;
  const isHidden = secret === true || (secret === 'password' && /[@?]|:\/\//.test(String(value)));
  return isHidden ? kind.takes : `${kind.takes}, not ${(JSON.stringify(value) ?? 'nothing').slice(0, 60)}`;
}

/** Resolves paths in a settings file relative to its folder. */
function rebased(value: unknown, path: 'file' | 'store' | undefined, folder: string): unknown {
  if (typeof value !== 'string' || path === undefined) return value;
  if (path === 'store') return storeIn(value, folder);
  return isAbsolute(value) ? value : resolve(folder, value);
}

/** The values of a file by key. Unknown keys are faults. */
function valuesIn(file: SettingsFile, faults: string[]): ReadonlyMap<string, unknown> {
  const values = new Map<string, unknown>();
  const keys = new Set(settingTable.map(({ key }) => key));
  const walk = (within: unknown, prefix: string): void => {
    if (typeof within !== 'object' || within === null || Array.isArray(within)) {
      faults.push(`${file.path}: at ${pointer(prefix)}: expected an object`);
      return;
    }
    for (const [name, value] of Object.entries(within)) {
      if (prefix === '' && name === '$schema') continue;
      const key = prefix === '' ? name : `${prefix}.${name}`;
      if (keys.has(key) && !name.includes('.')) values.set(key, value);
      else if (!name.includes('.') && isGroup(key)) walk(value, key);
      else faults.push(`${file.path}: at ${pointer(prefix)}: unknown setting ${quoted(name)}${hint(prefix, name)}`);
    }
  };
  walk(file.content, '');
  return values;
}

/** A similar name at the same path, else the full key of a setting with this last part. */
function hint(prefix: string, name: string): string {
  const start = prefix === '' ? '' : `${prefix}.`;
  const here = settingTable
    .filter(({ key }) => key.startsWith(start))
    .flatMap(({ key }) => key.slice(start.length).split('.', 1));
  const near = didYouMean(name, [...new Set(here)]);
  if (near !== '') return near;
  const elsewhere = settingTable.find(({ key }) => key.endsWith(`.${name}`));
  return elsewhere === undefined ? '' : `; did you mean ${elsewhere.key}?`;
}

function pointer(key: string): string {
  return key === '' ? 'the top level' : `/${key.replaceAll('.', '/')}`;
}

function isGroup(key: string): boolean {
  return settingTable.some((setting) => setting.key.startsWith(`${key}.`));
}
