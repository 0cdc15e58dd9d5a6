import { describe, expect, it } from 'vitest';
import { PresentTimes } from '../../../src/operations/waiting/present-times.js';
import type { Allocation } from '../../../src/scheduler/allocation.js';
import type { DrainStrategy } from '../../../src/scheduler/node.js';
import { day, hour, minute, second } from '../../../src/shared/duration.js';
import { isoFromInstant, unixNanosFromInstant } from '../../../src/shared/instant.js';

const start = Date.parse('2026-03-01T00:00:00Z');
const at = (passed: number, set = 0) => ({ now: start + passed + set, monotonic: 5 * hour + passed });

const allocation = (created: number, started: number): Allocation =>
  ({
    ID: 'a',
    CreateTime: unixNanosFromInstant(created),
    TaskStates: { main: { StartedAt: isoFromInstant(started), LastRestart: null } },
  }) as unknown as Allocation;

const strategy = (by: number): DrainStrategy => ({
  Deadline: hour * 1_000_000,
  ForceDeadline: isoFromInstant(by),
  IgnoreSystemJobs: false,
  StartedAt: isoFromInstant(start),
});

describe('instants of the past', () => {
  it.each([day, -day, 2 * second])('move with the wall clock when it is set by %d ms', (set) => {
    const times = new PresentTimes();
    const record = allocation(start - minute, start - second);
    expect(times.allocation(record, at(0))).toBe(record);
    expect(times.allocation(record, at(10 * second))).toBe(record);
    expect(times.allocation(record, at(20 * second, set))).toEqual(
      allocation(start - minute + set, start - second + set),
    );
    expect(times.allocation(record, at(30 * second))).toBe(record);
  });

  it('stay as they are when the clock is kept right', () => {
    const times = new PresentTimes();
    const record = allocation(start - minute, start - second);
    times.allocation(record, at(0));
    expect(times.allocation(record, at(10 * second, 900))).toBe(record);
  });

  it('are those of the first look when they are yet to come then', () => {
    const times = new PresentTimes();
    const record = allocation(start + day, start + day);
    expect(times.allocation(record, at(0))).toEqual(allocation(start, start));
    expect(times.allocation(record, at(10 * second))).toEqual(allocation(start, start));
  });
});

describe('a deadline', () => {
  it('moves with the wall clock, and is no further away at the first look than it can be', () => {
    const times = new PresentTimes();
    const soon = strategy(start + minute);
    expect(times.drain('n', soon, at(0))).toBe(soon);
    expect(times.drain('n', soon, at(second, -day))).toEqual(strategy(start + minute - day));
    expect(times.drain('n', strategy(start + day), at(0))).toEqual(strategy(start + hour));
  });

  it('is remembered for as long as it is looked at, however many others there are', () => {
    const times = new PresentTimes();
    const soon = strategy(start + minute);
    for (let number = 0; number < 100_000; number += 1) {
      if (number % 1000 === 0) times.drain('n', soon, at(0));
      times.drain(String(number), soon, at(0));
    }
    expect(times.drain('n', soon, at(second, day))).toEqual(strategy(start + minute + day));
  });
});
