import fc from 'fast-check';
import { expect, it } from 'vitest';
import { visible, webAddress } from '../../../web/rules/safe-text.js';

it.each([
  ['report', 'report'],
  ['two\n lines\tand a tab', 'two\n lines\tand a tab'],
  ['Ünïcode 漢字 🚀 ❤️', 'Ünïcode 漢字 🚀 ❤️'],
  ['<img src=x onerror=alert(1)>', '<img src=x onerror=alert(1)>'],
  ['invoice\u202egpj.exe', 'invoice‹U+202E›gpj.exe'],
  ['\u2066a\u2069', '‹U+2066›a‹U+2069›'],
  ['ad\u200bmin', 'ad‹U+200B›min'],
  ['\ufeffname', '‹U+FEFF›name'],
  ['a\u2028b', 'a‹U+2028›b'],
  ['a\u00adb\u3164c', 'a‹U+00AD›b‹U+3164›c'],
  ['a\0b\u001b[31mc\u009bd', 'a‹U+0000›b‹U+001B›[31mc‹U+009B›d'],
  ['a\rb', 'a‹U+000D›b'],
  ['tag\u{e0041}', 'tag‹U+E0041›'],
])('hidden characters are shown by their code points: %j', (text, shown) => {
  expect(visible(text)).toBe(shown);
});

it('leaves no control character and no mark of direction of any string', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(visible(text)).not.toMatch(/[\p{Bidi_Control}\u2028\u2029]|[^\P{Cc}\t\n]/u);
    }),
    { numRuns: 2000 },
  );
});

it.each([
  ['https://example.net/a?b=c', 'https://example.net/a?b=c'],
  ['HTTP://Example.net', 'http://example.net/'],
  ['javascript:alert(1)', undefined],
  ['\u0001javascript:alert(1)', undefined],
  ['java\nscript:alert(1)', undefined],
  [' https://example.net', undefined],
  ['data:text/html,<script>', undefined],
  ['//example.net', undefined],
  ['https://', undefined],
  ['mailto:a@example.net', undefined],
])('only web addresses become links: %j', (text, href) => {
  expect(webAddress(text)?.href).toBe(href);
});
