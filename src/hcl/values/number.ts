import type { Result } from 'neverthrow';
import { err, ok } from 'neverthrow';
import { bitLength } from './bit-length.js';
import { decimalText, shortestDigits } from './number-text.js';

/**
 * A number of the language: a binary float with a 512-bit mantissa, so that decimals behave as written (`0.1 + 0.2` is `0.3`)
 * and whole numbers of any practical length are exact.
 *
 * A JavaScript number stands for a safe integer or an infinity at full precision; it is the fast path of nearly all
 * arithmetic. Everything else is a `BigFloat`. Always compare with `compareNumbers`, never with `===`.
 */
export type HclNumber = number | BigFloat;

/** `mantissa * 2 ** exponent`, the mantissa odd (or 0 with exponent 0) and of at most `precision` bits. */
export interface BigFloat {
  readonly mantissa: bigint;
  readonly exponent: number;
  readonly precision: number;
}

export type NumberError =
  /** `0 / 0`, infinity minus infinity and similar operations have no value. */
  | { readonly type: 'not_a_number' }
  /** Above 2^65536, or closer to zero than 2^-65536. The bound is this library's; it keeps a number's text below 20,000 digits. */
  | { readonly type: 'number_out_of_range' };

/** Bits of mantissa of literals and of arithmetic on them. */
export const FULL_PRECISION = 512;
/** Bits of mantissa of counts and indexes: those of a machine integer. */
export const COUNT_PRECISION = 64;
/** Bits of mantissa of the results of `pow` and `log`: those of a double. */
export const DOUBLE_PRECISION = 53;

const MAX_EXPONENT_BITS = 65_536;
const MAX_DIGITS = 20_000;

/**
 * Reads decimal text: an optional sign, digits with at most one point, an optional exponent; also `Inf`. No spaces.
 *
 * @returns the nearest number of 512 bits, or undefined if the text is not a number or is out of range
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
      ? make(mantissa * 10n ** BigInt(tens), twos, FULL_PRECISION)
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
  if (!Number.isFinite(value)) return value;
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

export function addNumbers(left: HclNumber, right: HclNumber): Result<HclNumber, NumberError> {
  if (typeof left === 'number' && typeof right === 'number') {
    const sum = left + right;
    if (Number.isSafeInteger(sum)) return ok(sum);
    if (!Number.isFinite(left) || !Number.isFinite(right)) return infiniteResult(sum);
  } else if (isInfinite(left)) return ok(left);
  else if (isInfinite(right)) return ok(right);
  const a = parts(left);
  const b = parts(right);
  const shared = Math.min(a.exponent, b.exponent);
  return make(alignTo(a, shared) + alignTo(b, shared), shared, Math.max(a.precision, b.precision));
}

export function subtractNumbers(left: HclNumber, right: HclNumber): Result<HclNumber, NumberError> {
  return typeof left === 'number' && typeof right === 'number'
    ? addNumbers(left, -right)
    : addNumbers(left, negateNumber(right));
}

export function multiplyNumbers(left: HclNumber, right: HclNumber): Result<HclNumber, NumberError> {
  if (typeof left === 'number' && typeof right === 'number') {
    const product = left * right;
    if (Number.isSafeInteger(product)) return ok(product);
  }
  if (isInfinite(left) || isInfinite(right)) return infiniteResult(toDouble(left) * toDouble(right));
  const a = parts(left);
  const b = parts(right);
  return make(a.mantissa * b.mantissa, a.exponent + b.exponent, Math.max(a.precision, b.precision));
}

/** Division; by zero it gives an infinity, and `0 / 0` is an error. */
export function divideNumbers(left: HclNumber, right: HclNumber): Result<HclNumber, NumberError> {
  if (signOf(right) === 0 || isInfinite(left) || isInfinite(right)) {
    const value = toDouble(left) / toDouble(right);
    return Number.isNaN(value) ? err({ type: 'not_a_number' }) : ok(value);
  }
  if (typeof left === 'number' && typeof right === 'number') {
    const exact = left / right;
    if (Number.isSafeInteger(exact) && exact * right === left) return ok(exact);
  }
  const a = parts(left);
  const b = parts(right);
  return quotient(a.mantissa, b.mantissa, a.exponent - b.exponent, Math.max(a.precision, b.precision));
}

/** Remainder with the sign of the left number; a remainder by zero is the left number itself. */
export function remainderNumbers(left: HclNumber, right: HclNumber): Result<HclNumber, NumberError> {
  if (isInfinite(left) || isInfinite(right)) return multiplyNumbers(left, right);
  if (signOf(right) === 0) return ok(left);
  if (typeof left === 'number' && typeof right === 'number') {
    const rest = left % right;
    return ok(rest === 0 ? 0 : rest);
  }
  return divideNumbers(left, right).andThen((ratio) =>
    multiplyNumbers(right, truncateNumber(ratio)).andThen((whole) => subtractNumbers(left, whole)),
  );
}

export function negateNumber(value: HclNumber): HclNumber {
  return typeof value === 'number' ? -value : { ...value, mantissa: -value.mantissa };
}

export function absoluteNumber(value: HclNumber): HclNumber {
  return signOf(value) < 0 || Object.is(value, -0) ? negateNumber(value) : value;
}

/** The next whole number towards zero. */
export function truncateNumber(value: HclNumber): HclNumber {
  if (typeof value === 'number' || value.exponent >= 0) return value;
  const magnitude = (value.mantissa < 0n ? -value.mantissa : value.mantissa) >> BigInt(-value.exponent);
  return fromBigInt(value.mantissa < 0n ? -magnitude : magnitude, value.precision);
}

export function floorNumber(value: HclNumber): HclNumber {
  if (typeof value === 'number' || value.exponent >= 0) return value;
  return fromBigInt(value.mantissa >> BigInt(-value.exponent), value.precision);
}

export function ceilNumber(value: HclNumber): HclNumber {
  if (typeof value === 'number' || value.exponent >= 0) return value;
  return fromBigInt(-(-value.mantissa >> BigInt(-value.exponent)), value.precision);
}

/** The shortest decimal that identifies this number, never with an exponent: `0.3`, `1000000000000000000000`, `+Inf`. */
export function numberText(value: HclNumber): string {
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return Object.is(value, -0) ? '-0' : String(value);
    return value > 0 ? '+Inf' : '-Inf';
  }
  const whole = shortWhole(value);
  if (whole !== undefined) return String(whole);
  return decimalText(shortestDigits(value.mantissa, value.exponent, value.precision));
}

/** The number if it is whole and has fewer bits than the lowest precision: then its digits are its text. */
function shortWhole({ mantissa, exponent }: BigFloat): number | undefined {
  if (exponent < 0 || exponent >= DOUBLE_PRECISION || mantissa > MAX_SAFE || mantissa < -MAX_SAFE) return undefined;
  const whole = Number(mantissa) * 2 ** exponent;
  return Math.abs(whole) < 2 ** (DOUBLE_PRECISION - 1) ? whole : undefined;
}

/** Weight of a number in `sizeOf`: one, and more for fractions and large numbers, whose texts are expensive to compute. */
export function numberSize(value: HclNumber): number {
  if (typeof value === 'number' || shortWhole(value) !== undefined) return 1;
  return 60 + (Math.abs(value.exponent) >>> 4) + (value.precision > FULL_PRECISION ? value.precision >>> 2 : 0);
}

/** Mantissa, exponent and precision of a finite number. */
export function parts(value: HclNumber): BigFloat {
  return typeof value === 'number' ? { mantissa: BigInt(value), exponent: 0, precision: FULL_PRECISION } : value;
}

const PLAIN_DIGITS = /^[0-9]+$/;
const INFINITY_TEXT = /^([+-]?)(?:Inf|inf)$/;
const DECIMAL = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(?:([eE]|([pP]))([+-]?[0-9]+))?$/;
const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);
const SMALL_COUNTS: (HclNumber | undefined)[] = [];

/** Rounds to the precision, takes the factors of two out of the mantissa, and checks the range. */
function make(mantissa: bigint, exponent: number, precision: number): Result<HclNumber, NumberError> {
  if (mantissa === 0n) return ok(0);
  const negative = mantissa < 0n;
  let magnitude = negative ? -mantissa : mantissa;
  let power = exponent;
  const bits = bitLength(magnitude);
  if (Math.abs(bits + power) > MAX_EXPONENT_BITS) return err({ type: 'number_out_of_range' });
  if (bits > precision) {
    magnitude = roundShift(magnitude, bits - precision);
    power += bits - precision;
  }
  return ok(normalize(negative ? -magnitude : magnitude, power, precision));
}

/** Full-precision numbers that are safe integers become JavaScript numbers; any other mantissa is made odd. */
function normalize(mantissa: bigint, exponent: number, precision: number): HclNumber {
  if (mantissa === 0n) return precision === FULL_PRECISION ? 0 : { mantissa: 0n, exponent: 0, precision };
  const zeros = trailingZeros(mantissa);
  const odd = mantissa >> BigInt(zeros);
  const power = exponent + zeros;
  if (precision === FULL_PRECISION && power >= 0 && power < 53 && odd <= MAX_SAFE && odd >= -MAX_SAFE) {
    const whole = Number(odd) * 2 ** power;
    if (Number.isSafeInteger(whole)) return whole;
  }
  return { mantissa: odd, exponent: power, precision };
}

function trailingZeros(value: bigint): number {
  let zeros = 0;
  let rest = value < 0n ? -value : value;
  while ((rest & WORD_MASK) === 0n) {
    rest >>= 64n;
    zeros += 64;
  }
  let low = BigInt.asUintN(64, rest);
  while ((low & 1n) === 0n) {
    low >>= 1n;
    zeros += 1;
  }
  return zeros;
}

const WORD_MASK = (1n << 64n) - 1n;

function fromBigInt(value: bigint, precision: number): HclNumber {
  const made = make(value, 0, precision);
  return made.isOk() && typeof made.value === 'number' && precision !== FULL_PRECISION
    ? { mantissa: 0n, exponent: 0, precision }
    : made.unwrapOr(value < 0n ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY);
}

function fromDouble(value: number, precision: number): HclNumber {
  let scaled = value;
  let exponent = 0;
  while (!Number.isInteger(scaled)) {
    scaled *= 2;
    exponent -= 1;
  }
  return normalize(BigInt(scaled), exponent, precision);
}

/** Division by a power of two, rounded to the nearest whole number, ties to even. */
function roundShift(magnitude: bigint, shift: number): bigint {
  const by = BigInt(shift);
  const kept = magnitude >> by;
  const rest = magnitude - (kept << by);
  const half = 1n << (by - 1n);
  return rest > half || (rest === half && (kept & 1n) === 1n) ? kept + 1n : kept;
}

/** Rounded quotient: computed with two extra bits; a remainder is kept as a sticky bit. */
function quotient(
  dividend: bigint,
  divisor: bigint,
  exponent: number,
  precision: number = FULL_PRECISION,
): Result<HclNumber, NumberError> {
  const negative = dividend < 0n !== divisor < 0n;
  const above = dividend < 0n ? -dividend : dividend;
  const below = divisor < 0n ? -divisor : divisor;
  const shift = Math.max(0, precision + 2 - bitLength(above) + bitLength(below));
  const shifted = above << BigInt(shift);
  const whole = shifted / below;
  const sticky = whole * below === shifted ? 0n : 1n;
  const magnitude = (whole << 1n) | sticky;
  return make(negative ? -magnitude : magnitude, exponent - shift - 1, precision);
}

function alignTo(value: BigFloat, exponent: number): bigint {
  return value.mantissa << BigInt(value.exponent - exponent);
}

function infiniteResult(value: number): Result<HclNumber, NumberError> {
  return Number.isNaN(value) ? err({ type: 'not_a_number' }) : ok(value);
}

/** `value * 2 ** exponent`, in steps that overflow only if the result does. */
function scaleByPowerOfTwo(value: number, exponent: number): number {
  let result = value;
  let rest = exponent;
  while (rest > 1000) {
    result *= 2 ** 1000;
    rest -= 1000;
    if (result === Number.POSITIVE_INFINITY) return result;
  }
  while (rest < -1000) {
    result *= 2 ** -1000;
    rest += 1000;
    if (result === 0) return 0;
  }
  return result * 2 ** rest;
}
