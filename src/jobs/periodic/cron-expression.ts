import { err, ok, type Result } from 'neverthrow';
import { madeOnce, remembered } from '../../shared/remembered.js';

/** The due wall-clock times. Lists are ascending; an empty list never matches. */
export interface CronExpression {
  readonly seconds: readonly number[];
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly daysOfMonth: DaysOfMonth;
  /** 1 to 12. */
  readonly months: readonly number[];
  readonly daysOfWeek: DaysOfWeek;
  readonly years: readonly number[];
}

/** Shorthands, which are replaced anywhere in the expression, in lower case only. */
const SHORTHANDS: Readonly<Record<string, string>> = {
  '@yearly': '0 0 0 1 1 * *',
  '@annually': '0 0 0 1 1 * *',
  '@monthly': '0 0 0 1 * * *',
  '@weekly': '0 0 0 * * 0 *',
  '@daily': '0 0 0 * * * *',
  '@hourly': '0 0 * * * * *',
};

/** The maximum length of an expression, in characters. */
const MAX_LENGTH = 1_000;

/** The fields as strings, in writing order; `rest` is the number of further fields. */
export interface CronFields {
  readonly second: string;
  readonly minute: string;
  readonly hour: string;
  readonly dayOfMonth: string;
  readonly month: string;
  readonly dayOfWeek: string;
  readonly year: string;
  readonly rest: number;
}

/**
 * Splits `minute hour day-of-month month day-of-week`, with a trailing year if there are six fields, and also a leading second
 * if there are seven. Fields after the seventh are ignored.
 */
export function cronFields(text: string): Result<CronFields, string> {
  if (text.length > MAX_LENGTH) return err(`a cron expression may have at most ${MAX_LENGTH} characters`);
  const written = text.replace(/@(?:yearly|annually|monthly|weekly|daily|hourly)/g, (word) => SHORTHANDS[word] ?? word);
  const all = written.match(/[^\t\n\f\r ]+/g) ?? [];
  if (all.length < 5) return err(tooFewFields(text, all.length));
  const fields = all.length >= 7 ? all : ['0', ...all];
  const [second = '', minute = '', hour = '', dayOfMonth = '', month = '', dayOfWeek = '', year = '*'] = fields;
  return ok({ second, minute, hour, dayOfMonth, month, dayOfWeek, year, rest: Math.max(0, all.length - 7) });
}

/** Parses an expression. The error names the invalid field and the reason. The last few hundred results are cached. */
export const parseCron: (text: string) => Result<CronExpression, string> = remembered(parse, 256);

function parse(text: string): Result<CronExpression, string> {
  return cronFields(text).andThen(({ second, minute, hour, dayOfMonth, month, dayOfWeek, year }) =>
    allOf({
      seconds: parseValues(second, 'second'),
      minutes: parseValues(minute, 'minute'),
      hours: parseValues(hour, 'hour'),
      daysOfMonth: parseDayOfMonth(dayOfMonth),
      months: parseValues(month, 'month'),
      daysOfWeek: parseDayOfWeek(dayOfWeek),
      years: parseValues(year, 'year'),
    }),
  );
}

function tooFewFields(text: string, count: number): string {
  return text.includes('@')
    ? 'the only names are @yearly, @annually, @monthly, @weekly, @daily and @hourly'
    : `a cron expression has five to seven fields, not ${count}`;
}

/** The values of all fields, or the first error in writing order. */
function allOf<F>(fields: { readonly [K in keyof F]: Result<F[K], string> }): Result<F, string> {
  const values: Partial<F> = {};
  for (const name in fields) {
    const field = fields[name];
    if (field.isErr()) return err(field.error);
    values[name] = field.value;
  }
  return ok(values as F);
}

export interface DaysOfMonth {
  /** False when every day will do (`*`, `?`). */
  readonly restricted: boolean;
  /** 1 to 31. */
  readonly days: readonly number[];
  /** `L`: the last day. */
  readonly last: boolean;
  /** `LW`: the last day from Monday to Friday. */
  readonly lastWorkday: boolean;
  /** `15W`: the nearest days from Monday to Friday to these. */
  readonly workdaysNear: readonly number[];
}

export interface DaysOfWeek {
  /** False when every day will do (`*`, `?`). */
  readonly restricted: boolean;
  /** 0 (Sunday) to 6. */
  readonly days: readonly number[];
  /** `5L`: the last such day of the month. */
  readonly last: readonly number[];
  /** `5#3`: the third Friday of the month. */
  readonly nth: readonly { readonly day: number; readonly week: number }[];
}

export type FieldName = 'second' | 'minute' | 'hour' | 'day-of-month' | 'month' | 'day-of-week' | 'year';

interface Field {
  readonly name: FieldName;
  readonly least: number;
  readonly greatest: number;
  /** Matches a single value, ignoring case. */
  readonly pattern: string;
  readonly names: ReadonlyMap<string, number>;
  /** `*`, a value or a range, each with an optional interval. */
  readonly entry: () => RegExp;
}

/** One of the comma-separated entries of a field. */
export type CronEntry =
  | { readonly kind: 'any'; readonly text: string }
  | { readonly kind: 'value'; readonly text: string; readonly value: number }
  | {
      readonly kind: 'range';
      readonly text: string;
      readonly from: number;
      readonly to: number;
      readonly step: number;
    }
  /** A form that only the day fields have. */
  | { readonly kind: 'other'; readonly text: string };

const monthNames = named(
  [
    'january',
    'february',
    'march',
    'april',
    'may',
    'june',
    'july',
    'august',
    'september',
    'october',
    'november',
    'december',
  ],
  1,
);
const dayNames = named(['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'], 0);

const FIELDS: Readonly<Record<FieldName, Field>> = {
  second: field('second', [0, 59], '0?[0-9]|[1-5][0-9]'),
  minute: field('minute', [0, 59], '0?[0-9]|[1-5][0-9]'),
  hour: field('hour', [0, 23], '0?[0-9]|1[0-9]|2[0-3]'),
  'day-of-month': field('day-of-month', [1, 31], '0?[1-9]|[12][0-9]|3[01]'),
  month: field('month', [1, 12], '0?[1-9]|1[0-2]', monthNames),
  // A digit after a zero is read as Sunday, as in Nomad: `05` does not mean Friday.
  'day-of-week': field(
    'day-of-week',
    [0, 6],
    '0?[0-7]',
    new Map([...dayNames, ['7', 0], ...Array.from({ length: 8 }, (_, day) => [`0${day}`, 0] as const)]),
  ),
  year: field('year', [1970, 2099], '19[789][0-9]|20[0-9]{2}'),
};

/** The values of a field, ascending. */
function parseValues(text: string, name: Exclude<FieldName, 'day-of-month' | 'day-of-week'>): Result<number[], string> {
  const { least, greatest } = FIELDS[name];
  return parseEntries(text, FIELDS[name]).andThen((entries) => {
    const strange = entries.find((entry) => entry.kind === 'other');
    if (strange !== undefined) return err(invalidValue(strange.text, name));
    if (entries.some(({ kind }) => kind === 'any')) return ok(range(least, greatest, 1));
    return ok(ascending(entries.flatMap(valuesOf)));
  });
}

function parseDayOfMonth(text: string): Result<DaysOfMonth, string> {
  return parseEntries(text, FIELDS['day-of-month']).andThen((entries) => {
    const workdaysNear: number[] = [];
    const words = new Set<string>();
    for (const entry of entries) {
      if (entry.kind !== 'other') continue;
      const [, day] = /^(0?[1-9]|[12][0-9]|3[01])w$/i.exec(entry.text) ?? [];
      if (day !== undefined) workdaysNear.push(Number(day));
      else if (/^lw?$/i.test(entry.text)) words.add(entry.text.toLowerCase());
      else return err(invalidValue(entry.text, 'day-of-month'));
    }
    return ok({
      restricted: !entries.some(({ kind }) => kind === 'any'),
      days: ascending(entries.flatMap(valuesOf)),
      last: words.has('l'),
      lastWorkday: words.has('lw'),
      workdaysNear,
    });
  });
}

function parseDayOfWeek(text: string): Result<DaysOfWeek, string> {
  const week = FIELDS['day-of-week'];
  const special = new RegExp(`^(${week.pattern})(?:l|#([1-5]))$`, 'i');
  return parseEntries(text, week).andThen((entries) => {
    const last: number[] = [];
    const nth: { day: number; week: number }[] = [];
    for (const entry of entries) {
      if (entry.kind !== 'other') continue;
      const [, day, ordinal] = special.exec(entry.text) ?? [];
      if (day === undefined) return err(invalidValue(entry.text, 'day-of-week'));
      if (ordinal === undefined) last.push(numberOf(day, week));
      else nth.push({ day: numberOf(day, week), week: Number(ordinal) });
    }
    return ok({
      restricted: !entries.some(({ kind }) => kind === 'any'),
      days: ascending(entries.map(untilSaturday).flatMap(valuesOf)),
      last,
      nth,
    });
  });
}

/** A range that ends on Sunday, written 0 or 7, ends on Saturday: `5-7` is Friday and Saturday, `0-0` the whole week. */
function untilSaturday(entry: CronEntry): CronEntry {
  return entry.kind === 'range' && entry.to === 0 ? { ...entry, to: 6 } : entry;
}

/** The entries of a field as written. */
export function entriesOf(text: string, name: FieldName): readonly CronEntry[] {
  return parseEntries(text, FIELDS[name]).unwrapOr([]);
}

/** The number of values of a field. */
export function fieldSpan(name: FieldName): number {
  return FIELDS[name].greatest - FIELDS[name].least + 1;
}

function parseEntries(text: string, of: Field): Result<CronEntry[], string> {
  const texts = text.split(',').filter((each) => each !== '');
  if (texts.length === 0) return err(`the ${of.name} field is empty`);
  const entries: CronEntry[] = [];
  for (const each of texts) {
    const entry = parseEntry(each, of);
    if (entry.isErr()) return err(entry.error);
    entries.push(entry.value);
  }
  return ok(entries);
}

function parseEntry(text: string, of: Field): Result<CronEntry, string> {
  if (text === '*' || text === '?') return ok({ kind: 'any', text });
  const match = of.entry().exec(text);
  if (match === null) return ok({ kind: 'other', text });
  const [, first, last, interval] = match;
  const step = interval === undefined ? 1 : stepOf(interval, of);
  if (step === undefined) {
    return err(`the interval of ${JSON.stringify(text)} in the ${of.name} field must be from 1 to ${of.greatest}`);
  }
  const from = first === undefined ? of.least : numberOf(first, of);
  if (interval === undefined && last === undefined) return ok({ kind: 'value', text, value: from });
  return ok({ kind: 'range', text, from, to: last === undefined ? of.greatest : numberOf(last, of), step });
}

/** One or two digits up to 59, or a year; other numbers are invalid intervals. */
function stepOf(text: string, { greatest }: Field): number | undefined {
  const step = /^(?:[0-5]?[0-9]|19[789][0-9]|20[0-9]{2})$/.test(text) ? Number(text) : 0;
  return step >= 1 && step <= greatest ? step : undefined;
}

function numberOf(text: string, { names }: Field): number {
  return names.get(text.toLowerCase()) ?? Number(text);
}

function valuesOf(entry: CronEntry): readonly number[] {
  if (entry.kind === 'value') return [entry.value];
  return entry.kind === 'range' ? range(entry.from, entry.to, entry.step) : [];
}

function range(from: number, to: number, step: number): number[] {
  return Array.from({ length: Math.max(0, Math.floor((to - from) / step) + 1) }, (_, at) => from + at * step);
}

function ascending(values: readonly number[]): number[] {
  return [...new Set(values)].sort((a, b) => a - b);
}

function invalidValue(entry: string, name: FieldName): string {
  return `invalid value ${JSON.stringify(entry)} in the ${name} field`;
}

/** Names may be abbreviated to three letters. */
function named(names: readonly string[], first: number): ReadonlyMap<string, number> {
  return new Map(names.flatMap((name, at) => [name, name.slice(0, 3)].map((each) => [each, first + at] as const)));
}

function field(
  name: FieldName,
  [least, greatest]: readonly [least: number, greatest: number],
  digits: string,
  names: ReadonlyMap<string, number> = new Map(),
): Field {
  const words = [...names.keys()].filter((each) => /^[a-z]+$/.test(each));
  const pattern = [digits, ...words].join('|');
  const entry = madeOnce(() => new RegExp(`^(?:\\*|(${pattern})(?:-(${pattern}))?)(?:/(\\d+))?$`, 'i'));
  return { name, least, greatest, pattern, names, entry };
}
