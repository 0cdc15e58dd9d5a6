import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Escaping,
  escapeWithin,
  jsonLengthOf,
  lengthOf,
  linkFrom,
  onOneLine,
  onSeveralLines,
  withoutMentions,
} from '../../../src/notifications/payloads/text.js';

const asItIs: Escaping = { escape: (piece) => piece, costOf: lengthOf };
const entities: Escaping = { escape: (piece) => piece.replaceAll('&', '&amp;'), costOf: lengthOf };

describe('lines', () => {
  test.each([
    ['a\r\nb', 'a b'],
    [' a\t \u0000b ', 'a b'],
    ['a\u2028b\u0085c', 'a b c'],
    ['a\u202eb\u2066c', 'abc'],
    ['a\ud800b', 'a\ufffdb'],
    ['👍', '👍'],
    ['', ''],
  ])('%j on one line is %j', (text, expected) => {
    expect(onOneLine(text)).toBe(expected);
  });
  test.each([
    ['a\r\nb\rc\u2028d', 'a\nb\nc\nd'],
    ['a  \n\n\n\n b\n', 'a\n\nb'],
    ['\u001b[31mred', '[31mred'],
  ])('%j on several lines is %j', (text, expected) => {
    expect(onSeveralLines(text)).toBe(expected);
  });
});

describe('cutting', () => {
  test.each<[string, number, Escaping, string]>([
    ['abcdef', 6, asItIs, 'abcdef'],
    ['abcdefg', 6, asItIs, 'abcde…'],
    ['ab cdefg', 4, asItIs, 'ab…'],
    ['&&', 10, entities, '&amp;&amp;'],
    ['&&&', 10, entities, '&amp;…'],
    ['ab👨‍👩‍👧‍👦cd', 10, asItIs, 'ab…'],
    ['ab👨‍👩‍👧‍👦', 13, asItIs, 'ab👨‍👩‍👧‍👦'],
    ['aaae\u0301\u0301bbb', 6, asItIs, 'aaa…'],
  ])('%j to %i', (text, limit, spelling, expected) => {
    expect(escapeWithin(text, limit, spelling)).toBe(expected);
  });
  test('costs what it may cost, whatever the text, and begins as the text does', () => {
    const spellings = [asItIs, entities, { escape: (piece: string) => piece, costOf: jsonLengthOf }];
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 60 }),
        fc.integer({ min: 8, max: 40 }),
        fc.constantFrom(...spellings),
        (text, limit, spelling) => {
          const spelled = escapeWithin(text, limit, spelling);
          expect(spelling.costOf(spelled)).toBeLessThanOrEqual(limit);
          const whole = spelling.escape(text);
          if (spelled !== whole) expect(whole.startsWith(spelled.slice(0, -1))).toBe(true);
        },
      ),
    );
  });
  test('never cuts through a character, whatever stands around it', () => {
    const pieces = [
      'a',
      ' ',
      'e\u0301',
      '👨‍👩‍👧‍👦',
      '🇩🇪',
      '🇫',
      '漢',
      'か\u3099',
      '각',
      '\u1100\u1161',
      'क्षि',
      '\u0600',
      '1',
      '👍🏽',
    ];
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...pieces), { maxLength: 40 }).map((parts) => parts.join('')),
        fc.integer({ min: 8, max: 60 }),
        (text, limit) => {
          const spelled = escapeWithin(text, limit, asItIs);
          if (spelled === text) return;
          const segments = [...new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)];
          const cuts = segments.map(({ index }) => text.slice(0, index).trimEnd());
          expect(cuts).toContain(spelled.slice(0, -1));
        },
      ),
      { numRuns: 500 },
    );
  });
  test('the JSON length is that of JSON in ASCII', () => {
    const ascii = (text: string) =>
      JSON.stringify(text).replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(jsonLengthOf(text)).toBeGreaterThanOrEqual(ascii(text).length - 2);
      }),
    );
  });
});

test.each([
  ['@here', '@\u2060here'],
  ['(@dana)', '(@\u2060dana)'],
  ['dana@example.org', 'dana@example.org'],
  ['a @ b', 'a @ b'],
  ['[x](y)', '[x]\u2060(y)'],
  ['<!here> <@U1> <#C1> <at>', '<\u2060!here> <\u2060@\u2060U1> <\u2060#C1> <\u2060at>'],
  ['a < b', 'a < b'],
  ['{{DATE(x)}} {y}', '{\u2060{DATE(x)}} {y}'],
  ['&lt; &#60; R&D', '&\u2060lt; &\u2060#60; R&D'],
])('%j without mentions', (text, expected) => {
  expect(withoutMentions(text)).toBe(expected);
});

test.each([
  ['https://tf.example.net/a?b=c&d=e#f', 'https://tf.example.net/a?b=c&d=e#f'],
  ['http://[::1]:8080/', 'http://[::1]:8080/'],
  ['https://tf.example.net/a)|b>"\'', 'https://tf.example.net/a%29%7Cb%3E%22%27'],
  ['https://tf.example.net/ü', 'https://tf.example.net/%C3%BC'],
  ['javascript:alert(1)', null],
  ['data:text/html,x', null],
  ['https://user:secret@tf.example.net/', null],
  ['/relative', null],
  ['', null],
  [null, null],
  [`https://tf.example.net/${'x'.repeat(2048)}`, null],
  [`https://tf.example.net/${'ü'.repeat(1000)}`, null],
])('the link of %j is %j', (address, expected) => {
  expect(linkFrom(address)).toBe(expected);
});
