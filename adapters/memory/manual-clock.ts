import { setMaxListeners } from 'node:events';
import type { Clock } from '../../src/ports/clock.js';
import type { Milliseconds } from '../../src/shared/duration.js';
import type { Instant } from '../../src/shared/instant.js';
import { hop, othersAreQueued } from './event-loop.js';
import { type Sleeper, type SleeperQueue, sleeperQueue } from './sleeper-queue.js';

export interface ManualClock extends Clock {
  /** Moves time forward by so much; see `advanceTo`. */
  advance(by: Milliseconds): Promise<void>;
  /**
   * Moves time forward, waking each sleeper at exactly its instant, in order of instant and then of falling asleep. After
   * each one it waits until everything that it set going has come to rest, so a sleeper woken at t that sleeps until t + 5
   * also runs when that is still within the advance. Time does not move before work that is under way has come to rest.
   * Several advances queue up. Rejects with a RangeError for a past instant.
   */
  advanceTo(instant: Instant): Promise<void>;
  /** Advances from sleeper to sleeper until the condition holds; false, at the end of the span, when it never does. */
  advanceUntil(condition: () => boolean, within: Milliseconds): Promise<boolean>;
  /** Lets work that is under way come to rest without moving time. */
  settle(): Promise<void>;
  /** Sets the clock like a host's clock is set, also back, and wakes whoever is due then, all at the new time. */
  set(instant: Instant): Promise<void>;
  /**
   * Time stands still until the work ends. For work that leaves the event loop (a request over a socket, a file), which
   * the clock cannot see coming to rest by itself.
   */
  hold<T>(work: PromiseLike<T>): PromiseLike<T>;
  /**
   * The same port, each of whose calls holds the time until its promise ends: `clock.holding(undiciDelivery())`. Only the
   * named methods when given; never name one that waits for time to pass or for a change, that would wait for itself.
   */
  holding<P extends object>(port: P, methods?: readonly (keyof P)[]): P;
  /** How many are asleep. */
  readonly sleepers: number;
  /** When the next one wakes; null when nobody sleeps. */
  readonly nextWake: Instant | null;
}

/** 2026-01-01T00:00:00Z, so that tests read the same every year. */
const defaultStart: Instant = Date.UTC(2026, 0, 1);
/** After so many rounds the work is taken for something that never rests, such as a loop on `setImmediate`. */
const mostRounds = 10_000;

/**
 * A clock that moves only when told, for tests and simulations: months of schedules, retries and deadlines play in
 * milliseconds, in the same order every time. Promise callbacks and `setImmediate` chains (group commits) are waited for
 * without being told; for sockets and files use `hold` or `holding`.
 */
export function manualClock(start: Instant = defaultStart): ManualClock {
  let current = start;
  let queued: Promise<unknown> = Promise.resolve();
  const asleep: SleeperQueue = sleeperQueue();
  const rest = restWatch();

  const sleepUntil = (instant: Instant, signal: AbortSignal): Promise<void> => {
    if (signal.aborted || !(instant > current)) return Promise.resolve();
    return new Promise((resolve) => {
      const onAbort = (): void => {
        asleep.drop(sleeper);
        resolve();
      };
      const sleeper: Sleeper = asleep.add(instant, () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      });
      // One stop signal for many loops is what it is for, not the leak that Node would warn of from the eleventh on.
      setMaxListeners(0, signal);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  };

  /** Runs the sleepers due up to the instant; stops early, at the time of the last one, when the condition holds. */
  const run = async (target: Instant, condition: (() => boolean) | null): Promise<boolean> => {
    await rest.reached();
    for (;;) {
      if (condition?.() === true) return true;
      const sleeper = asleep.takeDue(target);
      if (sleeper === null) break;
      if (sleeper.at > current) current = sleeper.at;
      sleeper.wake();
      await rest.reached();
    }
    if (target > current) current = target;
    return false;
  };

  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = queued.then(work);
    queued = turn.catch(() => undefined);
    return turn;
  };

  const advanceTo = (instant: Instant): Promise<void> =>
    inTurn(async () => {
      if (!(instant >= current)) {
        throw new RangeError(`the clock stands at ${current} and cannot advance to ${instant}; use set to go back`);
      }
      await run(instant, null);
    });

  const hold = <T>(work: PromiseLike<T>): PromiseLike<T> => {
    rest.hold(work);
    return work;
  };

  return {
    now: () => current,
    sleepUntil,
    advance: (by) =>
      inTurn(async () => {
        if (!(by >= 0)) throw new RangeError(`the clock cannot advance by ${by}; use set to go back`);
        await run(current + by, null);
      }),
    advanceTo,
    advanceUntil: (condition, within) => inTurn(() => run(current + within, condition)),
    settle: () => inTurn(() => rest.reached()),
    set: (instant) =>
      inTurn(async () => {
        await rest.reached();
        current = instant;
        await run(instant, null);
      }),
    hold,
    holding: (port, methods) => holdingPort(port, methods, hold),
    get sleepers() {
      return asleep.size;
    },
    get nextWake() {
      return asleep.next;
    },
  };
}

/** Knows when everything that was set going has come to rest: nothing held, and no `setImmediate` queued but our own. */
function restWatch(): { reached(): Promise<void>; hold(work: PromiseLike<unknown>): void } {
  const held = new Set<PromiseLike<unknown>>();
  let onRelease: (() => void) | null = null;
  const reached = (): Promise<void> =>
    new Promise((resolve) => {
      let rounds = 0;
      // Runs from the event loop itself, after the microtasks of everything before it: what is not queued now never will be.
      const look = (): void => {
        rounds += 1;
        if (held.size > 0) {
          rounds = 0;
          onRelease = () => hop(look);
          return;
        }
        if (rounds < mostRounds && othersAreQueued(rounds)) hop(look);
        else resolve();
      };
      hop(look);
    });
  const hold = (work: PromiseLike<unknown>): void => {
    held.add(work);
    const release = (): void => {
      held.delete(work);
      if (held.size > 0 || onRelease === null) return;
      const resume = onRelease;
      onRelease = null;
      resume();
    };
    work.then(release, release);
  };
  return { reached, hold };
}

function holdingPort<P extends object>(
  port: P,
  methods: readonly (keyof P)[] | undefined,
  hold: (work: PromiseLike<unknown>) => unknown,
): P {
  return new Proxy(port, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      if (methods !== undefined && !methods.some((method) => method === name)) return member.bind(target);
      return (...args: unknown[]): unknown => {
        const answer: unknown = Reflect.apply(member, target, args);
        if (isPromiseLike(answer)) hold(answer);
        return answer;
      };
    },
  });
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
