import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { MAX_PATTERN_LENGTH, programBound, regularExpression } from '../../src/shared/regular-expression.js';
import { anyText } from '../support/texts.js';

describe('regular expressions', () => {
  it.each([
    ['b+', 'abbc', true],
    ['^b', 'abbc', false],
    ['(?i)LINUX', 'linux', true],
    ['x$', 'x\n', false],
    ['^\\p{Greek}+$', 'αβγ', true],
    ['\\Qa.b', 'a.b', true],
    ['[]a]', ']', true],
    ['[[:alpha:]]{3}', 'ab1', false],
    ['', '', true],
  ])('%s in %j', (pattern, text, matches) => {
    expect(regularExpression(pattern)._unsafeUnwrap().matches(text)).toBe(matches);
  });

  it.each([
    ['b*', 'abbc', '-', '-a-c-'],
    ['x*', '', '-', '-'],
    ['a|', 'aab', '-', '--b-'],
    ['(a)(b)?', 'ac', '[$1$2]', '[a]c'],
  ])('%s in %j replaced', (pattern, text, replacement, replaced) => {
    expect(regularExpression(pattern)._unsafeUnwrap().replaceAll(text, replacement)).toBe(replaced);
  });

  it.each(['[', '(?=b)', 'a**', 'a{1001}', '\\1', 'x\\Z', '(?<=a)b', '(?x)a'])('%s is none', (pattern) => {
    expect(regularExpression(pattern).isErr()).toBe(true);
  });

  it('reads each character of a pattern once for its bound', () => {
    const begun = process.cpuUsage();
    for (const piece of ['[', '\\p{', '[^]', '[[:a']) programBound(piece.repeat(20_000));
    expect(process.cpuUsage(begun).user).toBeLessThan(1_000_000);
  });

  it('says what is wrong', () => {
    expect(regularExpression('a(b')._unsafeUnwrapErr()).toBe('missing closing ): `a(b`');
    expect(regularExpression('a'.repeat(1_001))._unsafeUnwrapErr()).toBe(
      'a regular expression may have at most 1000 characters, not 1001',
    );
  });

  it.each([
    ['[a-z]{1000}', 10],
    ['\\pL{1000}', 100],
    ['(?:a{30}){30}', 70],
    ['((a?){10}){100}', 50],
    ['(([^]]{10}){10}){10}', 20],
    ['[[:^word:]]{999}', 20],
  ])('refuses many %s before it is compiled', (pattern, times) => {
    expect(regularExpression(pattern.repeat(times))._unsafeUnwrapErr()).toContain('too large');
  });

  it('takes repetitions that people write', () => {
    const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
    expect(regularExpression(`^(?:${label}\\.){1,3}${label}$`)._unsafeUnwrap().matches('a.example-1.net')).toBe(true);
  });

  test('never more instructions than it was judged by', () => {
    const part = fc.constantFrom(
      'a',
      'é',
      '.',
      '\\d',
      '\\pL',
      '[a-c]',
      '[^x]',
      '^',
      '$',
      '\\b',
      'a|b',
      '\\Qa{3}\\E',
      '{',
    );
    const suffix = fc.constantFrom('', '', '*', '+', '+?', '?', '{3}', '{2,7}', '{4,}', '{,5}');
    const { pattern } = fc.letrec<{ pattern: string; item: string }>((tie) => ({
      item: fc
        .tuple(
          fc.oneof(
            { maxDepth: 5 },
            part,
            tie('pattern').map((inner) => `(${inner})`),
          ),
          suffix,
        )
        .map((texts) => texts.join('')),
      pattern: fc.array(tie('item'), { minLength: 1, maxLength: 4 }).map((items) => items.join('')),
    }));
    fc.assert(
      fc.property(pattern, (text) => {
        regularExpression(text).map(({ size }) => expect(size).toBeLessThanOrEqual(programBound(text)));
      }),
      { numRuns: 1_000 },
    );
  });

  test('any text is a pattern or refused, quickly', () => {
    fc.assert(
      fc.property(anyText(MAX_PATTERN_LENGTH), anyText(), (pattern, text) => {
        regularExpression(pattern).map(({ matches }) => matches(text));
      }),
    );
  });

  it('keeps refusals and patterns apart', () => {
    const first = regularExpression('kept');
    for (let at = 0; at < 300; at += 1) regularExpression(`p${at}`);
    expect(regularExpression('kept')).not.toBe(first);
    expect(regularExpression('kept')).toBe(regularExpression('kept'));
  });
});
