import type { Clock } from '../../src/ports/clock.js';
import { timerOf } from '../../src/shared/duration.js';
import { isTransientFault } from './disk/transient-fault.js';

/** Waits for the work until the signal aborts. */
export function beforeAbort(signal: AbortSignal, work: Promise<unknown>): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      signal.removeEventListener('abort', end);
      resolve();
    };
    signal.addEventListener('abort', end);
    work.then(end, end);
  });
}

/** Waits for the work at most this many milliseconds of real time. */
export function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  return beforeAbort(AbortSignal.timeout(timerOf(milliseconds)), work);
}

/** Milliseconds for which work is repeated while the disk is full or file handles are used up. */
const transientTimeout = 5 * 60_000;

/** Repeats work for a limited time after temporary shortages. `onWait` is called once, after the first failure. */
export async function insist<T>(
  clock: Clock,
  signal: AbortSignal,
  work: () => T | Promise<T>,
  onWait?: (error: unknown) => void,
): Promise<T> {
  let until: number | undefined;
  for (let pause = 100; ; pause = Math.min(pause * 2, 5000)) {
    try {
      return await work();
    } catch (error) {
      const isFirst = until === undefined;
      until ??= clock.monotonic() + transientTimeout;
      if (!isTransientFault(error) || signal.aborted || clock.monotonic() >= until) throw error;
      if (isFirst) onWait?.(error);
    }
    await clock.sleep(pause, signal);
  }
}

/** Milliseconds of real time between two attempts of `untilPossible`. */
const attemptPause = 100;

/** The same without a limit, for work without which nothing can continue. */
export async function untilPossible<T>(work: () => T | Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isTransientFault(error)) throw error;
    }
    await new Promise((resume) => setTimeout(resume, attemptPause).unref());
  }
}
