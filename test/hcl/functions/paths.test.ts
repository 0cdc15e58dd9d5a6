import { posix } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanPath, pathFunctions, pathMatcher } from '../../../src/hcl/functions/path-pattern.js';
import { evaluateExpression, hclFunctions } from '../../../src/hcl/index.js';

const functions = new Map([...hclFunctions, ...pathFunctions.map((each) => [each.name, each] as const)]);

describe('functions of paths', () => {
  it.each([
    ['basename("/a/b.sh")', 'b.sh'],
    ['basename("/a/b/")', 'b'],
    ['basename("b.sh")', 'b.sh'],
    ['basename("/")', '/'],
    ['basename("")', '.'],
    ['dirname("/a/b.sh")', '/a'],
    ['dirname("/a/b/")', '/a/b'],
    ['dirname("a//b/../c.sh")', 'a'],
    ['dirname("b.sh")', '.'],
    ['dirname("/b.sh")', '/'],
    ['dirname("")', '.'],
  ])('%s is %s', (expression, value) => {
    expect(evaluateExpression(expression, { functions })._unsafeUnwrap().text).toBe(JSON.stringify(value));
  });

  it('shorten a path as the platform does', () => {
    const path = fc.array(fc.constantFrom('a', 'b.c', '.', '..', '/', '//', '/../'), { maxLength: 12 });
    fc.assert(
      fc.property(path, (parts) => {
        const text = parts.join('');
        const expected = posix.normalize(text).replace(/(?<=.)\/$/, '');
        expect(cleanPath(text)).toBe(expected);
      }),
    );
  });
});

describe('a pattern of paths', () => {
  it.each([
    ['*.sh', ['a.sh', '.sh'], ['a.sh.bak', 'sub/a.sh']],
    ['**/*.sh', ['a.sh', 'sub/a.sh', 'x/y/a.sh'], ['a.txt']],
    ['**', ['a', 'x/y/z'], []],
    ['conf/**', ['conf/a', 'conf/x/a'], ['a', 'other/conf/a']],
    ['a?c', ['abc', 'aéc'], ['ac', 'a/c']],
    ['[a-c]x', ['ax', 'cx'], ['dx', 'x']],
    ['[!a-c]x', ['dx'], ['ax']],
    ['{a,b/*}.txt', ['a.txt', 'b/c.txt'], ['c.txt', 'b/c/d.txt']],
    ['a\\*', ['a*'], ['ab']],
    ['**/a/**/b', ['a/b', 'x/a/y/z/b'], ['b', 'a']],
  ])('%s', (pattern, matching, others) => {
    const matches = pathMatcher(pattern)._unsafeUnwrap();
    expect(matching.filter((path) => !matches(path))).toEqual([]);
    expect(others.filter(matches)).toEqual([]);
  });

  it.each([['{a'], ['a}'], ['[a'], ['a\\'], ['{a,b}'.repeat(10)], ['a'.repeat(2000)]])('%s is refused', (pattern) => {
    expect(pathMatcher(pattern).isErr()).toBe(true);
  });

  it('takes no longer for hostile patterns', () => {
    const matches = pathMatcher('*a'.repeat(300))._unsafeUnwrap();
    expect(matches('a'.repeat(299))).toBe(false);
    expect(pathMatcher('**/'.repeat(300))._unsafeUnwrap()('a/'.repeat(300))).toBe(true);
  });
});
