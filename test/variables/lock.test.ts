import { describe, expect, it } from 'vitest';
import { type ClockReadings, lockFrom, lockState, renewed, withLockLost } from '../../src/variables/lock.js';
import type { StoredVariable } from '../../src/variables/variable.js';

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

  it('is judged by monotonic time on its own timeline, by wall time on another one', () => {
    expect(lockState(locked, { ...at(10_000), now: 0 }).type).toBe('delayed');
    expect(lockState(locked, { ...at(10_000, 'elsewhere'), monotonic: 0 }).type).toBe('delayed');
  });
});
