import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { MAX_FILTER_LENGTH, parseFilter } from '../../src/filter/parse-filter.js';
import { processorTimeOf } from '../support/processor-time.js';
import { anyText } from '../support/texts.js';

const tree = (text: string): unknown => parseFilter(text)._unsafeUnwrap();
const problem = (text: string): string => parseFilter(text)._unsafeUnwrapErr().message;

describe('reading', () => {
  it('binds and closer than or, and not closest', () => {
    expect(tree('not a == 1 and b == 2 or c == 3')).toMatchObject({
      kind: 'or',
      operands: [{ kind: 'and', operands: [{ kind: 'not' }, { kind: 'match' }] }, { kind: 'match' }],
    });
  });

  it.each([
    ['a == x', 'equal', false],
    ['a!=x', 'equal', true],
    ['a contains x', 'in', false],
    ['a not contains x', 'in', true],
    ['x in a', 'in', false],
    ['x not in a', 'in', true],
    ['a matches x', 'matches', false],
    ['a not matches x', 'matches', true],
  ])('%s', (text, operator, negated) => {
    expect(tree(text)).toMatchObject({ test: operator, negated, value: 'x', selector: { path: ['a'] } });
  });

  it.each([
    ['a is empty', 'empty', false],
    ['a is not empty', 'empty', true],
    ['a is nil', 'nil', false],
    ['a  is\tnot\n nil ', 'nil', true],
  ])('%j', (text, operator, negated) => {
    expect(tree(text)).toMatchObject({ test: operator, negated, selector: { path: ['a'] } });
  });

  it.each([
    ['a.b.0["c d"][`e`].f', ['a', 'b', '0', 'c d', 'e', 'f']],
    ['"/a/b~1c/d~0e/é"', ['a', 'b/c', 'd~e', 'é']],
    ['"/a~2/b~"', ['a~2', 'b~']],
    ['""', ['']],
    ['not', ['not']],
    ['a/b_c', ['a/b_c']],
  ])('the selector %s', (text, path) => {
    expect(tree(`${text} is empty`)).toMatchObject({ selector: { path, text } });
  });

  it.each([
    ['"a b"', 'a b'],
    ['`a"\\b`', 'a"\\b'],
    ['"\\x41\\u00e9\\U0001f600\\n\\101\\xc3\\xa9"', 'Aé😀\nAé'],
    ['-12.50', '-12.50'],
    ['0', '0'],
    ['word', 'word'],
    ['a.b["c"]', 'a.b.c'],
    ['"/usr/bin"', '/usr/bin'],
    ['""', ''],
  ])('the value %s', (text, value) => {
    expect(tree(`x == ${text}`)).toMatchObject({ value });
  });

  it.each([
    ['any A as x { x == 1 }', { kind: 'any', names: { single: 'x' } }],
    ['all A as i,v { v == 1 }', { kind: 'all', names: { index: 'i', value: 'v' } }],
    ['any A as _ , v{v == 1 }', { kind: 'any', names: { value: 'v' } }],
    ['any A as i, _ { i == 1 }', { kind: 'any', names: { index: 'i' } }],
    ['a == 1 or any A as x { x == 1 }', { kind: 'or' }],
    ['(any A as x { x == 1 }) and a == 1', { kind: 'and' }],
  ])('%s', (text, expected) => {
    expect(tree(text)).toMatchObject(expected);
  });
});

describe('problems', () => {
  it.each([
    ['', '1:1: expected "(", "all", "any", "not", a name, a number, a quoted string or a space, found the end'],
    ['a = 1', '1:3: expected "!=", "==", "contains", "in", "is", "matches" or "not", found "="'],
    ['a == 1 &&', '1:8: expected "and", "or" or the end, found "&"'],
    ["a == 'x'", '1:6: expected a name, a number or a quoted string, found "\'"'],
    ['a == 5e1', '1:7: invalid characters after the number 5; quote a value that is not a number'],
    ['(a == 1', '1:8: a parenthesis is not closed'],
    ['a[b] == 1', '1:3: a quoted string is needed between brackets'],
    ['a["b" == 1', '1:7: a bracket is not closed'],
    ['a == "b', '1:6: a quoted string is not closed'],
    ['a == "\\q"', '1:6: the quoted string contains an invalid escape; the quote itself cannot be escaped'],
    ['a == "\\ud800"', '1:6: the quoted string contains an invalid escape; the quote itself cannot be escaped'],
    ['x in "a,b"', '1:6: a selector is needed after in: a list of values cannot be written'],
    ['a == 1 or\n😀', '2:1: expected'],
    ['any A as x { x == 1 } and b == 2', '1:23: expected the end, found "a"'],
  ])('%j', (text, message) => {
    expect(problem(text)).toContain(message);
  });

  it('tells line, column and offset', () => {
    expect(parseFilter('a == `😀` and\n  b ~ 1')._unsafeUnwrapErr()).toMatchObject({ line: 2, column: 5, offset: 18 });
  });

  it('bounds length and depth', () => {
    expect(problem('a'.repeat(MAX_FILTER_LENGTH + 1))).toContain('may have at most 65536 characters, not 65537');
    expect(problem(`${'('.repeat(1_000)}a == 1${')'.repeat(1_000)}`)).toContain('nested at most 200 levels deep');
    expect(problem(`${'not '.repeat(1_000)}a == 1`)).toContain('nested at most 200 levels deep');
    expect(problem('any a as b { '.repeat(1_000))).toContain('nested at most 200 levels deep');
    expect(parseFilter(`${'('.repeat(100)}a == 1${')'.repeat(100)}`).isOk()).toBe(true);
  });

  it('reads the longest texts in time', () => {
    const long = (part: string): string => part.repeat(Math.floor(MAX_FILTER_LENGTH / part.length));
    const texts = [
      long('a == 1 or ').replace(/ or $/, ''),
      long('a == 1 and '),
      long('('),
      long('not '),
      long('a.'),
      long('a["'),
      `a == "${long('\\x41').slice(8)}"`,
      `a == ${long('1').slice(8)}`,
      long('any a as b { '),
      long('"/a'),
      long('~'),
      long(' '),
    ];
    const time = processorTimeOf(() => {
      for (const text of texts) parseFilter(text);
    });
    expect(time).toBeLessThan(5_000);
  });

  test('any text is read or refused at a position within it', () => {
    const piece = fc.constantFrom(
      'a',
      ' ',
      'and',
      'or',
      'not',
      '(',
      ')',
      '==',
      '"',
      '`',
      '1',
      '.',
      '[',
      ']',
      'any',
      'as',
      '{',
      '}',
      'in',
      '\\',
    );
    const text = fc.oneof(
      anyText(),
      fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join('')),
    );
    fc.assert(
      fc.property(text, (written) => {
        const result = parseFilter(written);
        if (result.isErr()) expect(result.error.offset).toBeLessThanOrEqual(written.length);
      }),
      { numRuns: 2_000 },
    );
  });
});
