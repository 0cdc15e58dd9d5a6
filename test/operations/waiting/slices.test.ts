import { expect, it } from 'vitest';
import { Slices } from '../../../src/operations/waiting/parked-queries.js';

/** Answers this many readers that take so many milliseconds each; gives the sizes of the slices. */
async function sizesOf(readers: number, cost: number): Promise<readonly number[]> {
  let now = 0;
  const slices = new Slices({ monotonic: () => now });
  const sizes: number[] = [];
  let size = 0;
  for (let reader = 0; reader < readers; reader += 1) {
    now += cost;
    size += 1;
    if (!slices.isFull()) continue;
    await slices.next();
    sizes.push(size);
    size = 0;
  }
  return sizes;
}

it('begins with 32 readers', async () => {
  expect((await sizesOf(100, 0.01))[0]).toBe(32);
});

it.each([
  ['cheap answers', 0.01, 96],
  ['answers of 40 microseconds', 0.04, 50],
  ['answers of a tenth of a millisecond', 0.1, 20],
  ['answers of a millisecond', 1, 8],
  ['a clock that stands still', 0, 32],
])('%s: as many as two milliseconds hold, within bounds', async (_what, cost, expected) => {
  expect((await sizesOf(1000, cost)).slice(1)).toSatisfy((sizes: readonly number[]) =>
    sizes.every((size) => size === expected),
  );
});

it('becomes smaller when the readers become dearer', async () => {
  let now = 0;
  const slices = new Slices({ monotonic: () => now });
  const sizes: number[] = [];
  for (let slice = 0; slice < 4; slice += 1) {
    const cost = slice < 2 ? 0.01 : 0.5;
    let size = 0;
    for (;;) {
      now += cost;
      size += 1;
      if (slices.isFull()) break;
    }
    await slices.next();
    sizes.push(size);
  }
  expect(sizes).toEqual([32, 96, 96, 8]);
});
