/*
 * The description of settings. Types, defaults and the check of overrides are made from it here, the settings of a server in
 * `adapters/cli/settings`.
 */
import type { Milliseconds } from '../shared/duration.js';
import type { OptionKind, OptionTable } from './check-options.js';
import {
  amount,
  count,
  flag,
  group,
  headerName,
  listOf,
  milliseconds,
  oneOf,
  optional,
  share,
} from './option-kinds.js';

/** The description of one setting. */
export interface EngineSetting<V> {
  readonly default: V;
  /** What `createEngine` accepts: often more than a server, such as Infinity. */
  readonly accepts: OptionKind;
  /** The setting of a server under the same key; absent when the server decides it itself or has it elsewhere. */
  readonly ofServer?: {
    readonly form: SettingForm;
    /** One line, without a full stop. */
    readonly summary: string;
  };
}

/** In milliseconds. */
export interface DurationSetting extends EngineSetting<Milliseconds> {}

/** How the command line, the environment and the settings file of a server write a value, and its range. */
export type SettingForm =
  | { readonly type: 'duration'; readonly least: Milliseconds }
  | { readonly type: 'number'; readonly least: number; readonly most: number; readonly whole: boolean }
  | { readonly type: 'flag' }
  | { readonly type: 'choice'; readonly words: readonly string[] }
  | { readonly type: 'string'; readonly takes: string; readonly pattern: RegExp; readonly lowerCase?: boolean }
  | { readonly type: 'list' | 'orNone'; readonly of: SettingForm };

export interface SettingGroup {
  readonly [name: string]: EngineSetting<unknown> | SettingGroup;
}

/** The value of a setting, the values of a group. */
export type ValuesOf<T> = T extends EngineSetting<infer V> ? V : { readonly [K in keyof T]: ValuesOf<T[K]> };

export function isSetting(row: EngineSetting<unknown> | SettingGroup): row is EngineSetting<unknown> {
  return 'accepts' in row;
}

export function defaultsOf<T extends SettingGroup>(settings: T): ValuesOf<T> {
  const entries = Object.entries(settings).map(([name, row]) => [name, isSetting(row) ? row.default : defaultsOf(row)]);
  return Object.fromEntries(entries) as ValuesOf<T>;
}

/** The option table of overrides: none is required. */
export function optionsOf<T extends SettingGroup>(settings: T): OptionTable<ValuesOf<T>> {
  const entries = Object.entries(settings).map(([name, row]) => {
    return [name, optional(isSetting(row) ? row.accepts : group<object>(optionsOf(row)))];
  });
  return Object.fromEntries(entries) as OptionTable<ValuesOf<T>>;
}

type Kind<V, S = EngineSetting<V>> = (standard: V, summary: string) => S;

function kind<V>(accepts: OptionKind, form: SettingForm): Kind<V> {
  return (standard, summary) => ({ default: standard, accepts, ofServer: { form, summary } });
}

/** Not a setting of servers. */
export function notOfServer<V>(accepts: OptionKind, standard: V): EngineSetting<V> {
  return { default: standard, accepts };
}

export function duration(least: Milliseconds, accepts = amount): Kind<Milliseconds, DurationSetting> {
  return kind(accepts, { type: 'duration', least });
}

export function whole(least: number, most: number, accepts = amount): Kind<number> {
  return kind(accepts, { type: 'number', least, most, whole: true });
}

/** From one, in `createEngine`, too. */
export const positive = (most: number): Kind<number> => whole(1, most, count);

/** Numbers from zero with fractions. */
const fraction = (most: number, accepts: OptionKind): Kind<number> =>
  kind(accepts, { type: 'number', least: 0, most, whole: false });

/** Strings that `pattern` matches; `createEngine` accepts what `accepts` does. */
export function string(accepts: OptionKind, takes: string, pattern: RegExp): Kind<string> {
  return kind(accepts, { type: 'string', takes, pattern });
}

/** Not a setting of servers when there is no summary. */
export function choice<const W extends readonly string[]>(
  words: W,
  standard: W[number],
  summary?: string,
): EngineSetting<W[number]> & { readonly words: W } {
  const form: SettingForm = { type: 'choice', words };
  const ofServer = summary === undefined ? {} : { ofServer: { form, summary } };
  return { default: standard, accepts: oneOf(...words), words, ...ofServer };
}

export const onOff = kind<boolean>(flag, { type: 'flag' });
export const quantity = whole(1, 1_000_000);
export const bytes = whole(0, 16_777_216);
export const rate = fraction(100_000, amount);
export const portion = fraction(1, share);
/** A duration that may be zero. */
export const wait = duration(0);
export const span = duration(1);

export const waits = kind<readonly Milliseconds[]>(listOf(milliseconds), {
  type: 'list',
  of: { type: 'duration', least: 0 },
});

export const spanOrNone = kind<Milliseconds | null>(
  { takes: 'a number of milliseconds, or null', fits: (value) => value === null || milliseconds.fits(value) },
  { type: 'orNone', of: { type: 'duration', least: 1 } },
);

const headerForm: SettingForm = {
  type: 'string',
  takes: 'takes header names',
  pattern: /^[a-z0-9!#$%&'*+.^_`|~-]{1,128}$/i,
  lowerCase: true,
};
export const header = kind<string>(headerName, headerForm);

export function headers(accepts: OptionKind): Kind<readonly string[]> {
  return kind(listOf(accepts), { type: 'list', of: headerForm });
}
