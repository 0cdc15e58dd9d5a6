import { describe, expect, test } from 'vitest';
import {
  afterAnswer,
  afterOverload,
  initialLimit,
  isOverload,
} from '../../../src/notifications/queue/adaptive-limit.js';
import { dispatch, type Route, type Traffic } from '../../../src/notifications/queue/dispatch.js';
import { hasSlot } from '../../../src/notifications/queue/slots.js';
import { fresh, queueOf, rules } from './queue-samples.js';

const slots = { all: 100, perOrigin: 6, own: 2 };
const idle: Traffic = { inFlight: 0, perOrigin: new Map(), buckets: new Map(), holds: new Map() };
const route = (name: string, given: Partial<Route> = {}): Route => ({
  origin: 'https://one.example',
  rateKey: name,
  rate: 0,
  concurrency: null,
  ...given,
});
const queue = (name: string, length: number) => ({
  ...queueOf(Array.from({ length }, (_none, n) => fresh(n + 1))),
  configurationId: name,
});
const choose = (names: readonly string[], length: number, given: Partial<Route> = {}, traffic = idle, now = 1000) => {
  const candidates = names.map((name) => ({ queue: queue(name, length), route: route(name, given) }));
  return dispatch(candidates, traffic, { now, wall: now }, { ...rules, slots });
};
const perQueue = (chosen: ReturnType<typeof choose>): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { configurationId } of chosen.starts) counts[configurationId] = (counts[configurationId] ?? 0) + 1;
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

describe('dispatch', () => {
  test('takes turns', () => {
    const { starts } = choose(['a', 'b'], 2);
    expect(starts.map(({ configurationId }) => configurationId)).toEqual(['a', 'b', 'a', 'b']);
  });

  test('gives each its own at one origin, and what is left to those who ask first', () => {
    const chosen = choose(['a', 'b', 'c'], 8);
    expect(perQueue(chosen)).toEqual({ a: 2, b: 2, c: 2 });
    expect([...chosen.wantSlots]).toEqual(['a', 'b', 'c']);
    expect(perQueue(choose(['a'], 8))).toEqual({ a: 4 });
    expect(perQueue(choose(['a'], 8, { concurrency: 5 }))).toEqual({ a: 5 });
  });

  test('a neighbour that hangs takes nothing from another one', () => {
    const busy = { ...idle, inFlight: 50, perOrigin: new Map([['https://one.example', 50]]) };
    expect(perQueue(choose(['good'], 8, {}, busy))).toEqual({ good: 2 });
  });

  test('keeps rates, shared by those who share a hook', () => {
    const chosen = choose(['a', 'b'], 3, { rate: 1, rateKey: 'hook' });
    expect(chosen.starts).toHaveLength(1);
    expect(chosen.nextAt).toBe(2000);
    const later = choose(['a'], 3, { rate: 1, rateKey: 'hook' }, { ...idle, buckets: chosen.buckets }, 2000);
    expect(later.starts).toHaveLength(1);
  });
});

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
  test.each([
    ['rate_limited', 429, true],
    ['server_error', 503, true],
    ['server_error', 500, false],
    ['total_timeout', null, true],
    ['client_error', 404, false],
  ] as const)('%s %s is an overload: %s', (failure, status, expected) => {
    expect(isOverload(failure, status)).toBe(expected);
  });
});
