import { err, ok, type Result } from 'neverthrow';
import { parseDurationNanos } from '../../../shared/duration.js';
import { own } from '../../../shared/values.js';
import { type HclValue, stringType, stringValue } from '../../values/value.js';
import { shortened, textAt } from '../arguments.js';
import {
  type CallResult,
  defineFunction,
  type EagerFunction,
  type FunctionError,
  fail,
  failArgument,
  parameter,
  perCharacter,
} from '../function.js';

export const dateFunctions: readonly EagerFunction[] = [
  defineFunction('formatdate', [parameter('format', stringType), parameter('timestamp', stringType)], formatDate, {
    cost: (args) => 10 + perCharacter(3)(args),
  }),
  defineFunction('timeadd', [parameter('timestamp', stringType), parameter('duration', stringType)], timeAdd, {
    cost: 35,
  }),
];

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** A quote, which is written twice, a quoted literal, a run of one letter, or anything else. */
const PIECE = /'(|[^'](?:[^']|'')*)'|([a-zA-Z])\2*|[^'a-zA-Z]+/y;

function formatDate(args: readonly HclValue[]): CallResult {
  const time = parseTimestamp(textAt(args, 1));
  if (time === undefined) return failArgument(1, notATimestamp(textAt(args, 1)));
  const pattern = textAt(args, 0);
  let text = '';
  for (let at = 0; at < pattern.length; at = PIECE.lastIndex) {
    PIECE.lastIndex = at;
    const match = PIECE.exec(pattern);
    if (match === null) return failArgument(0, `the literal that starts at offset ${at} has no closing quote`);
    const [piece, literal, letter] = match;
    if (letter !== undefined) {
      const field = dateField(piece, time);
      if (field.isErr()) return err(field.error);
      text += field.value;
    } else if (literal !== undefined) {
      text += literal === '' ? "'" : literal.replaceAll("''", "'");
    } else text += piece;
  }
  return ok(stringValue(text));
}

function dateField(code: string, { local, offsetMinutes }: ZonedTime): Result<string, FunctionError> {
  const field = own(FIELDS, code);
  if (field !== undefined) return ok(field(new Date(local), offsetMinutes));
  const given = JSON.stringify(shortened(code));
  return failArgument(0, `unknown date code ${given}; put literal letters between single quotes`);
}

/** What the codes of a date format show of its local fields, and of the minutes that they are ahead of UTC. */
const FIELDS: Readonly<Record<string, (date: Date, offset: number) => string>> = {
  YYYY: (date) => String(date.getUTCFullYear()).padStart(4, '0'),
  YY: (date) => twoDigits(date.getUTCFullYear() % 100),
  MMMM: (date) => MONTHS[date.getUTCMonth()] ?? '',
  MMM: (date) => (MONTHS[date.getUTCMonth()] ?? '').slice(0, 3),
  MM: (date) => twoDigits(date.getUTCMonth() + 1),
  M: (date) => String(date.getUTCMonth() + 1),
  DD: (date) => twoDigits(date.getUTCDate()),
  D: (date) => String(date.getUTCDate()),
  EEEE: (date) => WEEKDAYS[date.getUTCDay()] ?? '',
  EEE: (date) => (WEEKDAYS[date.getUTCDay()] ?? '').slice(0, 3),
  hh: (date) => twoDigits(date.getUTCHours()),
  h: (date) => String(date.getUTCHours()),
  HH: (date) => twoDigits(twelfthOf(date)),
  H: (date) => String(twelfthOf(date)),
  AA: (date) => (date.getUTCHours() < 12 ? 'AM' : 'PM'),
  aa: (date) => (date.getUTCHours() < 12 ? 'am' : 'pm'),
  mm: (date) => twoDigits(date.getUTCMinutes()),
  m: (date) => String(date.getUTCMinutes()),
  ss: (date) => twoDigits(date.getUTCSeconds()),
  s: (date) => String(date.getUTCSeconds()),
  ZZZZZ: (_, offset) => offsetText(offset, ':'),
  ZZZZ: (_, offset) => offsetText(offset, ''),
  ZZZ: (_, offset) => (offset === 0 ? 'UTC' : offsetText(offset, '')),
  Z: (_, offset) => (offset === 0 ? 'Z' : offsetText(offset, ':')),
};

/** The hour from 1 to 12. */
function twelfthOf(date: Date): number {
  return date.getUTCHours() % 12 || 12;
}

function timeAdd(args: readonly HclValue[]): CallResult {
  const time = parseTimestamp(textAt(args, 0));
  if (time === undefined) return fail(notATimestamp(textAt(args, 0)));
  const duration = parseDurationNanos(textAt(args, 1)).unwrapOr(undefined);
  if (duration === undefined) {
    return fail(`invalid duration ${JSON.stringify(shortened(textAt(args, 1)))}; write one like "1h30m" or "-10s"`);
  }
  const total = BigInt(time.local) * 1_000_000n + BigInt(time.nanoseconds) + duration;
  const second = 1_000_000_000n;
  const seconds = total / second - (total % second < 0n ? 1n : 0n);
  const text = timestampText({ ...time, local: Number(seconds) * 1000 });
  return text === undefined ? fail('the result is outside the years 0 to 9999') : ok(stringValue(text));
}

function notATimestamp(text: string): string {
  return `invalid timestamp ${JSON.stringify(shortened(text))}; write RFC 3339 like "2006-01-02T15:04:05Z"`;
}

/** A point of wall-clock time as RFC 3339 writes it: local fields, and how far they are ahead of UTC. */
interface ZonedTime {
  /** Milliseconds since 1970 of the local fields read as UTC, whole seconds only. */
  readonly local: number;
  /** Nanoseconds within the second. */
  readonly nanoseconds: number;
  readonly offsetMinutes: number;
}

/** Parses an RFC 3339 timestamp; undefined for anything else. Impossible dates, a 24th hour and leap seconds are rejected. */
function parseTimestamp(text: string): ZonedTime | undefined {
  const match = TIMESTAMP.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = '', sign, offsetHour, offsetMinute] = match.map(
    (part) => part,
  );
  const local = localTime([year, month, day, hour, minute, second].map(Number));
  const ahead = Number(offsetHour ?? 0) * 60 + Number(offsetMinute ?? 0);
  if (local === undefined || Number(offsetHour ?? 0) > 23 || Number(offsetMinute ?? 0) > 59) return undefined;
  return {
    local,
    nanoseconds: Number(fraction.slice(0, 9).padEnd(9, '0')),
    offsetMinutes: sign === '-' ? -ahead : ahead,
  };
}

/** RFC 3339 with whole seconds; undefined when the year does not fit into four digits. */
export function timestampText({ local, offsetMinutes }: ZonedTime): string | undefined {
  const iso = Number.isFinite(local) && Math.abs(local) <= 8.64e15 ? new Date(local).toISOString() : '';
  if (!/^\d{4}-/.test(iso)) return undefined;
  return `${iso.slice(0, 19)}${offsetMinutes === 0 ? 'Z' : offsetText(offsetMinutes, ':')}`;
}

/** `+02:00`, or `+0200` with no separator. */
function offsetText(minutes: number, separator: string): string {
  const absolute = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${twoDigits(Math.floor(absolute / 60))}${separator}${twoDigits(absolute % 60)}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

/** Upper bounds of year, month, day, hour, minute and second; a day is also checked against its month. */
const LARGEST: readonly number[] = [9999, 12, 31, 23, 59, 59];

/** Milliseconds since 1970 of year, month (1 to 12), day, hour, minute and second; undefined when one is out of range. */
export function localTime(fields: readonly number[]): number | undefined {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = fields;
  if (month < 1 || fields.some((field, at) => field > (LARGEST[at] ?? 0))) return undefined;
  const date = new Date(0);
  // Date.UTC would interpret a two-digit year as one of the twentieth century.
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  return date.setUTCHours(hour, minute, second);
}

const TIMESTAMP = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:Z|([+-])(\d{2}):(\d{2}))$/;
