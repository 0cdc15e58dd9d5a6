import { describe, expect, test } from 'vitest';
import { claimed, freed, type Hold, isSameStart, leaseEnd, type SeenLease } from '../../src/queue/process.js';

describe('a row', () => {
  const row: Hold & { readonly name: string } = { name: 'one' };
  const begun = claimed(row, 'p1');
  test('belongs to the process that took it, until it is free', () => {
    expect(begun).toEqual({ name: 'one', holder: 'p1', starts: 1 });
    expect(freed(begun)).toEqual({ name: 'one', starts: 1 });
    expect(claimed(freed(begun), 'p1')).toMatchObject({ starts: 2 });
  });
  test.each([
    ['as it was taken', begun, true],
    ['free', freed(begun), false],
    ['taken by another process', claimed(freed(begun), 'p2'), false],
    ['taken again by the same one', claimed(freed(begun), 'p1'), false],
    ['gone', undefined, false],
  ])('an outcome counts for the start that is stored: %s', (_what, stored, expected) => {
    expect(isSameStart(stored, begun)).toBe(expected);
  });
  test('that was never taken is in no start', () => {
    expect(isSameStart(row, row)).toBe(false);
  });
});

describe('the lease of a process', () => {
  const lease = { queue: 'q', id: 'p1', timeline: 'boot', leaseUntil: 700 };
  const at = (monotonic: number, timeline = 'boot') => ({ monotonic, timeline });
  test('ends by the clock that both share', () => {
    expect(leaseEnd(lease, at(100), undefined, 500)).toEqual({ until: 700, seen: undefined });
  });
  test('of another host ends when it has been the same for its whole length', () => {
    let seen: SeenLease | undefined;
    const end = (monotonic: number, leaseUntil = 700): number => {
      const found = leaseEnd({ ...lease, leaseUntil }, at(monotonic, 'elsewhere'), seen, 500);
      seen = found.seen;
      return found.until;
    };
    expect([end(10_000), end(10_400), end(10_450, 900), end(10_900, 900)]).toEqual([10_500, 10_500, 10_950, 10_950]);
  });
  test('of another host has the length that it was given there', () => {
    expect(leaseEnd({ ...lease, lease: 3000 }, at(100, 'elsewhere'), undefined, 500).until).toBe(3100);
  });
});
