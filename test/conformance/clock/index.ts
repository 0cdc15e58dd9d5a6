import assert from 'node:assert/strict';
import type { Clock } from '../../../src/ports/clock.js';
import type { Milliseconds } from '../../../src/shared/duration.js';

/** A clock under test, and the means to let its time pass. */
export interface ClockSubject {
  /** A new clock for each test. */
  readonly create: () => Clock;
  /** Lets this many milliseconds pass on the clock: waits for a real one, advances a manual one. */
  readonly pass: (clock: Clock, by: Milliseconds) => Promise<void>;
  /**
   * Sets the wall clock forward or back and lets a second pass. If absent, the cases about clock steps are omitted.
   */
  readonly step?: (clock: Clock, by: Milliseconds) => Promise<void>;
}

/** Any runner's `test(name, body)`. */
export type TestFunction = (name: string, run: () => Promise<void>) => unknown;

type Sleep = (clock: Clock, duration: Milliseconds, signal: AbortSignal) => Promise<void>;

/** The two ways to sleep, which share most promises. */
const ways: readonly { readonly name: string; readonly read: (clock: Clock) => number; readonly sleep: Sleep }[] = [
  {
    name: 'for a duration',
    read: (clock) => clock.monotonic(),
    sleep: (clock, duration, signal) => clock.sleep(duration, signal),
  },
  {
    name: 'until an instant',
    read: (clock) => clock.now(),
    sleep: (clock, duration, signal) => clock.sleepUntil(clock.now() + duration, signal),
  },
];

const never = new AbortController().signal;
const hour = 3_600_000;

/** What the library requires of a clock. Takes well under a second of the clock's time, or some seconds with steps. */
export function clockConformance(test: TestFunction, subject: ClockSubject): void {
  readingCases(test, subject);
  for (const { name, read, sleep } of ways)
    sleepCases((text, run) => test(`${name}: ${text}`, run), subject, read, sleep);
  if (subject.step !== undefined) stepCases(test, subject, subject.step);
}

function readingCases(test: TestFunction, subject: ClockSubject): void {
  test('now is a plausible wall time, in milliseconds since 1970', async () => {
    const now = subject.create().now();
    assert.ok(
      now > Date.UTC(2020) && now < Date.UTC(2200),
      `${now} is not a plausible time in milliseconds since 1970`,
    );
  });

  test('monotonic time never goes back and passes as fast as wall time', async () => {
    const clock = subject.create();
    const wall = clock.now();
    const start = clock.monotonic();
    let last = start;
    for (let count = 0; count < 1000; count += 1) {
      const reading = clock.monotonic();
      assert.ok(reading >= last, 'monotonic time went back');
      last = reading;
    }
    await subject.pass(clock, 40);
    const passed = clock.monotonic() - start;
    assert.ok(passed >= 39, `${passed} ms have passed of 40`);
    assert.ok(Math.abs(passed - (clock.now() - wall)) < 20, 'the two clocks run at different speeds');
  });

  test('two clocks with one timeline read the same monotonic time', async () => {
    const [a, b] = [subject.create(), subject.create()];
    assert.equal(typeof a.timeline, 'string');
    assert.ok(a.timeline.length > 0);
    if (a.timeline === b.timeline) assert.ok(Math.abs(a.monotonic() - b.monotonic()) < 50);
  });
}

function sleepCases(test: TestFunction, subject: ClockSubject, read: (clock: Clock) => number, sleep: Sleep): void {
  test('a sleep for no time ends immediately', async () => {
    const clock = subject.create();
    for (const duration of [-1000, 0, Number.NEGATIVE_INFINITY, Number.NaN]) await sleep(clock, duration, never);
  });

  test('a sleeper wakes at its due time or later, never earlier', async () => {
    const clock = subject.create();
    const end = read(clock) + 20;
    let wokeAt = 0;
    const slept = sleep(clock, 20, never).then(() => {
      wokeAt = read(clock);
    });
    await subject.pass(clock, 60);
    await slept;
    assert.ok(wokeAt >= end, `woke ${end - wokeAt} ms early`);
  });

  test('sleepers wake in the order of their due times', async () => {
    const clock = subject.create();
    const order: number[] = [];
    const all = [45, 5, 25].map((after) => sleep(clock, after, never).then(() => order.push(after)));
    await subject.pass(clock, 90);
    await Promise.all(all);
    assert.deepEqual(order, [5, 25, 45]);
  });

  test('an abort ends the sleep without rejecting, before and during', async () => {
    const clock = subject.create();
    await sleep(clock, hour, AbortSignal.abort());
    const controller = new AbortController();
    const slept = sleep(clock, hour, controller.signal);
    controller.abort();
    await slept;
  });

  test('durations beyond a 32-bit timer, including Infinity, do not fire early', async () => {
    const clock = subject.create();
    const controller = new AbortController();
    let woken = 0;
    const far = [2 ** 31 + 5, 400 * 86_400_000, Number.POSITIVE_INFINITY];
    const all = far.map((by) =>
      sleep(clock, by, controller.signal).then(() => {
        woken += 1;
      }),
    );
    await subject.pass(clock, 30);
    assert.equal(woken, 0, 'a far sleeper woke early');
    controller.abort();
    await Promise.all(all);
    assert.equal(woken, far.length);
  });

  test('ended sleepers leave no listeners on the signal', async () => {
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
    const all = Array.from({ length: 50 }, () => sleep(clock, 5, signal));
    await subject.pass(clock, 30);
    await Promise.all(all);
    assert.equal(listening, 0);
  });
}

function stepCases(test: TestFunction, subject: ClockSubject, step: NonNullable<ClockSubject['step']>): void {
  for (const by of [hour, -hour]) {
    const direction = by > 0 ? 'forward' : 'back';

    test(`a step ${direction} moves wall time and leaves monotonic time alone`, async () => {
      const clock = subject.create();
      const wall = clock.now();
      const start = clock.monotonic();
      await step(clock, by);
      const passed = clock.monotonic() - start;
      assert.ok(passed >= 0 && passed < 5000, `monotonic time moved by ${passed} ms`);
      assert.ok(Math.abs(clock.now() - wall - by - passed) < 50, 'wall time did not step');
    });

    test(`a sleep for a duration lasts as long as before when the clock is set ${direction}`, async () => {
      const clock = subject.create();
      const start = clock.monotonic();
      let woken = 0;
      const slept = clock.sleep(1600, never).then(() => {
        woken = clock.monotonic() - start;
      });
      await step(clock, by);
      assert.equal(woken, 0, 'the step ended the sleep');
      await subject.pass(clock, 1000);
      await slept;
      assert.ok(woken >= 1600 && woken < 2600, `slept ${woken} ms of 1600`);
    });
  }

  test('a step over an instant wakes its sleepers within a second, once', async () => {
    const clock = subject.create();
    let woken = 0;
    const all = [hour / 2, hour - 1].map((after) =>
      clock.sleepUntil(clock.now() + after, never).then(() => {
        woken += 1;
      }),
    );
    await step(clock, hour);
    await Promise.all(all);
    await step(clock, -hour);
    await step(clock, hour);
    assert.equal(woken, 2);
  });

  test('after a step back, an instant is reached when the wall clock shows it again', async () => {
    const clock = subject.create();
    const controller = new AbortController();
    let woken = false;
    const slept = clock.sleepUntil(clock.now() + 200, controller.signal).then(() => {
      woken = true;
    });
    await step(clock, -hour);
    await subject.pass(clock, 300);
    assert.equal(woken, false, 'woke before the instant');
    await step(clock, hour);
    await slept;
    assert.equal(woken, true);
  });
}
