import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { flattenFreeForm, floatText } from '../../../src/jobs/diff/diff-fields.js';

describe('floatText', () => {
  test.each<[number, string]>([
    [0, '0'],
    [-0, '-0'],
    [3, '3'],
    [-2.5, '-2.5'],
    [0.1, '0.1'],
    [100_000, '100000'],
    [999_999, '999999'],
    [999_999.5, '999999.5'],
    [1_000_000, '1e+06'],
    [1_234_567, '1.234567e+06'],
    [-123_456_789_012, '-1.23456789012e+11'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [1e100, '1e+100'],
    [5e-324, '5e-324'],
  ])('%d is %s', (value, text) => {
    expect(floatText(value)).toBe(text);
  });

  test('reads back as the same number', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(Number(floatText(value))).toBe(value);
      }),
    );
  });
});

describe('flattenFreeForm', () => {
  test('nothing is nothing', () => {
    expect([...flattenFreeForm(null)]).toEqual([]);
    expect([...flattenFreeForm({})]).toEqual([]);
  });

  test('lists and maps become names with brackets; empty ones leave nothing', () => {
    const value = { a: 'x', b: [true, [null]], c: { d: { e: 1 } }, f: [], g: {} };
    expect([...flattenFreeForm(value)]).toEqual([
      ['a', 'x'],
      ['b[0]', 'true'],
      ['b[1][0]', 'nil'],
      ['c[d][e]', '1'],
    ]);
  });
});
