import type { Result } from 'neverthrow';
import { err, ok } from 'neverthrow';
import { parseDurationNanos } from '../../../shared/duration.js';
import type { HclValue } from '../../values/value.js';
import { stringType, stringValue } from '../../values/value.js';
import { shortened, textAt } from '../arguments.js';
import type { CallResult, EagerFunction, FunctionError } from '../function.js';
import { defineFunction, fail, failArgument, parameter, perCharacter } from '../function.js';
import type { ZonedTime } from './instant-text.js';
import { offsetText, parseTimestamp, timestampText, twoDigits } from './instant-text.js';

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
  const date = new Date(local);
  const hour = date.getUTCHours();
  const twelve = hour % 12 === 0 ? 12 : hour % 12;
  switch (code) {
    case 'YYYY':
      return ok(String(date.getUTCFullYear()).padStart(4, '0'));
    case 'YY':
      return ok(twoDigits(date.getUTCFullYear() % 100));
    case 'MMMM':
      return ok(MONTHS[date.getUTCMonth()] ?? '');
    case 'MMM':
      return ok((MONTHS[date.getUTCMonth()] ?? '').slice(0, 3));
    case 'MM':
      return ok(twoDigits(date.getUTCMonth() + 1));
    case 'M':
      return ok(String(date.getUTCMonth() + 1));
    case 'DD':
      return ok(twoDigits(date.getUTCDate()));
    case 'D':
      return ok(String(date.getUTCDate()));
    case 'EEEE':
      return ok(WEEKDAYS[date.getUTCDay()] ?? '');
    case 'EEE':
      return ok((WEEKDAYS[date.getUTCDay()] ?? '').slice(0, 3));
    case 'hh':
      return ok(twoDigits(hour));
    case 'h':
      return ok(String(hour));
    case 'HH':
      return ok(twoDigits(twelve));
    case 'H':
      return ok(String(twelve));
    case 'AA':
      return ok(hour < 12 ? 'AM' : 'PM');
    case 'aa':
      return ok(hour < 12 ? 'am' : 'pm');
    case 'mm':
      return ok(twoDigits(date.getUTCMinutes()));
    case 'm':
      return ok(String(date.getUTCMinutes()));
    case 'ss':
      return ok(twoDigits(date.getUTCSeconds()));
    case 's':
      return ok(String(date.getUTCSeconds()));
    case 'ZZZZZ':
      return ok(offsetText(offsetMinutes, ':'));
    case 'ZZZZ':
      return ok(offsetText(offsetMinutes, ''));
    case 'ZZZ':
      return ok(offsetMinutes === 0 ? 'UTC' : offsetText(offsetMinutes, ''));
    case 'Z':
      return ok(offsetMinutes === 0 ? 'Z' : offsetText(offsetMinutes, ':'));
    default:
      return failArgument(
        0,
        `unknown date code ${JSON.stringify(shortened(code))}; put literal letters between single quotes`,
      );
  }
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
