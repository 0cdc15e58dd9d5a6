// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the language under test has the same template syntax
import { describe, expect, test } from 'vitest';
import {
  evaluateExpression,
  parseFile,
  parseText,
  renderDiagnostic,
  renderDiagnostics,
} from '../../../src/hcl/index.js';
import { processorTimeOf } from '../../support/processor-time.js';

/** All mistakes as `line:column-line:column code`. */
function mistakes(text: string): string[] {
  const result = parseFile(text);
  if (result.isOk()) return [];
  return result.error.map(({ start, end, code }) => `${start.line}:${start.column}-${end.line}:${end.column} ${code}`);
}

describe('structure', () => {
  test.each([
    ['a = 1', 'attribute at the end of the source'],
    ['a = 1 # remark\n// remark\n/* two\nlines */ b = 2\r\n', 'remarks and both kinds of line ends'],
    ['\ufeffa = 1\n', 'byte order mark'],
    ['a "b" c { d = 1 }\n', 'labels of both kinds, one line'],
    ['a {}\nb {\n}\n', 'empty blocks'],
    ['for = 1\nif = 2\nnull = 3\ntrue {\n}\n', 'no reserved words'],
    ['ä_b-c = 1\n', 'names beyond ASCII, with dashes'],
    ['a = {\n  b = 1, c : 2,\n\n  "d" = 3\n}\n', 'separators of an object'],
    ['a = [\n1,\n\n2\n]\n', 'line ends in brackets'],
    ['a = <<E\nx ${ {\n b = 1 }.b } y\n  E\n', 'indented end marker, expression over lines'],
    ['a = (1\n+ 2)\n', 'line ends in parentheses'],
  ])('%j is accepted: %s', (text) => {
    expect(mistakes(text)).toEqual([]);
  });

  test.each([
    ['a', ['1:2-1:2 block_header']],
    ['a\n{\n}\n', ['1:2-2:1 block_header']],
    ['a = 1 b = 2\n', ['1:7-1:8 newline_expected']],
    ['a = 1, b = 2\n', ['1:6-1:7 newline_expected']],
    ['"a" = 1\n', ['1:1-1:2 quoted_name']],
    ['a = 1\na = 2\n', ['2:1-2:2 duplicate_attribute']],
    ['a {\n', ['1:3-1:4 block_not_closed']],
    ['a { b = 1\n}\n', ['1:10-2:1 one_line_block']],
    ['a { b { } }\n', ['1:5-1:8 one_line_block']],
    ['a {\n b = 1 }\n', ['2:8-2:9 newline_expected']],
    ['a "${b}" {\n}\n', ['1:4-1:6 block_header']],
    ['a = \n', ['1:5-2:1 expression_expected']],
    ['a = [1\n', ['1:5-1:6 not_closed']],
    ['a = (1 2)\n', ['1:8-1:9 not_closed']],
    ['a = {\n b\n = 1\n}\n', ['2:3-3:1 separator_expected']],
    ["a = 'x'\n", ['1:5-1:6 bad_character']],
    ['a = `x`\n', ['1:5-1:6 bad_character']],
    ['a = 1 & 2\n', ['1:7-1:8 bad_character']],
    ['a = \u0000\n', ['1:5-1:6 bad_character']],
    ['a = "\\q"\n', ['1:6-1:8 bad_escape']],
    ['a = "\\uD83D"\n', ['1:6-1:12 bad_escape']],
    ['a = "x\n', ['1:7-2:1 newline_in_text']],
    ['a = "x', ['1:5-1:6 text_not_closed']],
    ['a = <<E\nx\n', ['3:1-3:1 heredoc_not_closed']],
    ['/* a', ['1:1-1:3 comment_not_closed']],
    ['a = "${b"\n', ['1:9-1:10 unexpected_text']],
    ['a = "%{ if b }"\n', ['1:15-1:16 unbalanced_directive']],
    ['a = "%{ what }"\n', ['1:9-1:13 bad_directive']],
    ['a = b.*.c.*\n', ['1:11-1:12 nested_splat']],
    ['a = f(b..., c)\n', ['1:11-1:12 not_closed']],
    ['a = [b...]\n', ['1:7-1:10 separator_expected']],
    ['b "x\ry" {}\n', ['1:3-1:5 text_not_closed']],
    ['a = "x\ry"\n', ['1:7-1:8 newline_in_text']],
    ['a = "$\r"\n', ['1:7-1:8 newline_in_text']],
    ['a = <<E\nx\ry\nE\nb = \n', ['2:2-2:3 bad_character', '4:5-5:1 expression_expected']],
    ['a = <<E\r\nx\r\r\nE\r\n', ['2:2-2:3 bad_character']],
    ['a\u200db = 1\n', ['1:2-1:3 bad_character']],
    ['a = f(b...,)\n', ['1:11-1:12 not_closed']],
    ['a = {\n  for = 1\n}\n', ['2:7-2:8 bad_for']],
    ['a = "\ud800"\n', ['1:6-1:7 bad_unicode']],
  ])('%j is refused', (text, expected) => {
    expect(mistakes(text)).toEqual(expected);
  });

  test('the marker that ends a heredoc may have any white space around it', () => {
    for (const space of ['\u00a0', '\u3000', '\u2028', '\f', '\u0085']) {
      expect(mistakes(`a = <<E\nx\n${space}E${space}\n`)).toEqual([]);
    }
    expect(mistakes('a = <<E\nx\n\ufeffE\n')).toEqual(['4:1-4:1 heredoc_not_closed']);
  });

  test('all mistakes of a file are found, in order, and one mistake is not told twice', () => {
    const text = 'a = ]\nb = [,]\nc = {\n  d =\n   3\n}\ne = "x${y.}"\ng {\n  h = 1 2\n  i = \'\n}\nj = 1\n';
    expect(mistakes(text).map((each) => each.split('-')[0])).toEqual(['1:5', '2:6', '4:6', '7:11', '9:9', '10:7']);
  });

  test('columns count what is seen as one character, offsets count bytes', () => {
    const text = 'a = "👨‍👩‍👧é" + ]\n';
    const [first] = parseFile(text)._unsafeUnwrapErr();
    const before = text.slice(0, text.indexOf(']'));
    const segments = [...new Intl.Segmenter('en').segment(before)].length;
    expect(first?.start).toEqual({ line: 1, column: segments + 1, offset: Buffer.byteLength(before) });
  });
});

describe('nesting', () => {
  const nests: readonly (readonly [string, (depth: number) => string])[] = [
    ['parentheses', (depth) => `a = ${'('.repeat(depth)}1${')'.repeat(depth)}\n`],
    ['tuples', (depth) => `a = ${'['.repeat(depth)}1${']'.repeat(depth)}\n`],
    ['objects', (depth) => `a = ${'{b='.repeat(depth)}1${'}'.repeat(depth)}\n`],
    ['templates', (depth) => `a = ${'"${'.repeat(depth)}1${'}"'.repeat(depth)}\n`],
    ['directives', (depth) => `a = "${'%{if true}'.repeat(depth)}${'%{endif}'.repeat(depth)}"\n`],
    ['calls', (depth) => `a = ${'f('.repeat(depth)}1${')'.repeat(depth)}\n`],
    ['negations', (depth) => `a = ${'!'.repeat(depth)}true\n`],
    ['conditionals', (depth) => `a = ${'true ? 1 : '.repeat(depth)}1\n`],
    ['indexes', (depth) => `a = ${'b['.repeat(depth)}0${']'.repeat(depth)}\n`],
    ['splats', (depth) => `a = b${'[*]'.repeat(depth)}\n`],
    ['for-expressions', (depth) => `a = ${'[for b in '.repeat(depth)}[]${': b]'.repeat(depth)}\n`],
    ['blocks', (depth) => `${'a {\n'.repeat(depth)}${'}\n'.repeat(depth)}`],
    ['precedences', (depth) => `a = ${'1 || 1 && 1 == 1 < 1 + 1 * ('.repeat(depth)}1${')'.repeat(depth)}\n`],
  ];

  test.each(nests)('%s: a hundred levels are read, too many are refused, and no stack overflows', (_, nested) => {
    expect(mistakes(nested(90))).toEqual([]);
    for (const depth of [500, 20_000])
      expect(
        parseFile(nested(depth))
          ._unsafeUnwrapErr()
          .map(({ code }) => code),
      ).toContain('too_deep');
  });

  test('long chains of operators are not deep', () => {
    expect(evaluateExpression(`1${' + 1'.repeat(20_000)}`)._unsafeUnwrap().text).toBe('20001');
  });

  test('a text that is too long is refused before it is read', () => {
    const [first] = parseFile(`# ${'x'.repeat(1_100_000)}`)._unsafeUnwrapErr();
    expect(first?.code).toBe('too_long');
  });
});

describe('cost', () => {
  const hostile: readonly (readonly [string, (size: number) => string])[] = [
    ['open comments', (size) => '/* '.repeat(size / 3)],
    ['dots behind numbers', (size) => `a = ${'1..'.repeat(size / 3)}`],
    ['heredoc headers', (size) => 'a = <<E\n'.repeat(size / 8)],
    ['quotes', (size) => '"'.repeat(size)],
    ['sequences on one line of a heredoc', (size) => `a = <<E\n${'${b}'.repeat(size / 4)}\nE\n`],
    ['mistakes on one line', (size) => 'é = ] '.repeat(size / 6)],
    ['mistakes on many lines', (size) => 'é = ]\n'.repeat(size / 6)],
    ['dollars', (size) => `a = "${'$'.repeat(size)}"\n`],
  ];

  test.each(hostile)('%s: ten times the text takes about ten times the time', (_, make) => {
    const time = (size: number): number => {
      const text = make(size);
      return processorTimeOf(() => parseFile(text));
    };
    time(10_000);
    expect(time(500_000)).toBeLessThan(4000);
  });
});

describe('rendering', () => {
  test('position, line, carets, what to do', () => {
    const [first] = parseFile('job "a" {\n\tregion = \'x\'\n}\n')._unsafeUnwrapErr();
    expect(first && renderDiagnostic(first)).toBe(
      [
        'job:2,11: error: Single quotes do not quote strings.',
        "  2 |  region = 'x'",
        '    |           ^',
        '  Use double quotes.',
      ].join('\n'),
    );
  });

  test('in colours on demand, and never with control characters of the text', () => {
    const text = 'a = "\u001b[31m" ]\n';
    const diagnostics = parseFile(text)._unsafeUnwrapErr();
    expect(renderDiagnostics(diagnostics)).not.toContain('\u001b');
    expect(renderDiagnostics(diagnostics, { colour: true })).toContain('\u001b[31merror:\u001b[0m');
  });

  test('a long line is cut around the position', () => {
    const [first] = parseText(`${'1 + '.repeat(5000)}]`)._unsafeUnwrapErr();
    const [line = '', carets = ''] = first?.snippet.split('\n') ?? [];
    expect(line.length).toBeLessThan(140);
    expect(line.charAt(carets.indexOf('^'))).toBe(']');
  });
});
