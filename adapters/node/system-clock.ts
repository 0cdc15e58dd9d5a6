import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Clock } from '../../src/ports/clock.js';
import type { Milliseconds } from '../../src/shared/duration.js';

/** The longest single timer: far below the 2^31 ms where `setTimeout` overflows and fires at once. */
const longestTimer = 60_000;
/** Milliseconds between comparisons of the two clocks while at least one caller waits for an instant. */
const stepCheckInterval = 500;
/** Smaller differences, in milliseconds, come from gradual adjustment and from the time between two readings, not from a step. */
const stepTolerance = 20;

/**
 * The clock of the host. Sleeping does not keep the process alive, so that a stopped service can exit. A sleeper never wakes before
 * its due time, although Node's timers may fire a millisecond early. Waits for an instant are corrected within half a second after the
 * wall clock was set or the host was suspended.
 */
export function systemClock(): Clock {
  const wall = wallSleepers();
  return {
    now: Date.now,
    monotonic,
    timeline: hostTimeline(),
    sleep: (duration, signal) => {
      const end = monotonic() + duration;
      return sleeping(signal, () => end - monotonic(), wall.none);
    },
    sleepUntil: (instant, signal) => sleeping(signal, () => instant - Date.now(), wall.enter),
  };
}

/** From the start of the host, not of the process, so that processes of one host can compare their readings. */
function monotonic(): Milliseconds {
  const [seconds, nanos] = process.hrtime();
  return seconds * 1000 + nanos / 1_000_000;
}

let knownTimeline: string | undefined;

/** The boot ID of the host where the system provides one; elsewhere an ID of this process. */
function hostTimeline(): string {
  knownTimeline ??= bootId() ?? randomUUID();
  return knownTimeline;
}

function bootId(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Registers the function by which a sleeper checks the time again; returns a function that removes it. */
type Enter = (look: () => void) => () => void;

/** Sleeps while time is left. `left` is called again after each timer. */
function sleeping(signal: AbortSignal, left: () => Milliseconds, enter: Enter): Promise<void> {
  // Negated so that NaN, like a past instant, does not sleep at all.
  if (signal.aborted || !(left() > 0)) return Promise.resolve();
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const wake = (): void => {
      clearTimeout(timer);
      leave();
      signal.removeEventListener('abort', wake);
      resolve();
    };
    const look = (): void => {
      clearTimeout(timer);
      const rest = left();
      if (rest <= 0) {
        wake();
        return;
      }
      timer = setTimeout(look, Math.min(Math.ceil(rest), longestTimer));
      timer.unref();
    };
    const leave = enter(look);
    // Many loops share one stop signal. Without this, Node would warn of a leak from the eleventh listener on.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', wake);
    look();
  });
}

/** The callers that wait for an instant of the wall clock: all check again after a step. */
function wallSleepers(): { readonly enter: Enter; readonly none: Enter } {
  const looks = new Set<() => void>();
  let check: NodeJS.Timeout | undefined;
  let distance = 0;

  const compare = (): void => {
    const now = Date.now() - monotonic();
    const stepped = Math.abs(now - distance) > stepTolerance;
    distance = now;
    // A copy, because sleepers remove themselves when they wake.
    if (stepped) for (const look of [...looks]) look();
  };

  return {
    enter: (look) => {
      looks.add(look);
      if (check === undefined) {
        distance = Date.now() - monotonic();
        check = setInterval(compare, stepCheckInterval).unref();
      }
      return () => {
        looks.delete(look);
        if (looks.size > 0) return;
        clearInterval(check);
        check = undefined;
      };
    },
    none: () => () => undefined,
  };
}
