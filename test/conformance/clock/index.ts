import assert from 'node:assert/strict';
import type { Clock } from '../../../src/ports/clock.js';
import type { Milliseconds } from '../../../src/shared/duration.js';

export interface ClockSubject {
  /** A new clock for each test. */
  readonly create: () => Clock;
  /** Lets so much time pass on that clock: waits for a real one, moves a manual one. */
  readonly pass: (clock: Clock, by: Milliseconds) => Promise<void>;
}

/** Any runner's `test(name, body)`. */
export type TestFunction = (name: string, run: () => Promise<void>) => unknown;

/** What the library relies on in a clock. Takes well under a second of time that passes. */
export function clockConformance(test: TestFunction, subject: ClockSubject): void {
  const never = new AbortController().signal;

  test('now is an instant of this age of the world, in milliseconds', async () => {
    const now = subject.create().now();
    assert.ok(now > Date.UTC(2020) && now < Date.UTC(2200), `${now} is no plausible number of milliseconds`);
  });

  test('sleeping until an instant in the past, now or nowhere ends at once', async () => {
    const clock = subject.create();
    for (const instant of [clock.now() - 1000, clock.now(), Number.NEGATIVE_INFINITY, Number.NaN]) {
      await clock.sleepUntil(instant, never);
    }
  });

  test('a sleeper wakes at its instant or later, never before', async () => {
    const clock = subject.create();
    const instant = clock.now() + 20;
    let wokeAt = 0;
    const slept = clock.sleepUntil(instant, never).then(() => {
      wokeAt = clock.now();
    });
    await subject.pass(clock, 60);
    await slept;
    assert.ok(wokeAt >= instant, `woke ${instant - wokeAt} ms early`);
  });

  test('sleepers wake in the order of their instants', async () => {
    const clock = subject.create();
    const start = clock.now();
    const order: number[] = [];
    const all = [45, 5, 25].map((after) => clock.sleepUntil(start + after, never).then(() => order.push(after)));
    await subject.pass(clock, 90);
    await Promise.all(all);
    assert.deepEqual(order, [5, 25, 45]);
  });

  test('an abort ends the sleep without rejecting, before and during', async () => {
    const clock = subject.create();
    await clock.sleepUntil(clock.now() + 3_600_000, AbortSignal.abort());
    const controller = new AbortController();
    const slept = clock.sleepUntil(clock.now() + 3_600_000, controller.signal);
    controller.abort();
    await slept;
  });

  test('distances beyond a 32-bit timer, up to forever, do not fire early', async () => {
    const clock = subject.create();
    const controller = new AbortController();
    let woken = 0;
    const far = [2 ** 31 + 5, 400 * 86_400_000, Number.POSITIVE_INFINITY];
    const all = far.map((by) =>
      clock.sleepUntil(clock.now() + by, controller.signal).then(() => {
        woken += 1;
      }),
    );
    await subject.pass(clock, 30);
    assert.equal(woken, 0, 'a far sleeper woke early');
    controller.abort();
    await Promise.all(all);
    assert.equal(woken, far.length);
  });

  test('a signal keeps no listeners of sleepers that have ended', async () => {
    const clock = subject.create();
    const controller = new AbortController();
    let listening = 0;
    const { signal } = controller;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    Object.assign(signal, {
      addEventListener: (...args: Parameters<typeof add>) => {
        listening += 1;
        add(...args);
      },
      removeEventListener: (...args: Parameters<typeof remove>) => {
        listening -= 1;
        remove(...args);
      },
    });
    const all = Array.from({ length: 50 }, () => clock.sleepUntil(clock.now() + 5, signal));
    await subject.pass(clock, 30);
    await Promise.all(all);
    assert.equal(listening, 0);
  });
}
