import type { Clock } from '../../../ports/clock.js';
import type { Milliseconds } from '../../../shared/duration.js';

/** Lets a loop rest until somebody wakes it or time has passed. */
export interface Waker {
  /** Ends the rest, or the next one when none is on. */
  wake(): void;
  /** How often `wake` was called since the last rest. */
  readonly calls: number;
  /** Resolves at the next `wake`, or after so much time; null waits for `wake` alone. */
  rest(atMost: Milliseconds | null): Promise<void>;
  close(): void;
}

/** A reason of its own, because the default one is an exception with a stack. */
const superseded = 'superseded';

export function waker(clock: Clock): Waker {
  let calls = 0;
  let resume: (() => void) | null = null;
  /** One timer serves many rests: it is set anew only when it would ring too late. */
  let alarm: { readonly at: Milliseconds; readonly controller: AbortController } | null = null;

  const wake = (): void => {
    calls += 1;
    const waiting = resume;
    resume = null;
    waiting?.();
  };

  const setAlarm = (after: Milliseconds): void => {
    const at = clock.monotonic() + after;
    if (alarm !== null && alarm.at <= at) return;
    alarm?.controller.abort(superseded);
    const controller = new AbortController();
    alarm = { at, controller };
    void clock.sleep(after, controller.signal).then(() => {
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
    async rest(atMost) {
      if (calls === 0 && atMost !== null) setAlarm(Math.max(0, atMost));
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
