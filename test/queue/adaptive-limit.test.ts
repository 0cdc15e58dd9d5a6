import { describe, expect, test } from 'vitest';
import { afterAnswer, afterOverload, initialLimit } from '../../src/queue/limits.js';

describe('the limit of a destination', () => {
  const bounds = { initial: 4, maximum: 32 };
  const answers = (from: ReturnType<typeof initialLimit>, count: number, full = true) => {
    let limit = from;
    for (let n = 0; n < count; n += 1) limit = afterAnswer(limit, full, bounds);
    return limit;
  };
  test('doubles while it is used and answered', () => {
    expect(answers(initialLimit(bounds), 3).limit).toBe(4);
    expect(answers(initialLimit(bounds), 4).limit).toBe(8);
    expect(answers(initialLimit(bounds), 4 + 8 + 16).limit).toBe(32);
    expect(answers(initialLimit(bounds), 1000).limit).toBe(32);
    expect(answers(initialLimit(bounds), 1000, false).limit).toBe(4);
  });
  test('halves when it was too much, once for what was under way together, and grows by one from there', () => {
    const grown = answers(initialLimit(bounds), 4 + 8);
    const halved = afterOverload(grown, 90, 100);
    expect(halved.limit).toBe(8);
    expect(afterOverload(halved, 95, 101)).toBe(halved);
    expect(afterOverload(halved, 100, 120).limit).toBe(4);
    expect(answers(halved, 8).limit).toBe(9);
    expect(answers(halved, 8 + 9).limit).toBe(10);
    expect(afterOverload({ ...halved, limit: 1 }, 200, 200).limit).toBe(1);
  });
});
