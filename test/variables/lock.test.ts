import { describe, expect, it } from 'vitest';
import {
  type ClockReadings,
  lockFrom,
  lockState,
  renewed,
  type StoredVariable,
  withLockLost,
} from '../../src/variables/variable.js';

const second = 1_000_000_000;
const at = (milliseconds: number, timeline = 'here'): ClockReadings => ({
  now: 1_000_000 + milliseconds,
  monotonic: milliseconds,
  timeline,
});
const lock = lockFrom('id', { ttl: 10 * second, delay: 20 * second }, at(0));
const locked = { lock } as StoredVariable;

describe('the lock of a variable', () => {
  it.each([
    ['is held until its time', locked, 9_999, 'held'],
    ['is lost at its time', locked, 10_000, 'delayed'],
    ['cannot be acquired until its delay is over', locked, 29_999, 'delayed'],
    ['is free at the end of its delay', locked, 30_000, 'free'],
    ['keeps its delay when the loss is written down', withLockLost(locked), 29_999, 'delayed'],
    ['is free at the end of a delay that was written down', withLockLost(locked), 30_000, 'free'],
    ['begins again with its renewal', { lock: renewed(lock, at(9_000)) } as StoredVariable, 18_999, 'held'],
  ])('%s', (_name, variable, milliseconds, state) => {
    expect(lockState(variable, at(milliseconds)).type).toBe(state);
    expect(lockState(variable, at(milliseconds, 'elsewhere')).type).toBe(state);
  });

  it.each([
    ['from when it was seen first', locked, 0, [9_999, 10_000, 29_999, 30_000], ['held', 'delayed', 'delayed', 'free']],
    ['from when the written loss was seen', withLockLost(locked), 5_000, [34_999, 35_000], ['delayed', 'free']],
  ])('is judged by the time that others have seen it: %s', (_name, variable, from, times, states) => {
    const seen = new Map<string, number>();
    const sightings = {
      first: (key: string, now: number) => {
        if (!seen.has(key)) seen.set(key, now);
        return seen.get(key) ?? now;
      },
    };
    // The wall clock may say what it likes.
    const look = (monotonic: number, now: number) =>
      lockState(variable, { now, monotonic: 77_000 + monotonic, timeline: 'elsewhere', sightings }).type;
    look(from, 0);
    for (const now of [0, Number.MAX_SAFE_INTEGER]) expect(times.map((time) => look(time, now))).toEqual(states);
  });

  it('is judged by monotonic time on its own timeline, by wall time on another one', () => {
    expect(lockState(locked, { ...at(10_000), now: 0 }).type).toBe('delayed');
    expect(lockState(locked, { ...at(10_000, 'elsewhere'), monotonic: 0 }).type).toBe('delayed');
  });
});
