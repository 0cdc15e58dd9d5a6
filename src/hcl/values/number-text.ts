/** Significant decimal digits without leading or trailing zeros; the value is `0.DIGITS * 10 ** point`. Zero has no digits. */
export interface Digits {
  readonly negative: boolean;
  readonly digits: string;
  readonly point: number;
}

/**
 * The fewest digits that name a binary float of the given precision: the first decimal that lies nearer to it than half a unit of
 * its last mantissa bit. Bounds count as inside when the mantissa is even, since ties round to even.
 */
export function shortestDigits(mantissa: bigint, exponent: number, precision: number): Digits {
  if (mantissa === 0n) return { negative: false, digits: '', point: 0 };
  const negative = mantissa < 0n;
  const magnitude = negative ? -mantissa : mantissa;
  const bits = magnitude.toString(2).length;
  // One bit more than the precision, so that the last bit is worth half a unit.
  const shift = precision + 1 - bits;
  const centre = magnitude << BigInt(shift);
  const power = exponent - shift;
  const exact = exactDigits(centre, power);
  const lower = exactDigits(centre - 1n, power);
  const upper = exactDigits(centre + 1n, power);
  const inclusive = (centre & 2n) === 0n;
  const width = Math.max(exact.point, lower.point, upper.point);
  const low = padded(lower, width);
  const mid = padded(exact, width);
  const high = padded(upper, width);
  const start = width - exact.point;
  for (let at = start; at < mid.length; at += 1) {
    const downFits = low.slice(0, at + 1) !== mid.slice(0, at + 1) || (inclusive && at + 1 >= low.length);
    const cut = BigInt(mid.slice(0, at + 1));
    const highCut = BigInt(padEndTo(high, at + 1).slice(0, at + 1));
    const upFits = highCut > cut + 1n || (highCut === cut + 1n && (inclusive || hasMore(high, at + 1)));
    if (!downFits && !upFits) continue;
    const chosen = downFits && upFits ? roundedCut(mid, at + 1, cut) : downFits ? cut : cut + 1n;
    return trimmed(negative, chosen, width - (at + 1));
  }
  return { ...exact, negative };
}

/** All digits of `magnitude * 2 ** exponent`. */
export function exactDigits(magnitude: bigint, exponent: number): Digits {
  if (exponent >= 0) return trimmed(false, magnitude << BigInt(exponent), 0);
  // m / 2^k is m * 5^k / 10^k.
  return trimmed(false, magnitude * 5n ** BigInt(-exponent), exponent);
}

/** Plain notation with exactly as many decimals as there are digits, or with `decimals` when given (zeros appended). */
export function decimalText({ negative, digits, point }: Digits, decimals?: number): string {
  const whole = point > 0 ? digits.slice(0, point).padEnd(point, '0') : '0';
  const fraction = point > 0 ? digits.slice(point) : digits === '' ? '' : '0'.repeat(-point) + digits;
  const shown = decimals === undefined ? fraction : fraction.padEnd(decimals, '0');
  return `${negative ? '-' : ''}${whole}${shown === '' ? '' : `.${shown}`}`;
}

/** `whole * 10 ** power` as digits. */
export function trimmed(negative: boolean, whole: bigint, power: number): Digits {
  const text = whole.toString();
  if (text === '0') return { negative: false, digits: '', point: 0 };
  let end = text.length;
  while (text.charCodeAt(end - 1) === 48) end -= 1;
  return { negative, digits: text.slice(0, end), point: text.length + power };
}

/** The digits with zeros in front, so that the point stands after `width` digits. */
function padded({ digits, point }: Digits, width: number): string {
  return '0'.repeat(width - point) + digits;
}

function padEndTo(text: string, length: number): string {
  return text.padEnd(length, '0');
}

function hasMore(text: string, from: number): boolean {
  return text.length > from;
}

/** Nearest of `cut` and the next decimal of the same length; an exact half goes to the even one. */
function roundedCut(text: string, length: number, cut: bigint): bigint {
  const next = text.charCodeAt(length) - 48;
  if (text.length <= length || next < 5) return cut;
  if (next > 5 || text.length > length + 1) return cut + 1n;
  return (cut & 1n) === 1n ? cut + 1n : cut;
}
