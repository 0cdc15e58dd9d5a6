import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chooseStarts, type Lane, type Route, type Traffic } from '../../src/queue/choose-starts.js';
import { hasSlot } from '../../src/queue/limits.js';

const slots = { all: 100, perOrigin: 6, own: 2 };
const idle: Traffic = { inFlight: 0, perOrigin: new Map(), rate: () => undefined };
const lane = (key: string, length: number, given: Partial<Route & Lane<number>> = {}): Lane<number> => ({
  key,
  candidates: Array.from({ length }, (_none, n) => n),
  route: { origin: given.origin ?? 'https://one.example', rateKey: given.rateKey ?? key, rate: given.rate ?? 0 },
  running: given.running ?? 0,
  limit: given.limit ?? 4,
  heldUntil: given.heldUntil ?? 0,
});
const choose = (
  names: readonly string[],
  length: number,
  given: Partial<Route & Lane<number>> = {},
  traffic = idle,
  now = 1000,
) =>
  chooseStarts(
    names.map((name) => lane(name, length, given)),
    traffic,
    slots,
    now,
  );
const perLane = (chosen: ReturnType<typeof choose>): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { key } of chosen.starts) counts[key] = (counts[key] ?? 0) + 1;
  return counts;
};

describe('slots', () => {
  test.each([
    ['the first of a configuration', { queue: 0, origin: 99, all: 399 }, true],
    ['not even that beyond four times all', { queue: 0, origin: 0, all: 400 }, false],
    ['its own at a full origin', { queue: 1, origin: 99, all: 50 }, true],
    ['no more of a full origin', { queue: 2, origin: 6, all: 50 }, false],
    ['more of an origin with room', { queue: 2, origin: 5, all: 50 }, true],
    ['up to its limit', { queue: 4, origin: 0, all: 50 }, false],
    ['none when all are in use', { queue: 1, origin: 0, all: 100 }, false],
  ])('%s', (_what, use, has) => {
    expect(hasSlot(use, 4, slots)).toBe(has);
  });
});

describe('what starts', () => {
  test('takes turns, each lane in its order', () => {
    const { starts, wantSlots, readyAt } = choose(['a', 'b'], 2);
    expect(starts.map(({ key, candidate }) => `${key}${candidate}`)).toEqual(['a0', 'b0', 'a1', 'b1']);
    expect([wantSlots.size, readyAt.size]).toEqual([0, 0]);
  });

  test('gives each its own at one origin, and what is left to those who ask first', () => {
    const chosen = choose(['a', 'b', 'c'], 8);
    expect(perLane(chosen)).toEqual({ a: 2, b: 2, c: 2 });
    expect([...chosen.wantSlots]).toEqual(['a', 'b', 'c']);
    expect(perLane(choose(['a'], 8))).toEqual({ a: 4 });
    expect(perLane(choose(['a'], 8, { limit: 5 }))).toEqual({ a: 5 });
    expect(perLane(choose(['a'], 8, { limit: 5, running: 4 }))).toEqual({ a: 1 });
  });

  test('a neighbour that hangs takes nothing from another one', () => {
    const busy = { ...idle, inFlight: 50, perOrigin: new Map([['https://one.example', 50]]) };
    expect(perLane(choose(['good'], 8, {}, busy))).toEqual({ good: 2 });
  });

  test('keeps rates, shared by those who share a key', () => {
    const chosen = choose(['a', 'b'], 3, { rate: 1, rateKey: 'hook' });
    expect(chosen.starts).toHaveLength(1);
    expect([...chosen.readyAt]).toEqual([
      ['b', 2000],
      ['a', 2000],
    ]);
    const rate = (key: string) => chosen.rates.get(key);
    expect(choose(['a'], 3, { rate: 1, rateKey: 'hook' }, { ...idle, rate }, 1999).starts).toHaveLength(0);
    expect(choose(['a'], 3, { rate: 1, rateKey: 'hook' }, { ...idle, rate }, 2000).starts).toHaveLength(1);
  });

  test('nothing of a lane that is left alone for a while', () => {
    const { starts, readyAt } = choose(['a'], 3, { heldUntil: 5000, rate: 1 });
    expect(starts).toEqual([]);
    expect([...readyAt]).toEqual([['a', 5000]]);
  });

  test('never more than the limits, and everybody who waits is named', () => {
    const anyLane = fc.record({
      length: fc.nat(6),
      running: fc.nat(5),
      limit: fc.integer({ min: 1, max: 6 }),
      origin: fc.constantFrom('one', 'two'),
      rate: fc.constantFrom(0, 0, 2),
      heldUntil: fc.constantFrom(0, 0, 2000),
    });
    fc.assert(
      fc.property(fc.array(anyLane, { maxLength: 8 }), fc.nat(120), (given, inFlight) => {
        const lanes = given.map(({ length, ...about }, at) =>
          lane(`lane-${at}`, length, { ...about, rateKey: 'shared' }),
        );
        const chosen = chooseStarts(lanes, { ...idle, inFlight }, slots, 1000);
        const started = perLane(chosen);
        let rated = 0;
        for (const { key, candidates, running, limit, heldUntil, route } of lanes) {
          const count = started[key] ?? 0;
          // The first of a lane may begin beyond the limits.
          if (count > 0) expect(running + count).toBeLessThanOrEqual(Math.max(limit, 1));
          if (heldUntil > 1000) expect(count).toBe(0);
          if (route.rate > 0) rated += count;
          expect(count === candidates.length || chosen.wantSlots.has(key) || chosen.readyAt.has(key)).toBe(true);
          expect(count < candidates.length || !(chosen.wantSlots.has(key) || chosen.readyAt.has(key))).toBe(true);
          const own = chosen.starts.filter((each) => each.key === key).map(({ candidate }) => candidate);
          expect(own).toEqual(candidates.slice(0, count));
        }
        expect(rated).toBeLessThanOrEqual(2);
      }),
    );
  });
});
