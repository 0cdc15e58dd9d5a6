import { encodeKey } from '../../src/storage/keys.js';
import { type SqliteStatement, withValues } from './sqlite-handle.js';

/*
 * Tables whose keys are whole numbers: the number is SQLite's own row number, so that rows need no index over their keys.
 * Everything outside of these statements continues working with encoded keys.
 */

const digits = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';
/** By character; 64 for what is no digit. */
const valueOfDigit = new Uint8Array(128).fill(64);
for (const [value, digit] of Array.from(digits).entries()) valueOfDigit[digit.charCodeAt(0)] = value;
const numberMark = 'n'.charCodeAt(0);
const encodedLength = 12;
const bits = new DataView(new ArrayBuffer(8));

/** The number of an encoded single-number key. Throws for other keys, which the table cannot have. */
export function numberOfKey(rowKey: string): number {
  const number = numberFrom(rowKey);
  if (number === undefined || !Number.isSafeInteger(number) || number < 0) {
    throw new Error('A key of this table must be one non-negative integer.');
  }
  return number;
}

/** Above every number of a key. */
const pastAllNumbers = 2 ** 53;

/** The least whole number whose encoded key is not less than the string, which may be any bound of a query. */
export function numberFromBound(text: string): number {
  const exact = numberFrom(text);
  if (exact !== undefined) return Math.max(0, Math.ceil(Math.min(exact, pastAllNumbers)));
  // Encoded numbers begin with n: any other string, such as that of an unbounded query, sorts before or after all of them.
  if (text < 'n') return 0;
  if (text >= 'o') return pastAllNumbers;
  let [least, most] = [0, pastAllNumbers];
  while (least < most) {
    const middle = least + Math.floor((most - least) / 2);
    if ((encodeKey([middle]) as string) < text) least = middle + 1;
    else most = middle;
  }
  return least;
}

/** The number that a string encodes, if it is one number and nothing else; see `encodeKey`. */
function numberFrom(text: string): number | undefined {
  if (text.length !== encodedLength || text.charCodeAt(0) !== numberMark) return undefined;
  let high = 0;
  let low = 0;
  for (let place = 1; place < encodedLength; place += 1) {
    const value = valueOfDigit[text.charCodeAt(place)] ?? 64;
    if (value === 64) return undefined;
    // The sixth digit has the last four bits of the upper half and the first two of the lower one.
    if (place < 6) high = (high << 6) | value;
    else if (place > 6) low = (low << 6) | value;
    else {
      high = (high << 4) | (value >>> 2);
      low = value & 3;
    }
  }
  const isPositive = high >>> 31 === 1;
  bits.setUint32(0, isPositive ? high & 0x7fffffff : ~high >>> 0);
  bits.setUint32(4, isPositive ? low >>> 0 : ~low >>> 0);
  return bits.getFloat64(0);
}
/** The statement with its only value, an encoded key, as a number. */
export function byNumber(statement: SqliteStatement): Pick<SqliteStatement, 'get'> {
  return { get: (rowKey) => statement.get(numberOfKey(rowKey as string)) };
}

/** The insertion of a row, whose first value is an encoded key, with its number before that. */
export function insertedByNumber(statement: SqliteStatement): Pick<SqliteStatement, 'run'> {
  return { run: (...values) => statement.run(numberOfKey(values[0] as string), ...values) };
}

/** The scan with its bounds, the first two values, as numbers. */
export function betweenNumbers(scan: SqliteStatement): SqliteStatement {
  return withValues(scan, ([lower, upper, ...rest]) => [
    numberFromBound(lower as string),
    numberFromBound(upper as string),
    ...rest,
  ]);
}
