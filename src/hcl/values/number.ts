import { decimalText } from '../../shared/source-text.js';
import {
  alignTo,
  type BigFloat,
  COUNT_PRECISION,
  DOUBLE_PRECISION,
  FULL_PRECISION,
  fromBigInt,
  fromDouble,
  type HclNumber,
  MAX_EXPONENT_BITS,
  MAX_SAFE,
  parts,
  quotient,
  roundedNumber,
  roundShift,
  scaleByPowerOfTwo,
} from './big-float.js';
import { bitLength, shortestDigits } from './number-text.js';

const MAX_DIGITS = 20_000;

/**
 * Parses a decimal: an optional sign, digits with at most one point, an optional exponent; also `Inf`. No spaces.
 *
 * @returns the nearest number of 512 bits, or undefined if the string is not a number or is out of range
 */
export function parseNumber(text: string): HclNumber | undefined {
  if (text.length <= 15 && PLAIN_DIGITS.test(text)) return Number(text);
  const infinite = INFINITY_TEXT.exec(text);
  if (infinite !== null) return infinite[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  const parts = decimalParts(text);
  if (parts === undefined) return undefined;
  const { negative, digits, tens, twos } = parts;
  if (digits === '') return negative ? -0 : 0;
  // The leading digit of such a number is already out of range, so the power of ten is not computed.
  if (tens + digits.length > MAX_DIGITS || tens < -2 * MAX_DIGITS) return undefined;
  const magnitude = BigInt(digits);
  const mantissa = negative ? -magnitude : magnitude;
  const exact =
    tens >= 0
      ? roundedNumber(mantissa * 10n ** BigInt(tens), twos, FULL_PRECISION)
      : quotient(mantissa, 10n ** BigInt(-tens), twos);
  return exact.unwrapOr(undefined);
}

/** A number as written: `digits` without leading zeros (none for zero), times a power of ten and a power of two. */
interface DecimalParts {
  readonly negative: boolean;
  readonly digits: string;
  readonly tens: number;
  readonly twos: number;
}

function decimalParts(text: string): DecimalParts | undefined {
  const parts = text.length <= MAX_DIGITS ? DECIMAL.exec(text) : null;
  if (parts === null) return undefined;
  const [, sign, whole = '', fraction = '', , binary, exponentText = '0'] = parts;
  const written = whole + fraction;
  if (written === '') return undefined;
  const negative = sign === '-';
  const digits = written.replace(/^0+/, '');
  const scale = Number(exponentText);
  if (Math.abs(scale) > MAX_EXPONENT_BITS && digits !== '') return undefined;
  return binary === undefined
    ? { negative, digits, tens: scale - fraction.length, twos: 0 }
    : { negative, digits, tens: -fraction.length, twos: scale };
}

/** A whole number at the precision of counts: lengths, positions, loop indexes. `count` must be a safe integer. */
export function countNumber(count: number): HclNumber {
  const known = count >= 0 ? SMALL_COUNTS[count] : undefined;
  if (known !== undefined) return known;
  const made = fromBigInt(BigInt(count), COUNT_PRECISION);
  if (count >= 0 && count < 256) SMALL_COUNTS[count] = made;
  return made;
}

/** A whole number of any length, exact, with at least the precision of counts. */
export function integerNumber(value: bigint): HclNumber {
  const bits = bitLength(value < 0n ? -value : value);
  return fromBigInt(value, Math.max(COUNT_PRECISION, bits));
}

/** A double with the precision of a double; undefined for NaN. */
export function doubleNumber(value: number): HclNumber | undefined {
  if (Number.isNaN(value)) return undefined;
  if (!Number.isFinite(value) || Object.is(value, -0)) return value;
  return fromDouble(value, DOUBLE_PRECISION);
}

/** The nearest double, for `pow`, `log` and plain JSON data. */
export function toDouble(value: HclNumber): number {
  if (typeof value === 'number') return value;
  const { mantissa, exponent } = value;
  const magnitude = mantissa < 0n ? -mantissa : mantissa;
  const excess = bitLength(magnitude) - DOUBLE_PRECISION;
  const rounded = excess > 0 ? roundShift(magnitude, excess) : magnitude;
  const scaled = scaleByPowerOfTwo(Number(rounded), exponent + Math.max(excess, 0));
  return mantissa < 0n ? -scaled : scaled;
}

/** The value as a whole number, or undefined when it has a fraction or is infinite. */
export function toBigInt(value: HclNumber): bigint | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? BigInt(value) : undefined;
  return value.exponent >= 0 ? value.mantissa << BigInt(value.exponent) : undefined;
}

/** The value as a JavaScript integer, or undefined when it has a fraction or is beyond the safe integers. */
export function toSafeInteger(value: HclNumber): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : undefined;
  if (value.exponent < 0 || value.exponent > 64) return undefined;
  const whole = Number(value.mantissa << BigInt(value.exponent));
  return Number.isSafeInteger(whole) ? whole : undefined;
}

/** True for finite numbers without a fraction. */
export function isWhole(value: HclNumber): boolean {
  return typeof value === 'number' ? Number.isFinite(value) : value.exponent >= 0;
}

export function isInfinite(value: HclNumber): boolean {
  return typeof value === 'number' && !Number.isFinite(value);
}

/** −1, 0 or 1. */
export function signOf(value: HclNumber): -1 | 0 | 1 {
  const sample = typeof value === 'number' ? value : value.mantissa;
  return sample < 0 ? -1 : sample > 0 ? 1 : 0;
}

/** Negative, zero or positive as the left number is less than, equal to or greater than the right one. */
export function compareNumbers(left: HclNumber, right: HclNumber): number {
  if (typeof left === 'number' && typeof right === 'number') return left < right ? -1 : left > right ? 1 : 0;
  if (typeof left === 'number' && !Number.isFinite(left)) return left;
  if (typeof right === 'number' && !Number.isFinite(right)) return -right;
  const a = parts(left);
  const b = parts(right);
  const shared = Math.min(a.exponent, b.exponent);
  const difference = alignTo(a, shared) - alignTo(b, shared);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

export function numbersEqual(left: HclNumber, right: HclNumber): boolean {
  if (typeof left === 'number' && typeof right === 'number') return left === right;
  return compareNumbers(left, right) === 0;
}

/** The shortest decimal that identifies this number, never with an exponent: `0.3`, `1000000000000000000000`, `+Inf`. */
export function numberText(value: HclNumber): string {
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return Object.is(value, -0) ? '-0' : String(value);
    return value > 0 ? '+Inf' : '-Inf';
  }
  const whole = shortWhole(value);
  if (whole !== undefined) return String(whole);
  const { mantissa, exponent, precision } = value;
  const sign = mantissa < 0n ? '-' : '';
  return sign + decimalText(shortestDigits(mantissa < 0n ? -mantissa : mantissa, exponent, precision));
}

/** The number if it is whole and has fewer bits than the lowest precision: its digits are then its decimal form. */
function shortWhole({ mantissa, exponent }: BigFloat): number | undefined {
  if (exponent < 0 || exponent >= DOUBLE_PRECISION || mantissa > MAX_SAFE || mantissa < -MAX_SAFE) return undefined;
  const whole = Number(mantissa) * 2 ** exponent;
  return Math.abs(whole) < 2 ** (DOUBLE_PRECISION - 1) ? whole : undefined;
}

/** Weight of a number in `sizeOf`: one, and more for fractions and large numbers, whose strings are expensive to compute. */
export function numberSize(value: HclNumber): number {
  if (typeof value === 'number' || shortWhole(value) !== undefined) return 1;
  return 60 + (Math.abs(value.exponent) >>> 4) + (value.precision > FULL_PRECISION ? value.precision >>> 2 : 0);
}

const PLAIN_DIGITS = /^[0-9]+$/;
const INFINITY_TEXT = /^([+-]?)(?:Inf|inf)$/;
const DECIMAL = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(?:([eE]|([pP]))([+-]?[0-9]+))?$/;
const SMALL_COUNTS: (HclNumber | undefined)[] = [];
