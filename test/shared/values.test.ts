import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  compareBytes,
  lowerCase,
  parseBoolean,
  parseFloat64,
  parseInt64,
  parseInt64Literal,
  parseUint64Literal,
  trimWhiteSpace,
  upperCase,
} from '../../src/shared/values.js';
import { processorTimeOf } from '../support/processor-time.js';
import { wellFormedText } from '../support/texts.js';

describe('integers', () => {
  it.each([
    ['0', 0n],
    ['-0', 0n],
    ['+7', 7n],
    ['007', 7n],
    ['9223372036854775807', 9223372036854775807n],
    ['-9223372036854775808', -9223372036854775808n],
    ['9223372036854775808', undefined],
    ['-9223372036854775809', undefined],
    ['', undefined],
    ['-', undefined],
    ['+-1', undefined],
    [' 1', undefined],
    ['1_0', undefined],
    ['0x10', undefined],
    ['1.0', undefined],
    ['٣', undefined],
  ])('%j in decimal digits', (text, value) => {
    expect(parseInt64(text)).toBe(value);
  });

  it.each([
    ['0', 0n],
    ['62', 62n],
    ['0x32', 50n],
    ['0X3F', 63n],
    ['-0x10', -16n],
    ['0b101', 5n],
    ['0o17', 15n],
    ['017', 15n],
    ['0_17', 15n],
    ['00', 0n],
    ['5_0', 50n],
    ['0x_5', 5n],
    ['08', undefined],
    ['5__0', undefined],
    ['_5', undefined],
    ['5_', undefined],
    ['0x', undefined],
    ['0b2', undefined],
    ['9223372036854775808', undefined],
  ])('%j as a literal', (text, value) => {
    expect(parseInt64Literal(text)).toBe(value);
  });

  it('without sign reaches 2^64 - 1', () => {
    expect(parseUint64Literal('18446744073709551615')).toBe(18446744073709551615n);
    expect(parseUint64Literal('18446744073709551616')).toBeUndefined();
    expect(parseUint64Literal('-1')).toBeUndefined();
    expect(parseUint64Literal('+1')).toBeUndefined();
  });
});

describe('floats', () => {
  it.each([
    ['1.5', 1.5],
    ['.5', 0.5],
    ['5.', 5],
    ['1e3', 1000],
    ['-1E-2', -0.01],
    ['1_000', 1000],
    ['1_0.0_5e1_0', 1005e8],
    ['1e-400', 0],
    ['1e400', undefined],
    ['-1e400', undefined],
    ['0x1p4', 16],
    ['0X1.8P1', 3],
    ['-0x.8p0', -0.5],
    ['0x_1p0', 1],
    ['0x1_0p0', 16],
    ['0x0p99999', 0],
    ['0x1p-1074', 5e-324],
    ['0x1.fffffffffffffp1023', Number.MAX_VALUE],
    ['0x1p1024', undefined],
    ['0x20000000000001p0', 2 ** 53],
    ['0x20000000000003p0', 2 ** 53 + 4],
    ['0x10', undefined],
    ['0xp1', undefined],
    ['0x1_p1', undefined],
    ['inf', Infinity],
    ['-Infinity', -Infinity],
    ['+INF', Infinity],
    ['nan', NaN],
    ['NaN', NaN],
    ['-nan', undefined],
    ['_1', undefined],
    ['1_', undefined],
    ['1_.5', undefined],
    ['1._5', undefined],
    ['1__0', undefined],
    ['.', undefined],
    ['', undefined],
    ['1e', undefined],
    [' 1', undefined],
    ['1,5', undefined],
  ])('%j', (text, value) => {
    expect(parseFloat64(text)).toBe(value);
  });

  test('what JavaScript writes is read back', () => {
    fc.assert(fc.property(fc.double(), (number) => Object.is(parseFloat64(String(number)), number)));
  });

  test('takes time linear in the text', () => {
    const texts = ['1'.repeat(1e6), `${'1_'.repeat(1e6)}x`, `0x${'f'.repeat(1e6)}p1`, `1e${'9'.repeat(1e6)}`];
    const time = processorTimeOf(() => {
      for (const text of texts) {
        parseFloat64(text);
        parseInt64(text);
        parseInt64Literal(text);
      }
    });
    expect(time).toBeLessThan(5_000);
  });
});

it('knows the spellings of booleans', () => {
  expect(['1', 't', 'T', 'true', 'True', 'TRUE'].every((text) => parseBoolean(text) === true)).toBe(true);
  expect(['0', 'f', 'F', 'false', 'False', 'FALSE'].every((text) => parseBoolean(text) === false)).toBe(true);
  expect(['', 'yes', 'tRUE', ' true', '2'].map(parseBoolean)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

it('trims white space as Unicode has it', () => {
  expect(trimWhiteSpace('\u0085\u00a0\u2003 a b \u3000\n')).toBe('a b');
  expect(trimWhiteSpace('\ufeffa\u200b')).toBe('\ufeffa\u200b');
  expect(trimWhiteSpace('   ')).toBe('');
});

test('texts are ordered by their bytes', () => {
  fc.assert(
    fc.property(wellFormedText(5), wellFormedText(5), (left, right) => {
      expect(Math.sign(compareBytes(left, right))).toBe(Buffer.compare(Buffer.from(left), Buffer.from(right)));
    }),
  );
  expect(compareBytes('\u{1f600}', '\uffff')).toBeGreaterThan(0);
});

const characters = Array.from({ length: 0x30000 }, (_, code) => code)
  .filter((code) => code < 0xd800 || code >= 0xe000)
  .map((code) => String.fromCodePoint(code));

describe('case mapping', () => {
  it('maps each character to one character, whatever stands beside it', () => {
    for (const map of [upperCase, lowerCase]) {
      const wrong = characters.filter((character) => {
        const mapped = map(character);
        return [...mapped].length !== 1 || map(`a${character}b`) !== map('a') + mapped + map('b');
      });
      expect(wrong).toEqual([]);
    }
  });

  it('is the platform’s where that keeps the length', () => {
    const differs = (own: (text: string) => string, platform: (text: string) => string) =>
      characters.filter((each) => platform(each).length === each.length && own(each) !== platform(each));
    expect(differs(upperCase, (text) => text.toUpperCase())).toEqual([]);
    expect(differs(lowerCase, (text) => text.toLowerCase())).toEqual([]);
  });

  it.each([
    ['ßﬁŉ', 'ßﬁŉ', 'ßﬁŉ'],
    ['ᾀᾳῃ', 'ᾈᾼῌ', 'ᾀᾳῃ'],
    ['ΑΣ', 'ΑΣ', 'ας'.replace('ς', 'σ')],
    ['İı', 'İI', 'iı'],
    ['𐐨é', '𐐀É', '𐐨é'],
  ])('%s', (text, upper, lower) => {
    expect(upperCase(text)).toBe(upper);
    expect(lowerCase(text)).toBe(lower);
  });
});
