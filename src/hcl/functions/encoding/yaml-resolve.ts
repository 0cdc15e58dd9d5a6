import { isBase64 } from '../../../shared/values.js';
import { parseNumber } from '../../values/number.js';
import type { HclValue } from '../../values/value.js';
import { dynamicNull, falseValue, numberValue, stringValue, trueValue } from '../../values/value.js';
import { localTime, timestampText } from '../dates/dates.js';

/**
 * The value of a scalar; undefined if it does not fit its tag, or if it is not a number (`.nan`). A tag only decides between
 * several possible meanings: a quoted string stays a string, and a word or a number keeps its type.
 */
export function resolveScalar(text: string, tag: string | undefined, quoted: boolean): HclValue | undefined {
  if (tag === '!' || tag === '!!str') return stringValue(text);
  if (tag === '!!binary') return isBase64(text.replace(/[\r\n]/g, '')) ? stringValue(text) : undefined;
  if (tag !== undefined && !TAGS.has(tag)) return undefined;
  if (quoted && SPECIAL_START.test(text)) return stringValue(text);
  if (tag === undefined && /^[-+]?\.(?:nan|NaN|NAN)$/.test(text)) return undefined;
  return resolvePlain(text, tag) ?? resolveTagged(text, tag);
}

const TAGS: ReadonlySet<string> = new Set(['!!bool', '!!null', '!!int', '!!float', '!!timestamp']);

/** The beginning of a string that may be a word, a number or a date. */
const SPECIAL_START = /^(?:$|[-+0-9.yYnNtTfFoO~])/;

/** Resolves, by its tag, a scalar that is neither a word, a date nor an untagged number. */
function resolveTagged(text: string, tag: string | undefined): HclValue | undefined {
  switch (tag) {
    case undefined:
      return stringValue(text);
    case '!!null':
      return dynamicNull;
    case '!!int':
    case '!!float':
      return resolveNumber(text);
    default:
      return undefined;
  }
}

const WORDS: ReadonlyMap<string, HclValue> = new Map<string, HclValue>([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map(
    (word) => [word, trueValue] as const,
  ),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map(
    (word) => [word, falseValue] as const,
  ),
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, dynamicNull] as const),
]);

/** Words, numbers and dates; undefined for any other string. */
function resolvePlain(text: string, tag: string | undefined): HclValue | undefined {
  const word = WORDS.get(text);
  if (word !== undefined || !/^[-+.\d]/.test(text)) return word;
  const time = tag === undefined || tag === '!!timestamp' ? resolveTimestamp(text) : undefined;
  return time ?? (NUMBER.test(text) ? resolveNumber(text) : undefined);
}

/** Form of a number without a tag. */
const NUMBER =
  /^[-+]?(?:[0-9_]+|0o[0-7_]+|0x[0-9a-fA-F_]+|(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|\.(?:inf|Inf|INF))$/;

function resolveNumber(text: string): HclValue | undefined {
  const infinite = /^([-+]?)\.(?:inf|Inf|INF)$/.exec(text);
  if (infinite !== null) return numberValue(infinite[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY);
  const plain = text.replaceAll('_', '');
  const based = /^([-+]?)(0x[0-9a-fA-F]{1,64}|0o[0-7]{1,64}|0b[01]{1,64})$/.exec(plain);
  const number = based === null ? parseNumber(plain) : parseNumber(`${based[1]}${BigInt(based[2] ?? '0')}`);
  return number === undefined || !/\d/.test(plain) ? undefined : numberValue(number);
}

const TIMESTAMP =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:(?:[Tt](\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.\d+)?(?:Z|([+-])(\d{2}):(\d{2})))| (\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.\d+)?)?$/;

/** Dates and times become RFC 3339 text; without a zone they are in UTC. */
function resolveTimestamp(text: string): HclValue | undefined {
  const match = TIMESTAMP.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, sign, offsetHour, offsetMinute, h, m, s] = match.map((part) => part);
  const local = localTime([year, month, day, hour ?? h ?? 0, minute ?? m ?? 0, second ?? s ?? 0].map(Number));
  if (local === undefined) return undefined;
  const shown = timestampText({ local, nanoseconds: 0, offsetMinutes: minutesAhead(sign, offsetHour, offsetMinute) });
  return shown === undefined ? undefined : stringValue(shown);
}

/** Offset of a zone from UTC, in minutes; positive east of Greenwich. */
function minutesAhead(sign: string | undefined, hours = '0', minutes = '0'): number {
  const ahead = Number(hours) * 60 + Number(minutes);
  return sign === '-' ? -ahead : ahead;
}
