import { setMaxListeners } from 'node:events';
import type { Clock } from '../../src/ports/clock.js';
import type { Instant } from '../../src/shared/instant.js';

/**
 * The longest single timer. Far below the 2^31 ms where `setTimeout` overflows and fires at once, and short enough that a
 * sleeper is late by at most this much after the host was suspended or its clock was set forward.
 */
const longestTimer = 60_000;

/**
 * The host's clock. Sleeping does not keep the process alive: what a host serves (its sockets) does, and a host that has
 * stopped must be able to exit. A sleeper never wakes before its instant, also not by the millisecond that Node's timers
 * may fire early.
 */
export function systemClock(): Clock {
  return { now: Date.now, sleepUntil };
}

function sleepUntil(instant: Instant, signal: AbortSignal): Promise<void> {
  // Written as a negation so that NaN, like a past instant, does not sleep at all.
  if (signal.aborted || !(instant > Date.now())) return Promise.resolve();
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout;
    const wake = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', wake);
      resolve();
    };
    const arm = (): void => {
      const left = instant - Date.now();
      if (left <= 0) {
        wake();
        return;
      }
      timer = setTimeout(arm, Math.min(Math.ceil(left), longestTimer));
      timer.unref();
    };
    // One stop signal for many loops is what it is for, not the leak that Node would warn of from the eleventh on.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', wake);
    arm();
  });
}
