// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the language under test has the same template syntax
import { describe, expect, it } from 'vitest';
import { createBudget } from '../../../../src/hcl/evaluate/budget.js';
import { evaluateExpression } from '../../../../src/hcl/index.js';
import { stringValue } from '../../../../src/hcl/values/value.js';

function replace(text: string, pattern: string, replacement: string) {
  const budget = createBudget();
  const names = new Map(
    Object.entries({ text, pattern, replacement }).map(([name, value]) => [name, stringValue(value)]),
  );
  const result = evaluateExpression('regex_replace(text, pattern, replacement)', { names, budget });
  return { budget, result: result.map(({ value }) => (value.kind === 'string' ? value.value : '')) };
}

describe('regex_replace', () => {
  it.each([
    ['aaa', 'a*', 'x', 'x'],
    ['baac', 'a*', 'x', 'xbxcx'],
    ['k=v, l=w', '(\\w)=(\\w)', '$2=$1', 'v=k, w=l'],
    ['ab', '(?P<first>a)(b)', '${2}${first}$9$$', 'ba$'],
    ['ab', '(a)(b)', '<$01|${02}|$0|$2>', '<||ab|b>'],
    ['é漢😀', '.', '<$0>', '<é><漢><😀>'],
    ['a\nb', '(?m)^', '> ', '> a\n> b'],
    ['aXbX', 'X$', '', 'aXb'],
    ['foo', '\\b', '|', '|foo|'],
  ])('%s by %s', (text, pattern, replacement, expected) => {
    expect(replace(text, pattern, replacement).result._unsafeUnwrap()).toBe(expected);
  });

  /** A search that looks at all of the text before it settles for one character, for each of its characters. */
  it.each([['(a*b|a)'], ['[^b]*b|a'], ['(?s).*b|a'], ['a.*z|a']])(
    'gives up %s instead of taking quadratic time',
    (pattern) => {
      const { result, budget } = replace('a'.repeat(100_000), pattern, 'x');
      expect(result._unsafeUnwrapErr()[0]?.code).toBe('too_much_work');
      expect(budget.exhausted).toBe(true);
    },
  );

  it('replaces every word of a long text', () => {
    expect(replace('word '.repeat(10_000), '\\w+', 'x').result._unsafeUnwrap()).toBe('x '.repeat(10_000));
  });

  it.each([['(?:' + 'a'.repeat(500) + '){1000}'], ['(((a{10}){10}){10}b){999}'], ['a{999}'.repeat(20)]])(
    'refuses a program that is too large before it is made: %s',
    (pattern) => {
      expect(replace('a', pattern, '').result._unsafeUnwrapErr()[0]?.message).toMatch(/too large/);
    },
  );
});
