import { type Decimal, decimalOf, withoutZeros } from '../../shared/source-text.js';

/**
 * The fewest digits that name a binary float of the given precision, which is not negative: the first decimal that lies nearer to it than half a unit of
 * its last mantissa bit. Bounds count as inside when the mantissa is even, since ties round to even.
 */
// oxlint-disable-next-line complexity -- one loop compares three digit strings digit by digit; its steps mean nothing alone
export function shortestDigits(magnitude: bigint, exponent: number, precision: number): Decimal {
  if (magnitude === 0n) return { digits: '', point: 0 };
  // One bit more than the precision, so that the last bit is worth half a unit.
  const shift = precision + 1 - bitLength(magnitude);
  const centre = magnitude << BigInt(shift);
  const scale = decimalScale(precision + 1, exponent - shift, Math.ceil(precision * LOG_2) + 4);
  const exact = scale.digitsOf(centre);
  const width = exact.length;
  const mid = withoutZeros(exact);
  const low = withoutZeros(scale.digitsOf(centre - 1n).padStart(width, '0'));
  const high = withoutZeros(scale.digitsOf(centre + 1n).padStart(width, '0'));
  const inclusive = (centre & 2n) === 0n;
  const point = width - scale.stickyDigits + scale.power;
  // Difference between the digits of the upper bound and those of the number, as far as compared; 2 means 2 or more.
  let above = high.length > width ? 2 : 0;
  let below = false;
  for (let at = 0; at < mid.length; at += 1) {
    below ||= digitAt(low, at) !== digitAt(mid, at);
    above = Math.min(2, above * 10 + digitAt(high, at) - digitAt(mid, at));
    const downFits = below || (inclusive && at + 1 >= low.length);
    const upFits = above > 1 || (above === 1 && (inclusive || high.length > at + 1));
    if (!downFits && !upFits) continue;
    const cut = BigInt(mid.slice(0, at + 1));
    const chosen = downFits && upFits ? roundedCut(mid, at + 1, cut) : downFits ? cut : cut + 1n;
    return decimalOf(chosen, point - (at + 1));
  }
  return { digits: mid, point };
}

interface DecimalScale {
  /** The leading digits of a whole number times `2 ** power`, and one more that is not 0 when others follow. */
  digitsOf(whole: bigint): string;
  /** The last of the leading digits is worth `10 ** power`. */
  readonly power: number;
  readonly stickyDigits: 0 | 1;
}

/** Decimal scaling for numbers of this many bits with at least `enough` digits, or all of them if there are fewer. */
function decimalScale(bits: number, exponent: number, enough: number): DecimalScale {
  // The last decimal of a binary fraction stands at its exponent.
  const power = Math.max(magnitudeOf(bits, exponent) - enough, Math.min(exponent, 0));
  return scaleTo(exponent, power);
}

/** Decimal digits before the point of a number of this many bits, or one more; negative for zeros after the point. */
function magnitudeOf(bits: number, exponent: number): number {
  return Math.floor((bits - 1 + exponent) * LOG_2) + 1;
}

function scaleTo(exponent: number, power: number): DecimalScale {
  if (power <= 0 && exponent >= 0) {
    return { digitsOf: (whole) => (whole << BigInt(exponent)).toString(), power: 0, stickyDigits: 0 };
  }
  const numerator = (exponent > 0 ? 1n << BigInt(exponent) : 1n) * (power < 0 ? powerOfTen(-power) : 1n);
  const denominator = (exponent < 0 ? 1n << BigInt(-exponent) : 1n) * (power > 0 ? powerOfTen(power) : 1n);
  return {
    digitsOf: (whole) => {
      const scaled = whole * numerator;
      const quotient = scaled / denominator;
      return `${quotient}${quotient * denominator === scaled ? '0' : '1'}`;
    },
    power,
    stickyDigits: 1,
  };
}

const LOG_2 = Math.log10(2);

/** Only zeros follow the last digit. */
function digitAt(digits: string, at: number): number {
  return at < digits.length ? digits.charCodeAt(at) - 48 : 0;
}

/** Cache of the last few powers: numbers written together often have the same size. */
function powerOfTen(power: number): bigint {
  const known = powers.get(power);
  if (known !== undefined) return known;
  if (powers.size >= 16) powers.clear();
  const made = 10n ** BigInt(power);
  powers.set(power, made);
  return made;
}

const powers = new Map<number, bigint>();

/**
 * The digits of `magnitude * 2 ** exponent` to this many decimals, or this many leading digits, followed by a sticky digit that is
 * not 0 if more digits follow: sufficient for rounding.
 */
export function digitsOf(
  magnitude: bigint,
  exponent: number,
  wanted: { readonly decimals: number } | { readonly leading: number },
): Decimal {
  if (magnitude === 0n) return { digits: '', point: 0 };
  const scale =
    'decimals' in wanted
      ? scaleTo(exponent, Math.max(-wanted.decimals, Math.min(exponent, 0)))
      : decimalScale(bitLength(magnitude), exponent, wanted.leading);
  const text = scale.digitsOf(magnitude);
  const point = text.length - scale.stickyDigits + scale.power;
  const start = text.search(/[1-9]/);
  return { digits: withoutZeros(text.slice(start)), point: point - start };
}

/** Nearest of `cut` and the next decimal of the same length; an exact half goes to the even one. */
function roundedCut(text: string, length: number, cut: bigint): bigint {
  const next = text.charCodeAt(length) - 48;
  if (text.length <= length || next < 5) return cut;
  if (next > 5 || text.length > length + 1) return cut + 1n;
  return (cut & 1n) === 1n ? cut + 1n : cut;
}

/** Bits of a positive whole number; 0 for zero. */
export function bitLength(magnitude: bigint): number {
  if (magnitude <= MAX_SAFE) return magnitude === 0n ? 0 : safeBitLength(Number(magnitude));
  const hex = magnitude.toString(16);
  return (hex.length - 1) * 4 + safeBitLength(Number.parseInt(hex[0] ?? '0', 16));
}

const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);

function safeBitLength(value: number): number {
  return value < 2 ** 31 ? 32 - Math.clz32(value) : 32 + safeBitLength(Math.floor(value / 2 ** 32));
}
