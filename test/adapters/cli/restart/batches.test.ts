import { describe, expect, it } from 'vitest';
import { batchesOf, batchSizeFrom } from '../../../../adapters/cli/commands/jobs/restart-command.js';

describe('batches', () => {
  it.each([
    ['1', 10, 1],
    ['25', 10, 25],
    ['25%', 10, 3],
    ['100%', 7, 7],
    ['1%', 3, 1],
    ['50%', 0, 1],
  ])('%s of %i are %i at a time', (text, total, size) => {
    expect(batchSizeFrom(text, total)).toBe(size);
  });

  it.each(['0', '0%', '101%', '-1', 'half', '', '1.5'])('are not of the size %s', (text) => {
    expect(() => batchSizeFrom(text, 10)).toThrow('--batch-size takes a number or a percentage');
  });

  it('hold everything once, in order', () => {
    expect(batchesOf([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]);
    expect(batchesOf([], 2)).toEqual([]);
  });
});
