import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ManualClock, manualClock } from '../../../adapters/memory/manual-clock.js';
import { clockConformance } from '../../conformance/clock/index.js';

const never = new AbortController().signal;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('manualClock', () => {
  clockConformance(it, {
    create: () => manualClock(),
    pass: (clock, by) => (clock as ManualClock).advance(by),
    step: async (clock, by) => {
      await (clock as ManualClock).step(by);
      await (clock as ManualClock).advance(1000);
    },
  });

  it('stands still until it is moved', async () => {
    const clock = manualClock(1000);
    await turn();
    expect(clock.now()).toBe(1000);
    await clock.advance(250);
    expect(clock.now()).toBe(1250);
    await clock.advanceTo(9000);
    expect(clock.now()).toBe(9000);
  });

  it('runs what a woken sleeper schedules within the same advance, each at its own instant', async () => {
    const clock = manualClock(0);
    const seen: number[] = [];
    const loop = async (): Promise<void> => {
      while (clock.now() < 20) {
        await clock.sleepUntil(clock.now() + 5, never);
        seen.push(clock.now());
      }
    };
    const ended = loop();
    await clock.advance(100);
    await ended;
    expect(seen).toEqual([5, 10, 15, 20]);
    expect(clock.now()).toBe(100);
  });

  it('waits for chains of promises and event loop turns between two sleepers', async () => {
    const clock = manualClock(0);
    const seen: string[] = [];
    const work = async (name: string, at: number): Promise<void> => {
      await clock.sleepUntil(at, never);
      for (let commit = 0; commit < 40; commit += 1) await turn();
      for (let hop = 0; hop < 40; hop += 1) await Promise.resolve();
      await new Promise((resolve) => process.nextTick(resolve));
      await turn();
      seen.push(`${name} done at ${clock.now()}`);
    };
    void work('first', 1);
    void work('second', 2);
    await clock.advance(10);
    expect(seen).toEqual(['first done at 1', 'second done at 2']);
  });

  it('waits for work that is already under way before it moves', async () => {
    const clock = manualClock(0);
    let sleptUntil = 0;
    const work = async (): Promise<void> => {
      for (let commit = 0; commit < 10; commit += 1) await turn();
      await clock.sleepUntil(clock.now() + 5, never);
      sleptUntil = clock.now();
    };
    void work();
    await clock.advance(50);
    expect(sleptUntil).toBe(5);
  });

  it('holds the time while real work outside the event loop goes on', async () => {
    const clock = manualClock(0);
    let doneAt = -1;
    const work = async (): Promise<void> => {
      await clock.sleepUntil(1, never);
      await clock.hold(pause(15));
      doneAt = clock.now();
      await clock.sleepUntil(clock.now() + 1, never);
      await clock.hold(pause(5));
      doneAt = clock.now();
    };
    void work();
    await clock.advance(1000);
    expect(doneAt).toBe(2);
  });

  it('holds the time for each call of a port, rejected ones too', async () => {
    const clock = manualClock(0);
    const port = {
      plain: 3,
      async send(fail: boolean): Promise<string> {
        await pause(5);
        if (fail) throw new Error('refused');
        return `sent ${this.plain}`;
      },
      waiting: (): Promise<void> => new Promise(() => undefined),
    };
    const holding = clock.holding(port, ['send']);
    const seen: string[] = [];
    const work = async (): Promise<void> => {
      void holding.waiting();
      await clock.sleepUntil(1, never);
      seen.push(await holding.send(false));
      await holding.send(true).catch((error: unknown) => seen.push(String(error)));
      seen.push(`at ${clock.now()}`);
    };
    void work();
    await clock.advance(10);
    expect(seen).toEqual(['sent 3', 'Error: refused', 'at 1']);
    expect(holding.plain).toBe(3);
  });

  it('advances until a condition holds and stays at that instant', async () => {
    const clock = manualClock(0);
    let ticks = 0;
    const loop = async (): Promise<void> => {
      for (;;) {
        await clock.sleepUntil(clock.now() + 10, never);
        ticks += 1;
      }
    };
    void loop();
    expect(await clock.advanceUntil(() => ticks === 3, 1000)).toBe(true);
    expect(clock.now()).toBe(30);
    expect(await clock.advanceUntil(() => false, 100)).toBe(false);
    expect(clock.now()).toBe(130);
  });

  it('queues advances that are asked for at once', async () => {
    const clock = manualClock(0);
    const seen: number[] = [];
    for (const at of [5, 15]) void clock.sleepUntil(at, never).then(() => seen.push(clock.now()));
    await Promise.all([clock.advance(10), clock.advance(10)]);
    expect(seen).toEqual([5, 15]);
    expect(clock.now()).toBe(20);
  });

  it('does not take the waiting of another clock for work', async () => {
    const clocks = Array.from({ length: 5 }, () => manualClock(0));
    await Promise.all(clocks.map((clock) => clock.advance(1000)));
    expect(clocks.map((clock) => clock.now())).toEqual([1000, 1000, 1000, 1000, 1000]);
  });

  it('ends also beside a loop that never rests', async () => {
    const clock = manualClock(0);
    let running = true;
    const spin = (): void => {
      if (running) setImmediate(spin);
    };
    spin();
    await clock.advance(1);
    running = false;
    expect(clock.now()).toBe(1);
  });

  it('refuses to go back by advancing and goes back by setting', async () => {
    const clock = manualClock(1000);
    await expect(clock.advanceTo(999)).rejects.toThrow(RangeError);
    await expect(clock.advance(-1)).rejects.toThrow(RangeError);
    await expect(clock.advance(Number.NaN)).rejects.toThrow(RangeError);
    await clock.set(500);
    expect(clock.now()).toBe(500);
  });

  it('wakes at the new time whoever a set clock has passed over', async () => {
    const clock = manualClock(0);
    const seen: number[] = [];
    for (const at of [10, 20, 900]) void clock.sleepUntil(at, never).then(() => seen.push(clock.now()));
    await clock.set(500);
    expect(seen).toEqual([500, 500]);
    expect(clock.sleepers).toBe(1);
    expect(clock.nextWake).toBe(900);
  });

  it('steps the wall clock beside the monotonic one', async () => {
    const clock = manualClock(1000);
    const seen: string[] = [];
    void clock.sleep(50, never).then(() => seen.push(`slept at ${clock.monotonic()}`));
    void clock.sleepUntil(1050, never).then(() => seen.push(`reached at ${clock.monotonic()}`));
    await clock.advance(20);
    await clock.step(-100);
    expect([clock.now(), clock.monotonic()]).toEqual([920, 20]);
    await clock.advance(40);
    expect(seen).toEqual(['slept at 50']);
    await clock.step(90);
    expect(seen).toEqual(['slept at 50', 'reached at 60']);
    expect([clock.now(), clock.monotonic()]).toEqual([1050, 60]);
  });

  it('pauses like a stopped process: who was due meanwhile wakes late, at the end', async () => {
    const clock = manualClock(1000);
    const seen: number[] = [];
    const loop = async (): Promise<void> => {
      for (;;) {
        await clock.sleep(10, never);
        seen.push(clock.monotonic());
      }
    };
    void loop();
    await clock.pause(35);
    expect([clock.now(), clock.monotonic()]).toEqual([1035, 35]);
    await clock.advance(10);
    expect(seen).toEqual([35, 45]);
  });

  it('forgets sleepers that were aborted', async () => {
    const clock = manualClock(0);
    for (let count = 0; count < 1000; count += 1) {
      const controller = new AbortController();
      void clock.sleepUntil(1_000_000 + count, controller.signal);
      controller.abort();
    }
    expect(clock.sleepers).toBe(0);
    expect(clock.nextWake).toBeNull();
    const kept = clock.sleepUntil(50, never);
    await clock.advance(50);
    await kept;
  });

  it('plays a year of hourly work in a moment', async () => {
    const clock = manualClock();
    let runs = 0;
    const loop = async (): Promise<void> => {
      for (;;) {
        await clock.sleepUntil(clock.now() + 3_600_000, never);
        await turn();
        runs += 1;
      }
    };
    void loop();
    const started = process.cpuUsage();
    await clock.advance(365 * 86_400_000);
    expect(runs).toBe(8760);
    // About 60 ms; the bound only catches a change of kind.
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(3000);
  });

  it('keeps any sleepers on both clocks to their own time, whatever steps lie between', async () => {
    const event = fc.oneof(
      fc.record({ type: fc.constantFrom('sleep', 'sleepUntil'), by: fc.integer({ min: 1, max: 30 }) }),
      fc.record({ type: fc.constantFrom('advance', 'pause'), by: fc.integer({ min: 0, max: 20 }) }),
      fc.record({ type: fc.constant('step'), by: fc.integer({ min: -20, max: 20 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 60 }), async (events) => {
        const clock = manualClock(1000);
        const asleep = new Set<() => boolean>();
        for (const { type, by } of events) {
          if (type === 'sleep' || type === 'sleepUntil') {
            const read = type === 'sleep' ? clock.monotonic : clock.now;
            const end = read() + by;
            const isDue = (): boolean => read() >= end;
            asleep.add(isDue);
            void clock[type](type === 'sleep' ? by : end, never).then(() => {
              expect(isDue()).toBe(true);
              asleep.delete(isDue);
            });
          } else {
            await clock[type as 'advance' | 'pause' | 'step'](by);
            expect([...asleep].filter((isDue) => isDue())).toEqual([]);
          }
        }
      }),
    );
  });

  it('wakes any set of sleepers in order of instant, then of falling asleep, with some aborted', async () => {
    const sleeper = fc.record({ after: fc.integer({ min: 1, max: 30 }), aborted: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(sleeper, { maxLength: 200 }), async (sleepers) => {
        const clock = manualClock(0);
        const woken: { after: number; index: number; now: number }[] = [];
        const ended = sleepers.map(({ after, aborted }, index) => {
          const controller = new AbortController();
          const slept = clock.sleepUntil(after, controller.signal).then(() => {
            if (!aborted) woken.push({ after, index, now: clock.now() });
          });
          if (aborted) controller.abort();
          return slept;
        });
        await clock.advance(30);
        await Promise.all(ended);
        const expected = sleepers
          .map(({ after, aborted }, index) => ({ after, index, now: after, aborted }))
          .filter(({ aborted }) => !aborted)
          .map(({ after, index, now }) => ({ after, index, now }))
          .sort((a, b) => a.after - b.after || a.index - b.index);
        expect(woken).toEqual(expected);
      }),
      { numRuns: 50 },
    );
  });
});
