import fc from 'fast-check';
import { expect, it } from 'vitest';
import { spansOf, withoutCodes } from '../../../web/rules/terminal-output.js';

const esc = '\u001b';
const bel = '\u0007';

it.each<[string, readonly [string, string][]]>([
  ['plain', [['plain', '']]],
  ['', []],
  [
    `${esc}[31mred${esc}[0m after`,
    [
      ['red', 'fg-1'],
      [' after', ''],
    ],
  ],
  [
    `${esc}[1;92mok${esc}[39m bold`,
    [
      ['ok', 'bold fg-2'],
      [' bold', 'bold'],
    ],
  ],
  [`${esc}[mnone`, [['none', '']]],
  [`${esc}[44;37mon blue${esc}[49m`, [['on blue', 'fg-7 bg-4']]],
  [
    `${esc}[2;3;4;9mall${esc}[22;23;24;29mnone`,
    [
      ['all', 'dim italic underline strike'],
      ['none', ''],
    ],
  ],
  [`${esc}[38;5;9mindexed`, [['indexed', 'fg-1']]],
  [`${esc}[38;5;200mother${esc}[1m`, [['other', '']]],
  [`${esc}[38;2;255;0;0;1mtrue colour`, [['true colour', 'bold']]],
  [`${esc}[38:2::255:0:0mwith colons`, [['with colons', '']]],
  [`${esc}[1m${esc}[38:2::255:0:0mstill bold`, [['still bold', 'bold']]],
  [`${esc}[48:5:2;1mindexed`, [['indexed', 'bold bg-2']]],
  [
    `${esc}[4:3mcurly${esc}[4:0mnone`,
    [
      ['curly', 'underline'],
      ['none', ''],
    ],
  ],
])('colours and weight are kept: %j', (line, spans) => {
  expect(spansOf(line).map(({ text, styles }) => [text, styles.join(' ')])).toEqual(spans);
});

it.each([
  ['the clipboard', `${esc}]52;c;cm0gLXJm${bel}`],
  ['the clipboard, ended by ST', `${esc}]52;c;cm0gLXJm${esc}\\`],
  ['the clipboard, with codes of one byte', '\u009d52;c;cm0gLXJm\u009c'],
  ['the title', `${esc}]0;owned${bel}`],
  ['a link', `${esc}]8;;http://example.net${esc}\\`],
  ['the cursor', `${esc}[2J${esc}[1;1H${esc}[10A${esc}7${esc}8`],
  ['a report', `${esc}[6n${esc}[c${esc}[>c`],
  ['modes', `${esc}[?1049h${esc}[?25l${esc}=`],
  ['device control', `${esc}P$q"p${esc}\\`],
  ['a character set', `${esc}(0`],
  ['an unfinished sequence', `${esc}[12;`],
  ['an unfinished string', `${esc}]52;c;cm0gLXJm`],
  ['a lone escape', esc],
])('what a terminal would obey is removed: %s', (_what, codes) => {
  expect(withoutCodes(`before${codes}`)).toBe('before');
  expect(spansOf(`${codes}`)).toEqual([]);
});

it('ends an unfinished string where the next sequence begins', () => {
  expect(withoutCodes(`${esc}]0;title${esc}[31mred`)).toBe('red');
});

/** Strings of what sequences consist of, so that many are sequences, nearly sequences, and sequences within each other. */
const output = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom(
      esc,
      bel,
      '[',
      ']',
      '\\',
      'm',
      ';',
      ':',
      '1',
      '3',
      '8',
      '?',
      ' ',
      'P',
      'a',
      'é',
      '\u009b',
      '\u009d',
      '\u009c',
      '\0',
    ),
    maxLength: 60,
  }),
);

it('leaves no escape code of any string, and the same text in spans', () => {
  fc.assert(
    fc.property(output, (line) => {
      const text = withoutCodes(line);
      expect(text).not.toMatch(/[\u001b\u009b\u009d\u0090\u0098\u009e\u009f]/);
      expect(withoutCodes(text)).toBe(text);
      expect(
        spansOf(line)
          .map((span) => span.text)
          .join(''),
      ).toBe(text);
    }),
    { numRuns: 5000 },
  );
});

it.each([
  ['unfinished strings', `${esc}]`],
  ['unfinished strings of one byte', '\u009d'],
  ['strings that other sequences end', `${esc}]0;a${esc}[`],
  ['unfinished sequences', `${esc}[1;`],
  ['parameters', '\u009b0'],
  ['lone escapes', esc],
  ['intermediates', `${esc}[ `],
])('takes time in proportion to the line: %s', (_what, part) => {
  const line = `${part.repeat(400_000 / part.length)}${esc}`;
  const begun = performance.now();
  withoutCodes(line);
  withoutCodes(`${esc}]${'a'.repeat(400_000)}${part}`);
  withoutCodes(`${esc}[${'1;'.repeat(200_000)}${part}`);
  expect(performance.now() - begun).toBeLessThan(1000);
});
