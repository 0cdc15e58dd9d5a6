/* Floats in the notation of Nomad's template language. */

/** Decimal digits without trailing zeros; the number is 0.DIGITS × 10^`point`. */
interface Decimal {
  readonly digits: string;
  readonly point: number;
}

/**
 * A finite number in the form `e`, `f` or `g`. Without a precision it has the fewest digits that identify it. Exact for any
 * precision; halves are rounded to the even digit, unlike in `Number.toFixed`.
 */
export function floatText(value: number, form: 'e' | 'f' | 'g', precision?: number): string {
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  const size = Math.abs(value);
  return sign + (precision === undefined ? shortestText(size, form) : preciseText(size, form, precision));
}

function shortestText(size: number, form: 'e' | 'f' | 'g'): string {
  const [mantissa = '', exponent = ''] = size.toExponential().split('e');
  const digits = size === 0 ? '' : mantissa.replace('.', '');
  const decimal = { digits, point: size === 0 ? 0 : Number(exponent) + 1 };
  if (form === 'e') return scientific(decimal, Math.max(digits.length - 1, 0));
  if (form === 'f') return positional(decimal, Math.max(digits.length - decimal.point, 0));
  return general(decimal, digits.length, 6);
}

function preciseText(size: number, form: 'e' | 'f' | 'g', precision: number): string {
  const exact = exactDecimal(size);
  if (form === 'e') return scientific(rounded(exact, precision + 1), precision);
  if (form === 'f') return positional(rounded(exact, exact.point + precision), precision);
  const kept = Math.max(precision, 1);
  const decimal = rounded(exact, kept);
  const { length } = decimal.digits;
  return general(decimal, kept, kept > length && length >= decimal.point ? length : kept);
}

/** With an exponent below 1e-4 and from 10^`limit`. */
function general(decimal: Decimal, precision: number, limit: number): string {
  const { digits, point } = decimal;
  if (point - 1 < -4 || point - 1 >= limit) return scientific(decimal, Math.min(precision, digits.length) - 1);
  return positional(decimal, Math.max((precision > point ? digits.length : precision) - point, 0));
}

function scientific({ digits, point }: Decimal, precision: number): string {
  const exponent = digits === '' ? 0 : point - 1;
  const fraction = digits.slice(1, 1 + precision).padEnd(Math.max(precision, 0), '0');
  const power = String(Math.abs(exponent)).padStart(2, '0');
  return `${digits.charAt(0) || '0'}${fraction && `.${fraction}`}e${exponent < 0 ? '-' : '+'}${power}`;
}

function positional({ digits, point }: Decimal, precision: number): string {
  const whole = point > 0 ? digits.slice(0, point).padEnd(point, '0') : '0';
  const zeros = '0'.repeat(Math.min(precision, Math.max(-point, 0)));
  const fraction = (zeros + digits.slice(Math.max(point, 0))).slice(0, precision).padEnd(precision, '0');
  return whole + (fraction && `.${fraction}`);
}

/** All digits of a double: at most about 770. */
function exactDecimal(size: number): Decimal {
  if (size === 0) return { digits: '', point: 0 };
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, size);
  const raw = bits.getBigUint64(0);
  const biased = Number(raw >> 52n);
  const mantissa = (raw & 0xf_ffff_ffff_ffffn) | (biased === 0 ? 0n : 1n << 52n);
  const power = Math.max(biased, 1) - 1075;
  const digits = String(power >= 0 ? mantissa << BigInt(power) : mantissa * 5n ** BigInt(-power));
  return trimmed(digits, power >= 0 ? digits.length : digits.length + power);
}

/** At most `kept` digits, rounded to the nearest; halves go to the even digit. */
function rounded({ digits, point }: Decimal, kept: number): Decimal {
  if (kept >= digits.length) return { digits, point };
  if (kept < 0) return { digits: '', point: 0 };
  const rest = digits.slice(kept);
  const last = kept === 0 ? 0 : Number(digits.charAt(kept - 1));
  const isUp = rest.charAt(0) > '5' || (rest.charAt(0) === '5' && (rest.length > 1 || last % 2 === 1));
  const head = digits.slice(0, kept);
  if (!isUp) return trimmed(head, point);
  const raised = String(BigInt(`0${head}`) + 1n).padStart(kept, '0');
  return trimmed(raised, point + raised.length - kept);
}

function trimmed(digits: string, point: number): Decimal {
  const significant = digits.replace(/0+$/, '');
  return significant === '' ? { digits: '', point: 0 } : { digits: significant, point };
}
