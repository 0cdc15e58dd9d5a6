import { describe, expect, it } from 'vitest';
import { functionNames, parseTemplate } from '../../src/templates/index.js';

function fault(source: string, delimiters = {}): string {
  return parseTemplate(source, delimiters).match(
    () => 'none',
    ({ line, column, message }) => `${line}:${column}: ${message}`,
  );
}

describe('names of the node that no node has', () => {
  it.each([
    '{{ env "node.unique.hostname" }}',
    '{{ mustEnv "node.name" }}',
    '{{ envOrDefault "node.shoe" "x" }}',
    '{{ with env "attr." }}{{ . }}{{ end }}',
    '{{ if eq (env "meta.") "x" }}{{ end }}',
    '{{ "node.shoe" | env }}',
    '{{ "x" | envOrDefault "node.shoe" }}',
  ])('%s is refused', (source) => {
    expect(fault(source)).toMatch(/^1:\d+: unknown reference "(node|attr|meta)\.[a-z.]*": nodes have node\.unique\.id/);
  });

  it.each([
    '{{ env "node.pool" }}',
    '{{ env "attr.anything" }}',
    '{{ env "meta.a.b" }}',
    '{{ env "nodes" }}',
    '{{ "x" | env }}',
  ])('%s is not', (source) => {
    expect(fault(source)).toBe('none');
  });
});

describe('reading templates', () => {
  it.each([
    ['{{ "a', '1:4: the string is not closed'],
    ['a\n\nbé {{ x }}', '3:7: there is no function x'],
    ['{{ env "a"', '1:1: the action has no }}'],
    ['{{/* a', '1:3: the comment has no end'],
    ['{{/* a */ x }}', '1:8: a comment ends with */}} or */ -}}'],
    ['{{ }}', '1:4: a value is missing before "}}"'],
    ['{{ ~ }}', '1:4: "~" is not possible in an action'],
    ["{{ 'a' }}", '1:4: characters in single quotes are not supported: use a string in double quotes'],
    ['{{ "\\q" }}', '1:4: the string contains an invalid escape'],
    ['{{ 99999999999999999999999 }}', '1:4: 99999999999999999999999 is not a number'],
    ['{{ 9223372036854775808 }}', '1:4: 9223372036854775808 is not a number'],
    ['{{ nil }}', '1:4: nil alone is not an action'],
    ['{{ printf "%d" }}', '1:4: printf: the format has 1 verbs, not one for each of 0 values'],
    ['{{ 1 | printf "x" }}', '1:8: printf: the format has 0 verbs, not one for each of 1 values'],
    ['{{ printf "%w" 1 }}', '1:4: printf: %w is not supported'],
    ['{{ printf "%#v" 1 }}', '1:4: printf: %#v is not supported'],
    ['{{ printf "%*d" 1 2 }}', '1:4: printf: %* is not supported'],
    ['{{ printf "5%" }}', '1:4: printf: a verb is missing after %'],
    ['{{ printf "%10000d" 1 }}', '1:4: printf: a width may be at most 9999, a precision 999'],
    ['{{ if true }}{{ printf "%y" . }}{{ end }}', '1:17: printf: %y is not supported'],
    ['{{ 09 }}', '1:4: 09 is not a number'],
    ['{{ 1 2 }}', '1:4: only functions take arguments'],
    ['{{ "a" | "b" }}', '1:10: only functions take arguments'],
    ['{{ env }}', '1:4: env takes 1 argument, not 0'],
    ['{{ env "a" "b" }}', '1:4: env takes 1 argument, not 2'],
    ['{{ "x" | loop 1 2 }}', '1:10: loop takes 1 to 2 arguments, not 3'],
    ['{{ print env }}', '1:10: env takes 1 argument, not 0'],
    ['{{ eq 1 }}', '1:4: eq takes 2 or more arguments, not 1'],
    ['{{ $x }}', '1:4: there is no variable $x'],
    ['{{ $x = 1 }}', '1:4: there is no variable $x'],
    ['{{ if true }}{{ $x := 1 }}{{ end }}{{ $x }}', '1:39: there is no variable $x'],
    ['{{ if true }}{{ $x := 1 }}{{ else }}{{ $x }}{{ end }}', '1:40: there is no variable $x'],
    ['{{ $x, $y := 1 }}', '1:4: too many variables are set at once'],
    ['{{ print ($x := 1) }}', '1:11: a variable cannot be set within parentheses'],
    ['{{ (1 }}', '1:4: the parenthesis is not closed'],
    ['{{ "a".b }}', '1:4: a constant has no members'],
    ['{{ print"a" }}', '1:9: a space is missing before "\\"a\\""'],
    ['{{ if true }}', '1:4: the if has no end'],
    ['{{ range 3 }}{{ if true }}{{ end }}', '1:4: the range has no end'],
    ['{{ end }}', '1:1: there is no block that end could belong to'],
    ['{{ else }}', '1:1: there is no block that else could belong to'],
    ['{{ if 1 }}{{ else }}{{ else }}{{ end }}', '1:21: only the end of the if can follow its else'],
    ['{{ range 1 }}{{ else if 1 }}{{ end }}', '1:22: else if cannot follow range'],
    ['{{ break }}', '1:4: break is only possible within a range'],
    ['{{ range 1 }}{{ else }}{{ continue }}{{ end }}', '1:27: continue is only possible within a range'],
    ['{{ define "x" }}{{ end }}', '1:1: templates within templates are not supported'],
    ['{{ template "x" }}', '1:1: templates within templates are not supported'],
    [
      '{{ service "web" }}',
      '1:4: the function service is not supported: it queries a service catalogue, which templates cannot reach here',
    ],
    [
      '{{ key "a" }}',
      '1:4: the function key is not supported: it reads a key-value store that is not part of this server: use nomadVar',
    ],
    [
      '{{ with secret "a" }}{{ end }}',
      '1:9: the function secret is not supported: it reads a secret store that is not part of this server: use nomadVar',
    ],
    [
      '{{ file "/etc/passwd" }}',
      '1:4: the function file is not supported: it reads files and runs programs of the host',
    ],
    ['{{ timestamp }}', '1:4: the function timestamp is not supported: its result differs each time'],
    ['{{ constructor }}', '1:4: there is no function constructor'],
    ['{{ __proto__ }}', '1:4: there is no function __proto__'],
  ])('%s', (source, expected) => {
    expect(fault(source)).toBe(expected);
  });

  it('takes other delimiters', () => {
    const render = (source: string, left: string, right: string): string | undefined =>
      parseTemplate(source, { left, right })
        ._unsafeUnwrap()
        .render({ env: { A: 'x' }, meta: {}, variable: () => undefined, variables: () => [] })
        ._unsafeUnwrap().text;
    expect(render('{{ a }} [[ env "A" ]] ]]', '[[', ']]')).toBe('{{ a }} x ]]');
    expect(render('a <<- env "A" ->> b', '<<', '>>')).toBe('axb');
    expect(render('{{ env "A" }}', '', '')).toBe('x');
    expect(fault('(( env "A" ))', { left: '((', right: '))' })).toBe('none');
  });

  it.each([
    ['too long', 'x'.repeat(262_145), 'a template may have at most 262144 characters'],
    ['a constant that is too long', `{{ "${'a'.repeat(70_000)}" }}`, 'a constant may have at most 65536 characters'],
    ['blocks within blocks', '{{if 1}}'.repeat(200), 'blocks may be nested at most 100 levels deep'],
    ['parentheses within parentheses', `{{ ${'('.repeat(200)}`, 'the action has no }}'],
    [
      'parentheses, closed',
      `{{ ${'('.repeat(200)}1${')'.repeat(200)} }}`,
      'parentheses may be nested at most 100 levels deep',
    ],
    [
      'variables',
      Array.from({ length: 1_001 }, (_, at) => `{{ $v${at} := 1 }}`).join(''),
      'a template may have at most 1000 variables',
    ],
  ])('is bounded: %s', (_, source, expected) => {
    expect(fault(source)).toContain(expected);
  });

  it('lists its functions', () => {
    expect(functionNames()).toContain('nomadVar');
    expect(functionNames()).toEqual([...functionNames()].sort());
  });
});
