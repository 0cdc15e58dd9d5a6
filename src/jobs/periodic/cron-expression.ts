import { err, ok, type Result } from 'neverthrow';
import { remembered } from '../../shared/remembered.js';
import { type DaysOfMonth, type DaysOfWeek, parseDayOfMonth, parseDayOfWeek, parseValues } from './cron-fields.js';

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
