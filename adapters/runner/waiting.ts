import type { Clock } from '../../src/ports/clock.js';
import { timerOf } from '../../src/shared/duration.js';
import { isTransientFault } from './disk/transient-fault.js';

/** Waits for the work, but not longer than to the abort of the signal. */
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

/** Waits for the work, at most this number of milliseconds of the host's wall time. */
export function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  return beforeAbort(AbortSignal.timeout(timerOf(milliseconds)), work);
}

/** How long work is repeated while the disk is full or file handles are used up. */
const transientPatience = 5 * 60_000;

/** Repeats work that fails for want of something that may come back, for a while. `onWait` is called once, when it has failed. */
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
      until ??= clock.monotonic() + transientPatience;
      if (!isTransientFault(error) || signal.aborted || clock.monotonic() >= until) throw error;
      if (isFirst) onWait?.(error);
    }
    await clock.sleep(pause, signal);
  }
}

/** Between two attempts of `untilPossible`. In milliseconds of the host's wall time. */
const attemptPause = 100;

/** The same, for as long as it takes: for work without which nothing can continue. */
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
