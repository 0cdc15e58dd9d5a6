import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTemplate, type TemplateInputs } from '../../src/templates/index.js';

const inputs: TemplateInputs = {
  env: { A: 'x'.repeat(1_000) },
  meta: {},
  variable: (path) => (path === 'v' ? { a: '1', __proto__: 'x' } : undefined),
  variables: () => [{ path: 'v', namespace: 'default' }],
};

const doubled = '{{ $x := "ab" }}{{ range 18 }}{{ $x = print $x $x }}{{ end }}';

/** Milliseconds of the processor; a shared machine gets several times what is measured alone. */
const BOUND = 3_000;

describe('templates that cost much', () => {
  it.each([
    ['loops within loops', '{{ range 1000 }}{{ range 1000 }}{{ range 1000 }}{{ end }}{{ end }}{{ end }}'],
    ['a text that doubles', '{{ $x := "a" }}{{ range 60 }}{{ $x = print $x $x }}{{ end }}'],
    ['patterns', `${doubled}{{ range 1000 }}{{ regexMatch "(a|b|ab)*c$" $x }}{{ end }}`],
    ['replacing', `${doubled}{{ replaceAll "a" $x $x }}`],
    ['characters', `${doubled}{{ range 1000 }}{{ split "" $x | len }}{{ end }}`],
    ['parts', `${doubled}{{ range 10000 }}{{ slice $x 1 2 }}{{ end }}`],
    ['bytes', `${doubled}{{ range 10000 }}{{ base64Encode $x | len }}{{ end }}`],
    ['counting', '{{ range 100000 }}{{ loop 100000 | len }}{{ end }}'],
    ['padding', '{{ range 100000 }}{{ printf "%9999d" 1 }}{{ end }}'],
    ['digits', '{{ range 100000 }}{{ printf "%.999e" 1e-300 }}{{ end }}'],
    ['formats', `{{ range 100000 }}{{ printf "${'%%'.repeat(3_000)}" }}{{ end }}`],
    [
      'quoted items',
      '{{ $x := split "" (printf "%9999s" "ß") }}{{ range 100000 }}{{ printf "%3q" $x | len }}{{ end }}',
    ],
    ['capitals', '{{ $x := printf "%9999s" "ß" }}{{ range 100000 }}{{ toUpper $x | toTitle | len }}{{ end }}'],
    ['output', '{{ range 100000 }}{{ env "A" }}{{ end }}'],
    ['searching', '{{ range 100000 }}{{ in (loop 10000) 5 }}{{ end }}'],
    ['many actions', '{{ "a" | toUpper }}'.repeat(13_000)],
    ['slashes', `{{ nomadVar "${'/'.repeat(60_000)}" }}`],
    ['escapes', `{{ "${'\\n'.repeat(30_000)}" }}`],
    ['space', ' '.repeat(200_000) + '{{- "" -}}' + ' '.repeat(50_000)],
  ])('%s', (_, source) => {
    const start = process.cpuUsage();
    parseTemplate(source).map((template) => template.render(inputs));
    const { user, system } = process.cpuUsage(start);
    expect((user + system) / 1_000).toBeLessThan(BOUND);
  });

  it('whatever the text, an answer: a template or a fault with a position', () => {
    const pieces = [
      '{{',
      '}}',
      '{{-',
      '-}}',
      ' ',
      '.',
      '$',
      '$x',
      ':=',
      '=',
      ',',
      '|',
      '(',
      ')',
      '"',
      '`',
      '\\',
      '\n',
      '/*',
      '*/',
    ];
    const words = [
      'if',
      'else',
      'end',
      'range',
      'with',
      'break',
      'true',
      'nil',
      '1',
      '-1',
      '.5',
      'x',
      'env',
      'print',
      'index',
      'nomadVar',
      '"v"',
      'é',
      '\0',
      '\ud800',
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces, ...words), { maxLength: 30 }), (parts) => {
        const source = parts.join('');
        const result = parseTemplate(source).andThen((template) => template.render(inputs));
        if (result.isOk()) return;
        const { line, column, message } = result.error;
        expect(line).toBeLessThanOrEqual(source.split('\n').length);
        expect(column).toBeGreaterThan(0);
        expect(message).not.toBe('');
      }),
      { numRuns: 3_000 },
    );
  });

  it('text without delimiters is itself', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }).filter((text) => !text.includes('{{')),
        (text) => {
          expect(parseTemplate(text)._unsafeUnwrap().render(inputs)._unsafeUnwrap().text).toBe(text);
        },
      ),
    );
  });

  it('what is printed as a quoted string is read back', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const source = `{{ ${JSON.stringify(text)} | base64Encode | base64Decode | toJSON | parseJSON }}`;
        expect(parseTemplate(source)._unsafeUnwrap().render(inputs)._unsafeUnwrap().text).toBe(text);
      }),
    );
  });
});
