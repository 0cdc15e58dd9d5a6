import { err, ok, type Result } from 'neverthrow';
import { remembered } from '../../shared/remembered.js';
import { type DaysOfMonth, type DaysOfWeek, parseDayOfMonth, parseDayOfWeek, parseValues } from './cron-fields.js';

/** When something is due, as wall clock times. Lists are ascending; an empty one is never matched. */
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

/** Names of whole expressions. They are replaced anywhere in the text, in lower case only. */
const SHORTHANDS: Readonly<Record<string, string>> = {
  '@yearly': '0 0 0 1 1 * *',
  '@annually': '0 0 0 1 1 * *',
  '@monthly': '0 0 0 1 * * *',
  '@weekly': '0 0 0 * * 0 *',
  '@daily': '0 0 0 * * * *',
  '@hourly': '0 0 * * * * *',
};

/** Characters of an expression. */
const MAX_LENGTH = 1_000;

/** The strings of the fields in the order in which they are written; `rest` counts what follows them. */
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
 * Splits `minute hour day-of-month month day-of-week`, with a trailing year when there are six fields, and a leading second besides
 * when there are seven. Fields after the seventh mean nothing.
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

/** Reads an expression. The error says which field cannot be read and why. The last few hundred are kept. */
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
    ? 'the only words are @yearly, @annually, @monthly, @weekly, @daily and @hourly'
    : `a cron expression has five to seven fields, not ${count}`;
}

/** The values of all fields, or the first error in the order in which they are written. */
function allOf<F>(fields: { readonly [K in keyof F]: Result<F[K], string> }): Result<F, string> {
  const values: Partial<F> = {};
  for (const name in fields) {
    const field = fields[name];
    if (field.isErr()) return err(field.error);
    values[name] = field.value;
  }
  return ok(values as F);
}
