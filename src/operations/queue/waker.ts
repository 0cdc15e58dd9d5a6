import type { Clock } from '../../ports/clock.js';
import type { Instant } from '../../shared/instant.js';

/** Lets a loop wait until `wake` or a point in time. */
export interface Waker {
  /** Ends the current wait, or the next one when there is none. */
  wake(): void;
  /** How often `wake` was called since the last wait. */
  readonly calls: number;
  /**
   * Resolves at the next `wake`, when `now` has reached the first time, or the wall clock the second one; with Infinity at the next `wake`
   * alone.
   */
  rest(until: Instant, wall?: Instant): Promise<void>;
  close(): void;
}

interface Alarm {
  set(at: Instant): void;
  close(): void;
}

/** A constant abort reason: the default one is an exception with a stack, which is expensive. */
const superseded = 'superseded';

/** Rings at the earliest time that was set. One timer serves many waits: it is reset only when it would ring too late. */
function alarm(sleep: (at: Instant, signal: AbortSignal) => Promise<void>, ring: () => void): Alarm {
  let next: { readonly at: Instant; readonly controller: AbortController } | null = null;
  return {
    set(at) {
      if (!Number.isFinite(at) || (next !== null && next.at <= at)) return;
      next?.controller.abort(superseded);
      const controller = new AbortController();
      next = { at, controller };
      void sleep(at, controller.signal).then(() => {
        if (controller.signal.aborted) return;
        next = null;
        ring();
      });
    },
    close: () => next?.controller.abort(superseded),
  };
}

/** `now` returns the time used by `rest`; it advances with the monotonic time of the clock. */
export function waker(clock: Clock, now: () => Instant): Waker {
  let calls = 0;
  let resume: (() => void) | null = null;
  const wake = (): void => {
    calls += 1;
    const waiting = resume;
    resume = null;
    waiting?.();
  };
  const steady = alarm((at, signal) => clock.sleep(Math.max(0, at - now()), signal), wake);
  const wall = alarm((at, signal) => clock.sleepUntil(at, signal), wake);
  return {
    wake,
    get calls() {
      return calls;
    },
    async rest(until, untilWall = Number.POSITIVE_INFINITY) {
      if (calls === 0) {
        steady.set(until);
        wall.set(untilWall);
        await new Promise<void>((resolve) => {
          resume = resolve;
        });
      }
      calls = 0;
    },
    close() {
      steady.close();
      wall.close();
    },
  };
}
