import { type Decimal, decimalOf, formattedFloat } from '../shared/source-text.js';

/**
 * A finite number in the form `e`, `f` or `g` of Nomad's template language. Exact for any precision; in the form `g` without one it has
 * the fewest digits that identify it.
 */
export function floatText(value: number, form: 'e' | 'f' | 'g', precision?: number): string {
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  const size = Math.abs(value);
  const digits = { shortest: () => shortestDecimal(size), exact: () => exactDecimal(size) };
  return sign + formattedFloat(form, precision, digits);
}

function shortestDecimal(size: number): Decimal {
  const [mantissa = '', exponent = ''] = size.toExponential().split('e');
  const digits = mantissa.replace('.', '');
  return decimalOf(BigInt(digits), Number(exponent) + 1 - digits.length);
}

/** All digits of a double: at most about 770. */
function exactDecimal(size: number): Decimal {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, size);
  const raw = bits.getBigUint64(0);
  const biased = Number(raw >> 52n);
  const mantissa = (raw & 0xf_ffff_ffff_ffffn) | (biased === 0 ? 0n : 1n << 52n);
  const power = Math.max(biased, 1) - 1075;
  return power >= 0 ? decimalOf(mantissa << BigInt(power), 0) : decimalOf(mantissa * 5n ** BigInt(-power), power);
}
