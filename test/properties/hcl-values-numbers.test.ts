import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HclNumber } from '../../src/hcl/values/big-float.js';
import { parts } from '../../src/hcl/values/big-float.js';
import { compareNumbers, doubleNumber, numberText, parseNumber, toDouble } from '../../src/hcl/values/number.js';
import {
  addNumbers,
  ceilNumber,
  divideNumbers,
  floorNumber,
  multiplyNumbers,
  negateNumber,
  remainderNumbers,
  subtractNumbers,
} from '../../src/hcl/values/number-arithmetic.js';
import { bitLength } from '../../src/hcl/values/number-text.js';

/** An exact rational: the oracle knows nothing of floats. */
interface Ratio {
  readonly top: bigint;
  readonly bottom: bigint;
}

const PRECISION = 512;

const decimalText = fc
  .tuple(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), fc.integer({ min: 0, max: 30 }))
  .map(([digits, decimals]) => {
    const text = (digits < 0n ? -digits : digits).toString().padStart(decimals + 1, '0');
    const whole = text.slice(0, text.length - decimals);
    return `${digits < 0n ? '-' : ''}${whole}${decimals === 0 ? '' : `.${text.slice(text.length - decimals)}`}`;
  });

const numeral = fc.oneof(
  decimalText,
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }).map((value) => value.toFixed(6)),
);

describe('numbers, against exact rationals', () => {
  it('reading rounds to the nearest number of 512 bits', () => {
    fc.assert(fc.property(numeral, (text) => expectRounded(number(text), ratioFromText(text))));
  });

  it('addition, subtraction, multiplication and division round the exact result once', () => {
    fc.assert(
      fc.property(numeral, numeral, (left, right) => {
        const [a, b] = [number(left), number(right)];
        const [x, y] = [ratio(a), ratio(b)];
        expectRounded(addNumbers(a, b)._unsafeUnwrap(), make(x.top * y.bottom + y.top * x.bottom, x.bottom * y.bottom));
        expectRounded(
          subtractNumbers(a, b)._unsafeUnwrap(),
          make(x.top * y.bottom - y.top * x.bottom, x.bottom * y.bottom),
        );
        expectRounded(multiplyNumbers(a, b)._unsafeUnwrap(), make(x.top * y.top, x.bottom * y.bottom));
        if (y.top !== 0n) expectRounded(divideNumbers(a, b)._unsafeUnwrap(), make(x.top * y.bottom, x.bottom * y.top));
      }),
    );
  });

  it('comparison, floor and ceiling are exact', () => {
    fc.assert(
      fc.property(numeral, numeral, (left, right) => {
        const [a, b] = [number(left), number(right)];
        const [x, y] = [ratio(a), ratio(b)];
        const difference = x.top * y.bottom - y.top * x.bottom;
        expect(Math.sign(compareNumbers(a, b))).toBe(difference < 0n ? -1 : difference > 0n ? 1 : 0);
        const down = x.top / x.bottom - (x.top % x.bottom < 0n ? 1n : 0n);
        expect(ratio(floorNumber(a))).toEqual({ top: down, bottom: 1n });
        expect(ratio(ceilNumber(a))).toEqual({ top: down + (x.top % x.bottom === 0n ? 0n : 1n), bottom: 1n });
      }),
    );
  });

  it('the text is the shortest decimal that names the number', () => {
    const anyNumber = fc.oneof(
      numeral.map(number),
      fc.tuple(numeral, numeral).map(([a, b]) => divideNumbers(number(a), number(b)).unwrapOr(0)),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => doubleNumber(value) ?? 0),
    );
    fc.assert(
      fc.property(anyNumber, (value) => {
        if (typeof value === 'number') return;
        const { mantissa, exponent, precision } = value;
        const text = numberText(value);
        expect(text).toMatch(/^-?(?:0|[1-9]\d*)(?:\.\d*[1-9])?$/);
        const shift = precision - bitLength(mantissa < 0n ? -mantissa : mantissa);
        const halfUnit = scaled(1n, exponent - shift - 1);
        expect(distanceAtMost(ratioFromText(text), ratio(value), halfUnit)).toBe(true);
        const digits = text
          .replace(/^-|\.|(?<=\d)0+$/g, '')
          .replace('.', '')
          .replace(/^0+/, '');
        if (digits.length < 2) return;
        // A decimal exactly between two numbers names the one with the even mantissa.
        const names = shift > 0 || mantissa % 2n === 0n ? distanceAtMost : distanceBelow;
        for (const shorter of neighbours(text)) expect(names(shorter, ratio(value), halfUnit)).toBe(false);
      }),
    );
  });

  it('a shorter decimal half way to the next number names the other one', () => {
    expect(numberText({ mantissa: -8133680864396243n, exponent: 3, precision: 53 })).toBe('-65069446915169944');
    expect(String(-65069446915169944)).toBe('-65069446915169944');
  });

  it('doubles print as JavaScript prints them, and come back', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true, min: 1e-6, max: 1e20 }), (value) => {
        const made = doubleNumber(value) ?? 0;
        expect(numberText(made)).toBe(String(value));
        expect(toDouble(made)).toBe(value);
        expect(toDouble(number(String(value)))).toBe(value);
      }),
    );
  });

  it('the remainder keeps the sign of the left number and is smaller than the right one', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 1 }), fc.integer({ min: 0, max: 4 }), (left, right, decimals) => {
        const unit = number(`1${'0'.repeat(decimals)}`);
        const [a, b] = [divideNumbers(left, unit)._unsafeUnwrap(), divideNumbers(right, 1)._unsafeUnwrap()];
        const rest = remainderNumbers(a, b)._unsafeUnwrap();
        expect(toDouble(rest)).toBeCloseTo(toDouble(a) % right, 6);
        expect(compareNumbers(rest, 0) * compareNumbers(a, 0)).toBeGreaterThanOrEqual(0);
        expect(compareNumbers(rest, b)).toBeLessThan(0);
        expect(compareNumbers(rest, negateNumber(b))).toBeGreaterThan(0);
      }),
    );
  });
});

function number(text: string): HclNumber {
  const value = parseNumber(text);
  if (value === undefined) throw new Error(`not a number: ${text}`);
  return value;
}

function make(top: bigint, bottom: bigint): Ratio {
  const sign = bottom < 0n ? -1n : 1n;
  let [a, b] = [top < 0n ? -top : top, bottom * sign];
  while (b !== 0n) [a, b] = [b, a % b];
  const divisor = a === 0n ? 1n : a;
  return { top: (top * sign) / divisor, bottom: (bottom * sign) / divisor };
}

function ratio(value: HclNumber): Ratio {
  const { mantissa, exponent } = parts(value);
  return scaled(mantissa, exponent);
}

function scaled(mantissa: bigint, exponent: number): Ratio {
  return exponent >= 0 ? make(mantissa << BigInt(exponent), 1n) : make(mantissa, 1n << BigInt(-exponent));
}

function ratioFromText(text: string): Ratio {
  const [whole = '', fraction = ''] = text.split('.');
  return make(
    BigInt(whole.replace(/^-/, '') + fraction) * (text.startsWith('-') ? -1n : 1n),
    10n ** BigInt(fraction.length),
  );
}

/** Is the number the nearest one of 512 bits to the exact value? */
function expectRounded(value: HclNumber, exact: Ratio): void {
  const got = ratio(value);
  if (exact.top === 0n || (got.top === exact.top && got.bottom === exact.bottom)) {
    expect(got).toEqual(exact);
    return;
  }
  const { mantissa, exponent } = parts(value);
  const bits = bitLength(mantissa < 0n ? -mantissa : mantissa);
  expect(bits).toBeLessThanOrEqual(PRECISION);
  expect(distanceAtMost(got, exact, scaled(1n, exponent + bits - PRECISION - 1))).toBe(true);
}

function distanceAtMost(left: Ratio, right: Ratio, limit: Ratio): boolean {
  const top = left.top * right.bottom - right.top * left.bottom;
  const distance = top < 0n ? -top : top;
  return distance * limit.bottom <= limit.top * left.bottom * right.bottom;
}

function distanceBelow(left: Ratio, right: Ratio, limit: Ratio): boolean {
  const top = left.top * right.bottom - right.top * left.bottom;
  const distance = top < 0n ? -top : top;
  return distance * limit.bottom < limit.top * left.bottom * right.bottom;
}

/** The two decimals with one digit less on either side of the text's value. */
function neighbours(text: string): readonly Ratio[] {
  const { top, bottom } = ratioFromText(text);
  const trailing = /\.(\d+)$/.exec(text)?.[1]?.length;
  const zeros = trailing === undefined ? (/0*$/.exec(text)?.[0].length ?? 0) + 1 : 0;
  const step =
    trailing === undefined
      ? { top: 10n ** BigInt(zeros), bottom: 1n }
      : { top: 1n, bottom: 10n ** BigInt(trailing - 1) };
  const scaledTop = top * step.bottom;
  const unit = bottom * step.top;
  const down = scaledTop / unit - (scaledTop % unit < 0n ? 1n : 0n);
  return [make(down * step.top, step.bottom), make((down + 1n) * step.top, step.bottom)];
}
