import { setMaxListeners } from 'node:events';
import type { Clock } from '../../src/ports/clock.js';
import type { Milliseconds } from '../../src/shared/duration.js';
import type { Instant } from '../../src/shared/instant.js';
import { hop, othersAreQueued } from './event-loop.js';
import { type Sleeper, type SleeperQueue, sleeperQueue } from './sleeper-queue.js';

export interface ManualClock extends Clock {
  /** Lets so much time pass on both clocks; see `advanceTo`. */
  advance(by: Milliseconds): Promise<void>;
  /**
   * Lets time pass until the wall clock shows the instant, waking each sleeper at exactly its time, in order of time and
   * then of falling asleep. After each one it waits until everything that it set going has come to rest, so a sleeper woken
   * at t that sleeps for 5 more also runs when that is still within the advance. Time does not move before work that is
   * under way has come to rest. Several advances queue up. Rejects with a RangeError for a past instant.
   */
  advanceTo(instant: Instant): Promise<void>;
  /** Advances from sleeper to sleeper until the condition holds; false, at the end of the span, when it never does. */
  advanceUntil(condition: () => boolean, within: Milliseconds): Promise<boolean>;
  /** Lets work that is under way come to rest without moving time. */
  settle(): Promise<void>;
  /**
   * Sets the wall clock forward or back by so much, as an operator or a time service does; monotonic time does not move.
   * Wakes whoever waits for an instant that is now past. A suspended host is the same: the wall clock goes on, the
   * monotonic one stands still.
   */
  step(by: Milliseconds): Promise<void>;
  /** `step` to an instant. */
  set(instant: Instant): Promise<void>;
  /** The process was stopped for so long: both clocks have moved, and everyone who was due meanwhile wakes late, at the end. */
  pause(by: Milliseconds): Promise<void>;
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
  /** When the next one wakes, on the wall clock; null when nobody sleeps. */
  readonly nextWake: Instant | null;
}

/** 2026-01-01T00:00:00Z, so that tests read the same every year. */
const defaultStart: Instant = Date.UTC(2026, 0, 1);
/** After so many rounds the work is taken for something that never rests, such as a loop on `setImmediate`. */
const mostRounds = 10_000;

/**
 * A clock that moves only when told, for tests and simulations: months of schedules, retries and deadlines play in
 * milliseconds, in the same order every time. Promise callbacks and `setImmediate` chains (group commits) are waited for
 * without being told; for sockets and files use `hold` or `holding`. Monotonic time counts from the clock's making.
 */
export function manualClock(start: Instant = defaultStart): ManualClock {
  const time: ClockTime = { wall: start, passed: 0 };
  const asleep = sleepersOn(time);
  const rest = restWatch();
  const moves = movesOf(time, asleep, rest);

  const hold = <T>(work: PromiseLike<T>): PromiseLike<T> => {
    rest.hold(work);
    return work;
  };

  return {
    now: () => time.wall,
    monotonic: () => time.passed,
    timeline: 'manual',
    sleep: (duration, signal) => asleep.enter('passed', time.passed + duration, signal),
    sleepUntil: (instant, signal) => asleep.enter('wall', instant, signal),
    advance: (by) =>
      moves.inTurn(async () => {
        if (!(by >= 0)) throw new RangeError(`the clock cannot advance by ${by}; use step to set it back`);
        await moves.run(by, null);
      }),
    advanceTo: (instant) =>
      moves.inTurn(async () => {
        const by = instant - time.wall;
        if (by >= 0) await moves.run(by, null);
        else
          throw new RangeError(`the clock stands at ${time.wall} and cannot advance to ${instant}; use set to go back`);
      }),
    advanceUntil: (condition, within) => moves.inTurn(() => moves.run(within, condition)),
    settle: () => moves.inTurn(() => rest.reached()),
    step: (by) => moves.jump(() => by, 0),
    set: (instant) => moves.jump(() => instant - time.wall, 0),
    pause: (by) => moves.jump(() => by, by),
    hold,
    holding: (port, methods) => holdingPort(port, methods, hold),
    get sleepers() {
      return asleep.size;
    },
    get nextWake() {
      const after = asleep.nextAfter();
      return after === null ? null : time.wall + after;
    },
  };
}

interface ClockTime {
  wall: Instant;
  passed: Milliseconds;
}

/** The ways in which the time moves, each in its turn. */
interface ClockMoves {
  inTurn<T>(work: () => Promise<T>): Promise<T>;
  /** Wakes those due within so much time; stops early, at the time of the last one, when the condition holds. */
  run(within: Milliseconds, condition: (() => boolean) | null): Promise<boolean>;
  /** Moves at once, then wakes whoever is due. */
  jump(wall: () => Milliseconds, passed: Milliseconds): Promise<void>;
}

function movesOf(
  time: ClockTime,
  asleep: ReturnType<typeof sleepersOn>,
  rest: ReturnType<typeof restWatch>,
): ClockMoves {
  let queued: Promise<unknown> = Promise.resolve();

  const moveBy = (by: Milliseconds): void => {
    time.wall += by;
    time.passed += by;
  };

  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = queued.then(work);
    queued = turn.catch(() => undefined);
    return turn;
  };

  const run: ClockMoves['run'] = async (within, condition) => {
    await rest.reached();
    const end = time.passed + within;
    for (;;) {
      if (condition?.() === true) return true;
      const due = asleep.takeDue(end - time.passed);
      if (due === null) break;
      if (due.after > 0) moveBy(due.after);
      // Exactly, where the addition was rounded down: nobody wakes early.
      if (time[due.on] < due.at) time[due.on] = due.at;
      due.wake();
      await rest.reached();
    }
    if (end > time.passed) moveBy(end - time.passed);
    return false;
  };

  const jump: ClockMoves['jump'] = (wall, passed) =>
    inTurn(async () => {
      await rest.reached();
      time.wall += wall();
      time.passed += passed;
      await run(0, null);
    });

  return { inTurn, run, jump };
}

interface Time {
  /** What the wall clock shows. */
  wall: Instant;
  /** Monotonic time. */
  passed: Milliseconds;
}

interface DueSleeper {
  readonly on: keyof Time;
  readonly at: number;
  readonly after: Milliseconds;
  readonly wake: () => void;
}

/** Those asleep, on either clock. */
function sleepersOn(time: Time) {
  const queues: Record<keyof Time, SleeperQueue> = { wall: sleeperQueue(), passed: sleeperQueue() };
  let order = 0;

  const enter = (on: keyof Time, at: number, signal: AbortSignal): Promise<void> => {
    // Written as a negation so that NaN, like what is past, does not sleep at all.
    if (signal.aborted || !(at > time[on])) return Promise.resolve();
    return new Promise((resolve) => {
      const onAbort = (): void => {
        queues[on].drop(sleeper);
        resolve();
      };
      order += 1;
      const sleeper: Sleeper = queues[on].add(at, order, () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      });
      // One stop signal for many loops is what it is for, not the leak that Node would warn of from the eleventh on.
      setMaxListeners(0, signal);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  };

  /** The queue whose first sleeper is due first. */
  const first = (): { readonly on: keyof Time; readonly sleeper: Sleeper; readonly after: Milliseconds } | null => {
    const ahead = (['passed', 'wall'] as const).flatMap((on) => {
      const sleeper = queues[on].first();
      return sleeper === null ? [] : [{ on, sleeper, after: Math.max(sleeper.at - time[on], 0) }];
    });
    return ahead.toSorted((a, b) => a.after - b.after || a.sleeper.order - b.sleeper.order)[0] ?? null;
  };

  return {
    enter,
    /** Takes out the first that is due within so much time. */
    takeDue: (within: Milliseconds): DueSleeper | null => {
      const next = first();
      if (next === null || next.after > within) return null;
      queues[next.on].takeFirst();
      return { on: next.on, at: next.sleeper.at, after: next.after, wake: next.sleeper.wake };
    },
    nextAfter: (): Milliseconds | null => first()?.after ?? null,
    get size(): number {
      return queues.wall.size + queues.passed.size;
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
