/* Kinds of settings, and what follows from their description here; what follows from it for a server is in `adapters/cli/settings`. */
import type { Milliseconds } from '../shared/duration.js';
import type { OptionKind, OptionTable } from './check-options.js';
import { amount, either, flag, group, headerName, listOf, milliseconds, oneOf, optional } from './option-kinds.js';

/** The description of one setting of the engine. */
export interface EngineSetting<V> {
  /** The value without an override. */
  readonly default: V;
  /** @internal What `createEngine` accepts: often more than a server, such as Infinity. */
  readonly accepts: OptionKind;
  /** @internal What a server accepts; absent when it cannot be one value of a command line. */
  readonly form?: SettingForm;
}

/** The description of a setting in milliseconds. */
export interface DurationSetting extends EngineSetting<Milliseconds> {}

/** The type and range of the values that a server accepts. */
type SettingForm =
  | { readonly type: 'duration'; readonly least: Milliseconds }
  | { readonly type: 'whole'; readonly least: number; readonly most: number }
  | { readonly type: 'fraction'; readonly most: number }
  | { readonly type: 'choice'; readonly words: readonly string[] }
  | { readonly type: 'durations' | 'durationOrNull' | 'flag' | 'string' | 'name' | 'header' | 'headers' };

/** The value of a described setting; of a group, the values of its settings. */
export type ValuesOf<T> = T extends EngineSetting<infer V> ? V : { readonly [K in keyof T]: ValuesOf<T[K]> };

/** Settings and further groups, by name. */
export type SettingGroup = { readonly [name: string]: EngineSetting<unknown> | SettingGroup };

export function isSetting(row: EngineSetting<unknown> | SettingGroup): row is EngineSetting<unknown> {
  return 'accepts' in row;
}

/** The given values, and the defaults of those that are not given. */
export function valuesOf<T extends SettingGroup>(settings: T, given: object = {}): ValuesOf<T> {
  const entries = Object.entries(settings).map(([name, row]) => {
    const value: unknown = Reflect.get(given, name);
    if (!isSetting(row)) return [name, valuesOf(row, value as object | undefined)];
    return [name, value === undefined ? row.default : value];
  });
  return Object.fromEntries(entries) as ValuesOf<T>;
}

/** The option table of overrides: none is required. */
export function optionsOf<T extends SettingGroup>(settings: T): OptionTable<ValuesOf<T>> {
  const entries = Object.entries(settings).map(([name, row]) => {
    return [name, optional(isSetting(row) ? row.accepts : group<object>(optionsOf(row)))];
  });
  return Object.fromEntries(entries) as OptionTable<ValuesOf<T>>;
}

const nothing: OptionKind = { takes: 'null', fits: (value) => value === null };

function setting<V>(standard: V, accepts: OptionKind, form: SettingForm): EngineSetting<V> {
  return { default: standard, accepts, form };
}

/** A server accepts at least `least` milliseconds. */
export function ms(standard: Milliseconds, least = 1, accepts = amount): DurationSetting {
  return setting(standard, accepts, { type: 'duration', least });
}

/** Durations in a list; each may be zero. */
export function durations(standard: readonly Milliseconds[]): EngineSetting<readonly Milliseconds[]> {
  return setting(standard, listOf(milliseconds), { type: 'durations' });
}

export function durationOrNull(standard: Milliseconds | null): EngineSetting<Milliseconds | null> {
  return setting(standard, either(milliseconds, nothing), { type: 'durationOrNull' });
}

/** A server accepts whole numbers from `least` to `most`. */
export function whole(standard: number, most = 1_000_000, least = 1, accepts = amount): EngineSetting<number> {
  return setting(standard, accepts, { type: 'whole', least, most });
}

/** A server accepts numbers from 0 to `most`. */
export function fraction(standard: number, most = 100_000, accepts = amount): EngineSetting<number> {
  return setting(standard, accepts, { type: 'fraction', most });
}

export function onOff(standard: boolean): EngineSetting<boolean> {
  return setting(standard, flag, { type: 'flag' });
}

/** The first word is the default. */
export function choice<const W extends readonly [string, ...string[]]>(
  ...words: W
): EngineSetting<W[number]> & { readonly words: W } {
  return { default: words[0], accepts: oneOf(...words), words, form: { type: 'choice', words } };
}

/** A server accepts the same strings, unless they are names or headers. */
export function string(
  standard: string,
  accepts: OptionKind,
  type: 'string' | 'name' | 'header' = 'string',
): EngineSetting<string> {
  return setting(standard, accepts, { type });
}

export function headers(standard: readonly string[], accepts = headerName): EngineSetting<readonly string[]> {
  return setting(standard, listOf(accepts), { type: 'headers' });
}

export function rules<R extends object>(table: OptionTable<R>): EngineSetting<readonly R[]> {
  return { default: [], accepts: listOf(group(table)) };
}
