import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  bytesOf,
  fieldsOf,
  joined,
  type LogLine,
  levelOf,
  linesOf,
  type Piece,
  rangeOf,
  wantedOf,
} from '../../../web/rules/log-lines.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const textsOf = (text: string, hasEnded = true): readonly string[] =>
  linesOf({ from: 0, bytes: bytes(text) }, hasEnded).lines.map((line) => line.text);

it.each([
  ['', []],
  ['one\n', ['one']],
  ['one\ntwo', ['one', 'two']],
  ['\n\n', ['', '']],
  ['windows\r\n', ['windows']],
  ['twice\r\r\n', ['twice']],
  ['10 %\r50 %\r100 %\n', ['100 %']],
  ['\ufeffmark\n', ['\ufeffmark']],
  ['a\0b\n', ['a\0b']],
])('lines of an output that has ended: %j', (text, lines) => {
  expect(textsOf(text)).toEqual(lines);
});

it('leaves what has no line end for the next range while the task writes', () => {
  const { lines, rest } = linesOf({ from: 100, bytes: bytes('one\ntw') }, false);
  expect(lines).toMatchObject([{ from: 100, to: 104, text: 'one' }]);
  expect(rest).toEqual({ from: 104, bytes: bytes('tw') });
});

it('replaces bytes that are not UTF-8 and keeps the line', () => {
  const { lines } = linesOf({ from: 0, bytes: Uint8Array.of(0x61, 0xff, 0x62, 10, 0xc3, 10) }, true);
  expect(lines.map(({ text }) => text)).toEqual(['a\ufffdb', '\ufffd']);
});

/** Reads the pieces one after the other, as they arrive. */
function linesOfPieces(pieces: readonly Uint8Array[], from: number): readonly LogLine[] {
  let rest: Piece = { from, bytes: new Uint8Array() };
  const lines: LogLine[] = [];
  pieces.forEach((piece, at) => {
    const read = linesOf({ from: rest.from, bytes: joined(rest.bytes, piece) }, at === pieces.length - 1);
    lines.push(...read.lines);
    rest = read.rest;
  });
  expect(rest.bytes).toHaveLength(0);
  return lines;
}

const someBytes = fc.uint8Array({ maxLength: 40 }).map((all) => all.map((byte) => (byte % 5 === 0 ? 10 : byte)));

it('any bytes in any pieces: positions are contiguous, cover the input, and the lines are those of the whole', () => {
  fc.assert(
    fc.property(fc.array(someBytes, { minLength: 1, maxLength: 8 }), fc.nat(), (pieces, from) => {
      const whole = pieces.reduce(joined, new Uint8Array());
      const lines = linesOfPieces(pieces, from);
      let at = from;
      for (const line of lines) {
        expect(line.from).toBe(at);
        expect(line.to).toBeGreaterThan(line.from);
        const own = whole.subarray(line.from - from, line.to - from);
        expect(own.subarray(0, -1).indexOf(10)).toBe(-1);
        at = line.to;
      }
      expect(at).toBe(from + whole.length);
      expect(lines).toEqual(linesOf({ from, bytes: whole }, true).lines);
    }),
    { numRuns: 2000 },
  );
});

it('any lines of text in any pieces: the lines joined equal the input', () => {
  const unit = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll(/[\r\n]/g, ''));
  fc.assert(
    fc.property(fc.array(unit, { minLength: 1 }), fc.integer({ min: 1, max: 7 }), (texts, size) => {
      const input = `${texts.join('\n')}\n`;
      const all = bytes(input);
      const pieces = Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
        all.subarray(at * size, (at + 1) * size),
      );
      expect(
        `${linesOfPieces(pieces, 0)
          .map(({ text }) => text)
          .join('\n')}\n`,
      ).toBe(input);
    }),
    { numRuns: 500 },
  );
});

it('takes time in proportion to hostile bytes', () => {
  const begun = performance.now();
  for (const part of ['\n', '\r', '\u001b]', '\u009d', '{', '"level": ', 'ERRO']) {
    const text = part.repeat(200_000 / part.length);
    const { lines } = linesOf({ from: 0, bytes: bytes(text) }, true);
    for (const { plain } of lines.slice(0, 10)) fieldsOf(plain);
  }
  expect(performance.now() - begun).toBeLessThan(4000);
});

it.each([
  ['13:58:40 ERROR no data for bob', 'error'],
  ['{"level":"error","msg":"x"}', 'error'],
  ['{"time":1,"level":50}', 'error'],
  ['{"time":1,"level":40}', 'warn'],
  ['{"time":1,"level":30}', 'other'],
  ['panic: runtime error', 'error'],
  ['WARN: slow', 'warn'],
  ['2026 [warning] disk', 'warn'],
  ['no errors here', 'other'],
  ['terror', 'other'],
  [`${' '.repeat(200)}ERROR`, 'other'],
])('the level of a line: %j', (plain, level) => {
  expect(levelOf(plain)).toBe(level);
});

it.each<[string, readonly (readonly [string, string])[] | undefined]>([
  [
    '{"msg":"started","port":80,"time":"12:00"}',
    [
      ['time', '12:00'],
      ['msg', 'started'],
      ['port', '80'],
    ],
  ],
  [
    '{"a":{"b":[1]},"Level":"info"}',
    [
      ['Level', 'info'],
      ['a', '{"b":[1]}'],
    ],
  ],
  ['{"a":null}', [['a', 'null']]],
  ['{"__proto__":"x"}', [['__proto__', 'x']]],
  ['{"id":12345678901234567890}', undefined],
  ['{}', undefined],
  ['[1]', undefined],
  ['{not json}', undefined],
  ['text', undefined],
])('the members of a line of JSON: %j', (plain, fields) => {
  expect(fieldsOf(plain)).toEqual(fields);
});

it.each([
  ['', undefined],
  ['TimeOut', { text: 'timeout', isPattern: false }],
  ['/^a.c$/', { text: '^a.c$', isPattern: true }],
  ['/', { text: '/', isPattern: false }],
  ['//', { text: '//', isPattern: false }],
  ['/a/b', { text: '/a/b', isPattern: false }],
])('what is searched for: %j', (asked, wanted) => {
  expect(wantedOf(asked)).toEqual(wanted);
});

it.each([
  ['b1024-1311', { from: 1024, to: 1311 }],
  ['b0-1', { from: 0, to: 1 }],
  ['b1-', undefined],
  ['1-2', undefined],
  ['b-1-2', undefined],
  [`b${'9'.repeat(16)}-1`, undefined],
])('the range of an address: %j', (hash, range) => {
  expect(rangeOf(hash)).toEqual(range);
});

it('reads base64', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (all) => {
      expect(bytesOf(Buffer.from(all).toString('base64'))).toEqual(all);
    }),
  );
});
