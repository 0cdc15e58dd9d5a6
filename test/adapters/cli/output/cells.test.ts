import { describe, expect, it } from 'vitest';
import { columns, cutTo, inLines, inOneLine, widthOf } from '../../../../adapters/cli/output/tables.js';

describe('texts from elsewhere', () => {
  it.each([
    ['plain ü 漢', 'plain ü 漢'],
    ['two\nlines\tand\r', 'two\\nlines\\tand\\r'],
    ['\u001b[2Jcleared\u0007', '\\u001b[2Jcleared\\u0007'],
    ['\u009b2J\u007f', '\\u009b2J\\u007f'],
    ['a\u202egnp.exe', 'a\\u202egnp.exe'],
    ['a\u2028b', 'a\\u2028b'],
  ])('%j stand in one line as %j', (text, shown) => {
    expect(inOneLine(text)).toBe(shown);
  });

  it('keep their lines where they may have some', () => {
    expect(inLines('a\n\tb\u001b[1m\r')).toBe('a\n\tb\\u001b[1m\\r');
  });
});

describe('the width of a text', () => {
  it.each([
    ['abc', 3],
    ['über', 4],
    ['u\u0308ber', 4],
    ['漢字', 4],
    ['한글', 4],
    ['ab🚀', 4],
    ['…', 1],
    ['', 0],
  ])('of %j is %i cells', (text, cells) => {
    expect(widthOf(text)).toBe(cells);
  });

  it.each([
    ['abcdef', 6, 'abcdef'],
    ['abcdef', 5, 'abcd…'],
    ['漢字漢字', 6, '漢字…'],
    ['漢字漢字', 5, '漢字…'],
    ['漢字漢字', 4, '漢…'],
  ])('%j cut to %i cells is %j', (text, cells, cut) => {
    expect(cutTo(text, cells)).toBe(cut);
    expect(widthOf(cut)).toBeLessThanOrEqual(cells);
  });
});

it('columns are as wide as their widest cell, whatever it holds', () => {
  expect(
    columns([
      ['漢字', 'x'],
      ['abc', 'two\nlines'],
    ]),
  ).toBe('漢字  x\nabc   two\\nlines\n');
});
