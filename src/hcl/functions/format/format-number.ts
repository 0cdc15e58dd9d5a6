import type { HclNumber } from '../../values/big-float.js';
import { parts } from '../../values/big-float.js';
import { numberText } from '../../values/number.js';
import type { Digits } from '../../values/number-text.js';
import { decimalText, digitsOf, shortestDigits, trimmed } from '../../values/number-text.js';
import { numberValue } from '../../values/value.js';
import { textWork } from '../../values/work.js';
import type { Verb } from './format-verb.js';

/** `%b %d %o %x %X`: sign, prefix for `#`, zeros up to the precision or, with the flag `0`, up to the width. */
export function integerText(verb: Verb, value: bigint): string {
  const sign = value < 0n ? '-' : positiveSign(verb);
  const magnitude = value < 0n ? -value : value;
  let digits = magnitude.toString(BASES.get(verb.letter) ?? 10);
  if (verb.letter === 'X') digits = digits.toUpperCase();
  if (verb.precision === 0 && magnitude === 0n) digits = '';
  else if (verb.precision !== undefined) digits = digits.padStart(verb.precision, '0');
  const prefix = verb.sharp ? (PREFIXES.get(verb.letter) ?? '') : '';
  return filled(verb, sign + prefix, digits, verb.precision === undefined);
}

/** `%e %E %f %g %G`. The precision counts decimals, for `%g` significant digits; without one it is 6, for `%g` the shortest. */
export function floatText(verb: Verb, value: HclNumber): string {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    return filled(verb, value < 0 ? '-' : verb.space ? ' ' : '+', 'Inf', false);
  }
  const negative = typeof value === 'number' ? value < 0 || Object.is(value, -0) : value.mantissa < 0n;
  const text = unsignedFloat(verb, value);
  const shown = verb.letter === 'E' || verb.letter === 'G' ? text.toUpperCase() : text;
  return filled(verb, negative ? '-' : positiveSign(verb), shown, true);
}

/** Shortest form, with an exponent when it is less than −4 or more than 20 would be too long: the threshold here is 6 digits. */
export function generalText(value: HclNumber): string {
  if (typeof value === 'number' && !Number.isFinite(value)) return numberText(value);
  const { mantissa, exponent, precision } = parts(value);
  const digits = shortestDigits(mantissa, exponent, precision);
  const sign = digits.negative || Object.is(value, -0) ? '-' : '';
  return sign + general({ ...digits, negative: false }, undefined);
}

/** Units of work for `floatText`: large numbers, and many decimals of small ones, need big-integer arithmetic. */
export function floatWork({ precision = 6 }: Verb, value: HclNumber): number {
  if (typeof value === 'number') return 20;
  const { exponent } = value;
  const digits = exponent > 0 ? exponent : Math.min(-exponent, precision);
  return textWork(numberValue(value)) + digits + (digits * digits) / 4096;
}

const BASES: ReadonlyMap<string, number> = new Map([
  ['b', 2],
  ['o', 8],
  ['d', 10],
  ['x', 16],
  ['X', 16],
]);

const PREFIXES: ReadonlyMap<string, string> = new Map([
  ['b', '0b'],
  ['o', '0'],
  ['x', '0x'],
  ['X', '0X'],
]);

function positiveSign(verb: Verb): string {
  return verb.plus ? '+' : verb.space ? ' ' : '';
}

function filled(verb: Verb, sign: string, digits: string, mayFillWithZeros: boolean): string {
  const missing = (verb.width ?? 0) - sign.length - digits.length;
  if (missing <= 0) return sign + digits;
  if (verb.minus) return sign + digits + ' '.repeat(missing);
  if (verb.zero && mayFillWithZeros) return sign + '0'.repeat(missing) + digits;
  return ' '.repeat(missing) + sign + digits;
}

function unsignedFloat(verb: Verb, value: HclNumber): string {
  const { mantissa, exponent, precision } = parts(value);
  const magnitude = mantissa < 0n ? -mantissa : mantissa;
  switch (verb.letter.toLowerCase()) {
    case 'f': {
      const decimals = verb.precision ?? 6;
      const exact = digitsOf(magnitude, exponent, { decimals: decimals + 1 });
      return decimalText(rounded(exact, exact.point + decimals), decimals);
    }
    case 'e': {
      const decimals = verb.precision ?? 6;
      const exact = digitsOf(magnitude, exponent, { leading: decimals + 3 });
      return scientific(rounded(exact, decimals + 1), decimals);
    }
    default: {
      if (verb.precision === undefined) return general(shortestDigits(magnitude, exponent, precision), undefined);
      const significant = Math.max(1, verb.precision);
      return general(rounded(digitsOf(magnitude, exponent, { leading: significant + 3 }), significant), significant);
    }
  }
}

function general(digits: Digits, significant: number | undefined): string {
  const count = digits.digits.length;
  let limit = significant ?? 6;
  if (significant !== undefined && limit > count && count >= digits.point) limit = count;
  const exponent = count === 0 ? 0 : digits.point - 1;
  if (exponent < -4 || exponent >= limit) return scientific(digits, Math.max(0, count - 1));
  return decimalText(digits);
}

function scientific(digits: Digits, decimals: number): string {
  const first = digits.digits.slice(0, 1) || '0';
  const rest = digits.digits.slice(1).padEnd(decimals, '0');
  const exponent = digits.digits === '' ? 0 : digits.point - 1;
  const shown = String(Math.abs(exponent)).padStart(2, '0');
  return `${first}${rest === '' ? '' : `.${rest}`}e${exponent < 0 ? '-' : '+'}${shown}`;
}

/** Rounds to a number of significant digits, half to even. */
function rounded(exact: Digits, keep: number): Digits {
  if (keep >= exact.digits.length) return exact;
  if (keep < 0) return { negative: false, digits: '', point: 0 };
  const cut = BigInt(exact.digits.slice(0, keep) || '0');
  const rest = exact.digits.slice(keep);
  const half = rest.charCodeAt(0) - 53;
  const up = half > 0 || (half === 0 && (rest.length > 1 || (cut & 1n) === 1n));
  return trimmed(false, up ? cut + 1n : cut, exact.point - keep);
}
