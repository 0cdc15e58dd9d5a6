import { describe, expect, it } from 'vitest';
import { BehindFirstLine, startOfLastLines } from '../../../../adapters/cli/logs/task-log.js';

describe('the last lines of a text', () => {
  it.each([
    ['a\nb\nc\n', 1, 'c\n'],
    ['a\nb\nc\n', 2, 'b\nc\n'],
    ['a\nb\nc', 1, 'c'],
    ['a\n\n\n', 2, '\n\n'],
    ['a\nb\n', 0, ''],
    ['', 0, ''],
  ])('of %j, %i are %j', (text, lines, last) => {
    const bytes = Buffer.from(text);
    expect(bytes.subarray(startOfLastLines(bytes, lines)).toString()).toBe(last);
  });

  it.each([
    ['a\nb\nc\n', 3],
    ['a\nb', 2],
    ['\n', 1],
    ['', 1],
  ])('of %j, whether it holds %i whole lines is not known', (text, lines) => {
    expect(startOfLastLines(Buffer.from(text), lines)).toBeUndefined();
  });
});

it.each([
  [['\nb\n', 'c\n'], 'b\nc\n'],
  [['tail of a', ' line\nb', '\nc'], 'b\nc'],
  [['no end'], ''],
])('what follows the first line end of %j is %j', (pieces, rest) => {
  const lines = new BehindFirstLine();
  expect(pieces.map((piece) => Buffer.from(lines.rest(Buffer.from(piece))).toString()).join('')).toBe(rest);
});
