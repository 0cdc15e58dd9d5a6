import type { Result } from 'neverthrow';
import { err, ok } from 'neverthrow';
import { alignTo, fromBigInt, type HclNumber, type NumberError, parts, quotient, roundedNumber } from './big-float.js';
import { isInfinite, signOf } from './number.js';

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
  return roundedNumber(alignTo(a, shared) + alignTo(b, shared), shared, Math.max(a.precision, b.precision));
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
  const negative = isNegative(left) !== isNegative(right);
  const zero = signOf(left) === 0 || signOf(right) === 0;
  if (isInfinite(left) || isInfinite(right)) {
    return zero ? err({ type: 'not_a_number' }) : ok(signed(negative, Number.POSITIVE_INFINITY));
  }
  if (zero) return ok(signed(negative, 0));
  const a = parts(left);
  const b = parts(right);
  return roundedNumber(a.mantissa * b.mantissa, a.exponent + b.exponent, Math.max(a.precision, b.precision));
}

/** Division; by zero it gives an infinity, and `0 / 0` is an error. */
export function divideNumbers(left: HclNumber, right: HclNumber): Result<HclNumber, NumberError> {
  const negative = isNegative(left) !== isNegative(right);
  if (signOf(right) === 0 || isInfinite(left)) {
    if (signOf(left) === 0 || isInfinite(right)) return err({ type: 'not_a_number' });
    return ok(signed(negative, Number.POSITIVE_INFINITY));
  }
  if (signOf(left) === 0 || isInfinite(right)) return ok(signed(negative, 0));
  if (typeof left === 'number' && typeof right === 'number') {
    const exact = left / right;
    if (Number.isSafeInteger(exact) && exact * right === left) return ok(exact);
  }
  const a = parts(left);
  const b = parts(right);
  return quotient(a.mantissa, b.mantissa, a.exponent - b.exponent, Math.max(a.precision, b.precision));
}

/**
 * Remainder with the sign of the left number; a remainder by zero is the left number itself. Otherwise infinities have no
 * remainder.
 */
export function remainderNumbers(left: HclNumber, right: HclNumber): Result<HclNumber, NumberError> {
  if (isInfinite(right)) return err({ type: 'not_a_number' });
  if (signOf(right) === 0) return ok(left);
  if (isInfinite(left)) return err({ type: 'not_a_number' });
  if (signOf(left) === 0) return ok(isNegative(left) && !isNegative(right) ? -0 : 0);
  if (typeof left === 'number' && typeof right === 'number') {
    const rest = left % right;
    return ok(rest === 0 ? 0 : rest);
  }
  return divideNumbers(left, right).andThen((ratio) =>
    multiplyNumbers(right, truncateNumber(ratio)).andThen((whole) => subtractNumbers(left, whole)),
  );
}

export function negateNumber(value: HclNumber): HclNumber {
  if (typeof value === 'number') return -value;
  return value.mantissa === 0n ? -0 : { ...value, mantissa: -value.mantissa };
}

export function absoluteNumber(value: HclNumber): HclNumber {
  return isNegative(value) ? negateNumber(value) : value;
}

/** The next whole number towards zero. */
function truncateNumber(value: HclNumber): HclNumber {
  if (typeof value === 'number' || value.exponent >= 0) return value;
  const magnitude = (value.mantissa < 0n ? -value.mantissa : value.mantissa) >> BigInt(-value.exponent);
  return fromBigInt(value.mantissa < 0n ? -magnitude : magnitude, value.precision);
}

/** Whole numbers are unchanged, except that `-0` becomes 0; the same holds for `ceilNumber`. */
export function floorNumber(value: HclNumber): HclNumber {
  if (typeof value === 'number') return value + 0;
  if (value.exponent >= 0) return value;
  return fromBigInt(value.mantissa >> BigInt(-value.exponent), value.precision);
}

export function ceilNumber(value: HclNumber): HclNumber {
  if (typeof value === 'number') return value + 0;
  if (value.exponent >= 0) return value;
  return fromBigInt(-(-value.mantissa >> BigInt(-value.exponent)), value.precision);
}

/** True below zero, and for `-0`. */
function isNegative(value: HclNumber): boolean {
  return signOf(value) < 0 || Object.is(value, -0);
}

function signed(negative: boolean, magnitude: number): number {
  return negative ? -magnitude : magnitude;
}

function infiniteResult(value: number): Result<HclNumber, NumberError> {
  return Number.isNaN(value) ? err({ type: 'not_a_number' }) : ok(value);
}
