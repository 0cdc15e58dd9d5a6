import { describe, expect, it } from 'vitest';
import { fittedLines, redrawn } from '../../../../adapters/cli/monitor/monitor.js';

describe('lines that fit on a screen', () => {
  it.each([
    ['a\nb\n', { rows: 24, columns: 80 }, ['a', 'b']],
    ['a\nb\nc\n', { rows: 4, columns: 80 }, ['a', 'b', 'c']],
    ['a\nb\nc\nd\n', { rows: 4, columns: 80 }, ['a', 'b', '… and 2 more lines']],
    ['a\nb\n', { rows: 1, columns: 80 }, ['… and 2 more lines']],
    ['12345\n123456\n', { rows: 24, columns: 5 }, ['12345', '1234…']],
    ['a\n\nb', { rows: 24, columns: 80 }, ['a', '', 'b']],
  ])('of %j on %j are %j', (text, size, lines) => {
    expect(fittedLines(text, size)).toEqual(lines);
  });
});

/** What a terminal of the width shows after it was sent the texts; only what `redrawn` uses is known. */
function screenAfter(texts: readonly string[], columns: number): string[] {
  const screen: string[] = [''];
  let row = 0;
  const line = (): string => screen[row] ?? '';
  for (const text of texts) {
    let column = 0;
    for (const [token] of text.matchAll(/\u001b\[(\d*)([AKJ])|\r|\n|[^\u001b\r\n]/g)) {
      const [, count = '', command] = /\u001b\[(\d*)([AKJ])/.exec(token) ?? [];
      if (command === 'A') row = Math.max(0, row - Number(count || 1));
      else if (command === 'K') screen[row] = line().slice(0, column);
      else if (command === 'J') screen.splice(row, screen.length, line().slice(0, column));
      else if (token === '\r') column = 0;
      else if (token === '\n') {
        row += 1;
        column = 0;
        screen[row] ??= '';
      } else {
        if (column === columns) {
          row += 1;
          column = 0;
          screen[row] ??= '';
        }
        screen[row] = line().padEnd(column).slice(0, column) + token + line().slice(column + 1);
        column += 1;
      }
    }
  }
  return screen;
}

describe('drawing again', () => {
  it.each([
    ['longer over shorter', ['a'], ['abc', 'd']],
    ['shorter over longer', ['abc', 'def', 'ghi'], ['x']],
    ['nothing over something', ['abc', 'def'], []],
    ['something over nothing', [], ['abc']],
  ])('%s leaves what is new alone', (_name, before, next) => {
    const texts = ['above\n', redrawn([], before, 10), redrawn(before, next, 10)];
    expect(screenAfter(texts, 10)).toEqual(['above', ...next, '']);
  });

  it('counts lines that a narrower screen has wrapped', () => {
    expect(redrawn(['1234567890', 'x'], ['y'], 4)).toBe('\u001b[4A\ry\u001b[K\n\u001b[J');
  });
});
