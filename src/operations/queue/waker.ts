import type { Clock } from '../../ports/clock.js';
import type { Instant } from '../../shared/instant.js';

/** Lets a loop wait until `wake` or a point in time. */
export interface Waker {
  /** Ends the current wait, or the next one when there is none. */
  wake(): void;
  /** How often `wake` was called since the last wait. */
  readonly calls: number;
  /** Resolves at the next `wake`, or when `now` has reached this time; with Infinity at the next `wake` alone. */
  rest(until: Instant): Promise<void>;
  close(): void;
}

/** A constant abort reason: the default one is an exception with a stack, which is expensive. */
const superseded = 'superseded';

/** `now` returns the time used by `rest`; it advances with the monotonic time of the clock. */
export function waker(clock: Clock, now: () => Instant): Waker {
  let calls = 0;
  let resume: (() => void) | null = null;
  /** One timer serves many waits: it is reset only when it would fire too late. */
  let alarm: { readonly at: Instant; readonly controller: AbortController } | null = null;

  const wake = (): void => {
    calls += 1;
    const waiting = resume;
    resume = null;
    waiting?.();
  };

  const setAlarm = (at: Instant): void => {
    if (alarm !== null && alarm.at <= at) return;
    alarm?.controller.abort(superseded);
    const controller = new AbortController();
    alarm = { at, controller };
    void clock.sleep(Math.max(0, at - now()), controller.signal).then(() => {
      if (controller.signal.aborted) return;
      alarm = null;
      wake();
    });
  };

  return {
    wake,
    get calls() {
      return calls;
    },
    async rest(until) {
      if (calls === 0 && Number.isFinite(until)) setAlarm(until);
      if (calls === 0) {
        await new Promise<void>((resolve) => {
          resume = resolve;
        });
      }
      calls = 0;
    },
    close: () => alarm?.controller.abort(superseded),
  };
}
