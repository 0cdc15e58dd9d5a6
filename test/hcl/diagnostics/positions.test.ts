import { describe, expect, it } from 'vitest';
import { positionFinder } from '../../../src/hcl/syntax/source.js';

const FAMILY = '\ud83d\udc68\u200d\ud83d\udc69';

describe('positions', () => {
  it('count lines, clusters and bytes', () => {
    const text = `a\r\né${FAMILY}x\n`;
    const { position } = positionFinder(text);
    expect(position(0)).toEqual({ line: 1, column: 1, offset: 0 });
    expect(position(text.indexOf('x'))).toEqual({ line: 2, column: 3, offset: 3 + 2 + 11 });
    expect(position(text.length)).toEqual({ line: 3, column: 1, offset: 3 + 2 + 11 + 2 });
  });

  it('are the same in whatever order they are asked for', () => {
    const text = `${'é'.repeat(9_000)}${FAMILY.repeat(50)}${'x'.repeat(5_000)}`;
    const offsets = Array.from({ length: 60 }, (_, at) => (at * 7919) % text.length).filter(
      (offset) => offset <= 9_000 || offset >= 9_250,
    );
    const sorted = [...offsets].sort((left, right) => left - right);
    const ascending = positionFinder(text);
    const expected = new Map(sorted.map((offset) => [offset, ascending.position(offset)]));
    const { position } = positionFinder(text);
    for (const offset of offsets) expect(position(offset)).toEqual(expected.get(offset));
  });

  it('count code points far along a line of characters that are hard to tell apart', () => {
    const text = FAMILY.repeat(100_000);
    const { column } = positionFinder(text).position(text.length);
    expect(column).toBeGreaterThan(200_000);
    expect(column).toBeLessThanOrEqual(300_001);
  });
});
