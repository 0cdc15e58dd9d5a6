import { err, ok, type Result } from 'neverthrow';
import { parseDurationNanos } from '../../../src/index.js';
import type { OptionKind } from '../../../src/options/check-options.js';

/** JSON pointer to a fault within a value of the settings file; empty for the value itself. */
export interface Misfit {
  readonly pointer: string;
  /** What is wrong, instead of the kind's `takes`. */
  readonly reason?: string;
}

/** The type of a setting: its form as a string and as JSON. */
export interface Kind {
  /** The error message after the setting's name: `takes HOST:PORT, such as 127.0.0.1:4646`. */
  readonly takes: string;
  /** Parses a string of the command line or the environment. */
  fromText(text: string): Result<unknown, Misfit>;
  /** Validates parsed JSON. */
  fromJson(json: unknown): Result<unknown, Misfit>;
  /** The inverse of `fromJson`. */
  toJson(value: unknown): unknown;
  /** JSON Schema of the input of `fromJson`, which checks more than a schema can express. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** The allowed values, if they are enumerated. */
  readonly choices?: readonly string[];
  /** A path: relative ones in the settings file are relative to its folder. */
  readonly path?: 'file' | 'store';
}

const misfit = err<never, Misfit>({ pointer: '' });

/** Strings that `accepts` maps to a value. */
export function textKind(
  takes: string,
  accepts: (text: string) => string | undefined,
  schema: Readonly<Record<string, unknown>> = {},
): Kind {
  const fromText = (text: string): Result<unknown, Misfit> => {
    const value = accepts(text);
    return value === undefined ? misfit : ok(value);
  };
  return {
    takes,
    fromText,
    fromJson: (json) => (typeof json === 'string' ? fromText(json) : misfit),
    toJson: (value) => value,
    schema: { type: 'string', ...schema },
  };
}

/** Strings of an option kind of the library's factories. */
export function textOf(kind: OptionKind): Kind {
  return textKind(`takes ${kind.takes}`, (text) => (kind.fits(text) ? text : undefined));
}

/** The path of a file or a folder. */
export const fileKind: Kind = {
  ...textKind('takes the path of a file', (text) => (text === '' || text.includes('\0') ? undefined : text), {
    minLength: 1,
  }),
  path: 'file',
};

export const folderKind: Kind = { ...fileKind, takes: 'takes the path of a folder' };

export function oneOf(...words: readonly string[]): Kind {
  const takes = `takes ${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
  const kind = textKind(takes, (text) => (words.includes(text) ? text : undefined));
  return { ...kind, schema: { enum: words }, choices: words };
}

export const flagKind: Kind = {
  takes: 'takes true or false',
  fromText: (text) => (text === 'true' || text === 'false' ? ok(text === 'true') : misfit),
  fromJson: (json) => (typeof json === 'boolean' ? ok(json) : misfit),
  toJson: (value) => value,
  schema: { type: 'boolean' },
  choices: ['true', 'false'],
};

/** Numbers within bounds, both included; whole ones unless `fractions`. */
export function numberKind(minimum: number, maximum: number, fractions: 'whole' | 'fractions' = 'whole'): Kind {
  const fits = (value: unknown): value is number =>
    typeof value === 'number' &&
    value >= minimum &&
    value <= maximum &&
    (fractions === 'fractions' || Number.isInteger(value));
  const fromJson = (json: unknown): Result<unknown, Misfit> => (fits(json) ? ok(json) : misfit);
  return {
    takes: `takes a ${fractions === 'whole' ? 'whole number' : 'number'} from ${minimum} to ${maximum}`,
    fromText: (text) => (/^[0-9]+(?:\.[0-9]+)?$/.test(text) ? fromJson(Number(text)) : misfit),
    fromJson,
    toJson: (value) => value,
    schema: { type: fractions === 'whole' ? 'integer' : 'number', minimum, maximum },
  };
}

const units: readonly (readonly [string, number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
];
const durationPattern = '^(?:0|(?:[0-9]+(?:\\.[0-9]+)?(?:d|h|m|s|ms))+)$';

/** Milliseconds, written as `250ms`, `30s`, `1h30m` or `30d`, at least `least` and at most ten years. */
export function durationKind(least = 0): Kind {
  const base = textKind('', () => undefined);
  const fromText = (text: string): Result<unknown, Misfit> => {
    const value = millisecondsOf(text);
    return value === undefined || value < least || value > 3650 * 86_400_000 ? misfit : ok(value);
  };
  return {
    ...base,
    takes: `takes a duration such as 250ms, 30s, 1h30m or 30d${least > 0 ? `, at least ${durationText(least)}` : ''}`,
    fromText,
    fromJson: (json) => (typeof json === 'string' ? fromText(json) : misfit),
    toJson: (value) => durationText(Number(value)),
    schema: { type: 'string', pattern: durationPattern },
  };
}

function millisecondsOf(text: string): number | undefined {
  if (text.length > 64 || !new RegExp(durationPattern).test(text)) return undefined;
  const [, days, rest = ''] = /^(?:([0-9]+(?:\.[0-9]+)?)d)?(.*)$/.exec(text) ?? [];
  const nanos = rest === '' ? ok(0n) : parseDurationNanos(rest);
  return nanos.map((value) => Math.round(Number(days ?? 0) * 86_400_000 + Number(value) / 1e6)).unwrapOr(undefined);
}

/** `1h30m`: units from days to milliseconds; zero units are omitted. */
export function durationText(milliseconds: number): string {
  let rest = milliseconds;
  let text = '';
  for (const [unit, size] of units) {
    const amount = Math.floor(rest / size);
    rest -= amount * size;
    if (amount > 0) text += `${amount}${unit}`;
  }
  return text === '' ? '0s' : text;
}

/** A list, in a string separated by commas. */
export function listKind(item: Kind): Kind {
  const all = <E>(entries: readonly E[], read: (entry: E) => Result<unknown, Misfit>): Result<unknown, Misfit> => {
    const values: unknown[] = [];
    for (const [position, entry] of entries.entries()) {
      const value = read(entry);
      if (value.isErr()) return err({ pointer: `/${position}${value.error.pointer}` });
      values.push(value.value);
    }
    return ok(values);
  };
  return {
    takes: `${item.takes}, several separated by commas (in the file, a list)`,
    fromText: (text) =>
      all(
        text.split(',').filter((entry) => entry !== ''),
        item.fromText,
      ),
    fromJson: (json) => (Array.isArray(json) && json.length <= 1000 ? all(json, item.fromJson) : misfit),
    toJson: (value) => [value].flat().map(item.toJson),
    schema: { type: 'array', items: item.schema, maxItems: 1000 },
  };
}

/** The kind, or null: `none` in a string, `null` in JSON. */
export function orNone(kind: Kind): Kind {
  return {
    ...kind,
    takes: `${kind.takes}, or none (in the file, null)`,
    fromText: (text) => (text === 'none' ? ok(null) : kind.fromText(text)),
    fromJson: (json) => (json === null ? ok(null) : kind.fromJson(json)),
    toJson: (value) => (value === null ? null : kind.toJson(value)),
    schema: { anyOf: [kind.schema, { type: 'null' }] },
  };
}
