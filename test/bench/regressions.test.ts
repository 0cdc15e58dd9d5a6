import { describe, expect, it, test } from 'vitest';
import { outOfBounds, regressions } from './regressions.js';
import { scenarios } from './scenario-list.js';
import type { Measured } from './scenarios/store-slices.js';

const row = (name: string, ours: number, floor: number): Measured => {
  return { name, ours, floor, ratio: ours / floor, unit: 'µs', limit: {} };
};

test('every scenario of the gate is one of the bench', () => {
  const names = scenarios.map(({ name }) => name);
  expect(Object.keys(regressions).filter((name) => !names.includes(name))).toEqual([]);
});

describe('a row of the gate', () => {
  const costs = ['store.mem.write', 'store.mem.read'];

  it('is within its bounds up to its maximum', () => {
    const measured = [row('store.mem.write', 30, 10), row('store.mem.read', 81, 10)];
    expect(outOfBounds('store.mem', measured, costs).broken).toEqual(['store.mem.read']);
  });

  it('is within its bounds from its minimum on', () => {
    const rates = ['store.sqlite.write1', 'store.sqlite.write64'];
    const measured = [row('store.sqlite.write1', 6, 10), row('store.sqlite.write64', 3.9, 10)];
    expect(outOfBounds('store.sqlite', measured, rates).broken).toEqual(['store.sqlite.write64']);
  });

  it('is out of them when it was not measured', () => {
    const { broken, texts } = outOfBounds('store.mem', [], ['store.mem.write']);
    expect(broken).toEqual(['store.mem.write']);
    expect(texts[0]).toMatch(/NaN .*out of bounds/);
  });
});
