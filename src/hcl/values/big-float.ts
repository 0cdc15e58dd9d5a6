import type { Result } from 'neverthrow';
import { err, ok } from 'neverthrow';
import { bitLength } from './number-text.js';

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
  /** Above 2^65536, or closer to zero than 2^-65536. The bound is this library's; it keeps a number's decimal form below 20,000 digits. */
  | { readonly type: 'number_out_of_range' };

/** Bits of mantissa of literals and of arithmetic on them. */
export const FULL_PRECISION = 512;

/** Bits of mantissa of counts and indexes: those of a machine integer. */
export const COUNT_PRECISION = 64;

/** Bits of mantissa of the results of `pow` and `log`: those of a double. */
export const DOUBLE_PRECISION = 53;

export const MAX_EXPONENT_BITS = 65_536;

/** Mantissa, exponent and precision of a finite number. */
export function parts(value: HclNumber): BigFloat {
  return typeof value === 'number' ? { mantissa: BigInt(value), exponent: 0, precision: FULL_PRECISION } : value;
}

export const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/** Rounds to the precision, takes the factors of two out of the mantissa, and checks the range. */
export function roundedNumber(mantissa: bigint, exponent: number, precision: number): Result<HclNumber, NumberError> {
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

export function fromBigInt(value: bigint, precision: number): HclNumber {
  const made = roundedNumber(value, 0, precision);
  return made.isOk() && typeof made.value === 'number' && precision !== FULL_PRECISION
    ? { mantissa: 0n, exponent: 0, precision }
    : made.unwrapOr(value < 0n ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY);
}

export function fromDouble(value: number, precision: number): HclNumber {
  let scaled = value;
  let exponent = 0;
  while (!Number.isInteger(scaled)) {
    scaled *= 2;
    exponent -= 1;
  }
  return normalize(BigInt(scaled), exponent, precision);
}

/** Division by a power of two, rounded to the nearest whole number, ties to even. */
export function roundShift(magnitude: bigint, shift: number): bigint {
  const by = BigInt(shift);
  const kept = magnitude >> by;
  const rest = magnitude - (kept << by);
  const half = 1n << (by - 1n);
  return rest > half || (rest === half && (kept & 1n) === 1n) ? kept + 1n : kept;
}

/** Rounded quotient: computed with two extra bits; a remainder is kept as a sticky bit. */
export function quotient(
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
  return roundedNumber(negative ? -magnitude : magnitude, exponent - shift - 1, precision);
}

export function alignTo(value: BigFloat, exponent: number): bigint {
  return value.mantissa << BigInt(value.exponent - exponent);
}

/** `value * 2 ** exponent`, in steps that overflow only if the result does. */
export function scaleByPowerOfTwo(value: number, exponent: number): number {
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
