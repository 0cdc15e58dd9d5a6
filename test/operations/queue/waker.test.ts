import { describe, expect, it } from 'vitest';
import { manualClock } from '../../../adapters/memory/index.js';
import { waker } from '../../../src/operations/queue/waker.js';
import type { Clock } from '../../../src/ports/clock.js';

const offset = 0.3;

function bell() {
  const clock = manualClock();
  const slept: number[] = [];
  const counting: Clock = {
    ...clock,
    sleep: (duration, signal) => {
      slept.push(duration);
      return clock.sleep(duration, signal);
    },
  };
  const now = (): number => clock.monotonic() + offset;
  return { clock, slept, now, bell: waker(counting, now) };
}

/** What the rest came to so far. */
function watched(rest: Promise<void>): { over: boolean } {
  const state = { over: false };
  void rest.then(() => {
    state.over = true;
  });
  return state;
}

describe('the rest of the delivery loop', () => {
  it('ends at its time', async () => {
    const { clock, now, bell: alarm } = bell();
    const rest = watched(alarm.rest(now() + 10));
    await clock.advance(9.9);
    expect(rest.over).toBe(false);
    await clock.advance(0.1);
    expect(rest.over).toBe(true);
  });

  it('keeps one timer for many rests until the same time or a later one', async () => {
    const { clock, slept, now, bell: alarm } = bell();
    const until = now() + 200;
    for (let at = 0; at < 10; at += 1) {
      const rest = alarm.rest(until + at);
      await clock.advance(0.7);
      alarm.wake();
      await rest;
    }
    expect(slept).toEqual([until - offset]);
    const last = watched(alarm.rest(until + 50));
    await clock.advance(200);
    // The timer of the first rest ends it early: the loop finds nothing to do and rests again.
    expect(last.over).toBe(true);
  });

  it('sets the timer anew for an earlier time', async () => {
    const { clock, slept, now, bell: alarm } = bell();
    const first = alarm.rest(now() + 200);
    alarm.wake();
    await first;
    const rest = watched(alarm.rest(now() + 5));
    await clock.advance(5);
    expect(rest.over).toBe(true);
    expect(slept).toHaveLength(2);
    expect(clock.sleepers).toBe(0);
  });

  it('without a time ends when it is woken, also by a call before it', async () => {
    const { clock, slept, bell: alarm } = bell();
    const rest = watched(alarm.rest(Number.POSITIVE_INFINITY));
    await clock.advance(1000);
    expect(rest.over).toBe(false);
    alarm.wake();
    await clock.settle();
    expect(rest.over).toBe(true);
    alarm.wake();
    await alarm.rest(Number.POSITIVE_INFINITY);
    expect(slept).toEqual([]);
  });
});
