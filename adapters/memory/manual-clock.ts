import { setMaxListeners } from 'node:events';
import { setImmediate } from 'node:timers';
import { checkArgument } from '../../src/options/check-options.js';
import { instant } from '../../src/options/option-kinds.js';
import type { Clock } from '../../src/ports/clock.js';
import type { Milliseconds } from '../../src/shared/duration.js';
import type { Instant } from '../../src/shared/instant.js';

/** A clock that moves only when a test advances it. */
export interface ManualClock extends Clock {
  /** Advances both clocks by this many milliseconds; see `advanceTo`. */
  advance(by: Milliseconds): Promise<void>;
  /**
   * Advances to an instant of the wall clock and wakes each sleeper at exactly its due time, ordered by due time, then by the order of
   * the calls. After each sleeper it waits until the work that it started is idle, so a sleeper that sleeps again within the advance
   * runs again, too. Time does not move while other work is in progress. Concurrent advances are queued. Rejects with a RangeError for
   * a past instant.
   */
  advanceTo(instant: Instant): Promise<void>;
  /** Advances from sleeper to sleeper until the condition holds. Resolves with false if it does not hold at the end of the span. */
  advanceUntil(condition: () => boolean, within: Milliseconds): Promise<boolean>;
  /** Waits until work in progress is idle, without moving time. */
  settle(): Promise<void>;
  /**
   * Sets the wall clock forward or back by this many milliseconds, like an operator or a time service; monotonic time does not
   * move. Wakes all sleepers whose instant is now past. A suspended host behaves the same: the wall clock continues, the monotonic
   * clock stops.
   */
  step(by: Milliseconds): Promise<void>;
  /** `step` to an instant. */
  set(instant: Instant): Promise<void>;
  /**
   * Simulates a process suspended for this many milliseconds: both clocks move, and all sleepers that became due
   * meanwhile wake at the end.
   */
  pause(by: Milliseconds): Promise<void>;
  /**
   * Time does not move until the work ends. For work outside the event loop (a request over a socket, a file), whose end the
   * clock cannot detect.
   */
  hold<T>(work: PromiseLike<T>): PromiseLike<T>;
  /**
   * The same port; each call holds time until its promise settles: `clock.holding(undiciDelivery())`. If methods are named, only those
   * hold time. Do not name a method that waits for time to pass or for a change: it would wait for itself.
   */
  holding<P extends object>(port: P, methods?: readonly (keyof P)[]): P;
  /** The number of sleepers. */
  readonly sleepers: number;
  /** The due time of the next sleeper, on the wall clock; null without sleepers. */
  readonly nextWake: Instant | null;
}

/** 2026-01-01T00:00:00Z: a fixed start, so that tests do not depend on the date. */
const defaultStart: Instant = Date.UTC(2026, 0, 1);
/** Rounds after which work counts as endless, such as a loop on `setImmediate`. */
const mostRounds = 10_000;

/**
 * A clock that moves only on request, for tests and simulations: months of schedules, retries and deadlines run in
 * milliseconds, always in the same order. It waits for promise callbacks and `setImmediate` chains (group commits)
 * automatically; for sockets and files, use `hold` or `holding`. Monotonic time counts from the creation of the clock.
 */
export function manualClock(start: Instant = defaultStart): ManualClock {
  checkArgument('manualClock', 'start', start, instant);
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
        if (!(by >= 0)) throw new RangeError(`cannot advance the clock by ${by}; use step to set it back`);
        await moves.run(by, null);
      }),
    advanceTo: (instant) =>
      moves.inTurn(async () => {
        const by = instant - time.wall;
        if (by >= 0) await moves.run(by, null);
        else
          throw new RangeError(`the clock is at ${time.wall} and cannot advance to ${instant}; use set to set it back`);
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
  /** The reading of the wall clock. */
  wall: Instant;
  /** Monotonic time. */
  passed: Milliseconds;
}

/** The operations that move time, one after the other. */
interface ClockMoves {
  inTurn<T>(work: () => Promise<T>): Promise<T>;
  /** Wakes the sleepers that are due within this time; stops early, at the time of the last one, when the condition holds. */
  run(within: Milliseconds, condition: (() => boolean) | null): Promise<boolean>;
  /** Moves at once, then wakes all that are due. */
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
      // Corrects an addition that was rounded down: no sleeper wakes early.
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

interface DueSleeper {
  readonly on: keyof ClockTime;
  readonly at: number;
  readonly after: Milliseconds;
  readonly wake: () => void;
}

/** The sleepers on both clocks. */
function sleepersOn(time: ClockTime) {
  const queues: Record<keyof ClockTime, ReturnType<typeof sleeperQueue>> = {
    wall: sleeperQueue(),
    passed: sleeperQueue(),
  };
  let order = 0;

  const enter = (on: keyof ClockTime, at: number, signal: AbortSignal): Promise<void> => {
    // Negated so that NaN, like a past instant, does not sleep at all.
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
      // Many loops share one stop signal. Without this, Node would warn of a leak from the eleventh listener on.
      setMaxListeners(0, signal);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  };

  /** The queue whose first sleeper is due first. */
  const first = (): {
    readonly on: keyof ClockTime;
    readonly sleeper: Sleeper;
    readonly after: Milliseconds;
  } | null => {
    const ahead = (['passed', 'wall'] as const).flatMap((on) => {
      const sleeper = queues[on].first();
      return sleeper === null ? [] : [{ on, sleeper, after: Math.max(sleeper.at - time[on], 0) }];
    });
    return ahead.toSorted((a, b) => a.after - b.after || a.sleeper.order - b.sleeper.order)[0] ?? null;
  };

  return {
    enter,
    /** Removes the first one that is due within this time. */
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

/** Waits until all work is idle: nothing is held, and no foreign `setImmediate` is queued. */
function restWatch(): { reached(): Promise<void>; hold(work: PromiseLike<unknown>): void } {
  const held = new Set<PromiseLike<unknown>>();
  let onRelease: (() => void) | null = null;
  const reached = (): Promise<void> =>
    new Promise((resolve) => {
      let rounds = 0;
      // Runs from the event loop itself, after the microtasks of everything before it, so all follow-up work is queued by now.
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

/**
 * Calls of `setImmediate` queued by clocks of this module. Several clocks may wait at once; their calls do not count as work
 * for each other.
 */
let ownHops = 0;

/** Number of rounds to wait where the queue of the event loop cannot be inspected. */
const blindRounds = 16;

/** Calls back after one turn of the event loop: after what is queued now, and after all promise callbacks. */
function hop(callback: () => void): void {
  ownHops += 1;
  setImmediate(() => {
    ownHops -= 1;
    callback();
  });
}

/** Whether a `setImmediate` of other code is still queued. */
function othersAreQueued(round: number): boolean {
  if (typeof process.getActiveResourcesInfo !== 'function') return round < blindRounds;
  let queued = 0;
  for (const resource of process.getActiveResourcesInfo()) if (resource === 'Immediate') queued += 1;
  return queued > ownHops;
}

interface Sleeper {
  readonly at: number;
  /** Order of the calls to sleep, which decides between equal times. */
  readonly order: number;
  readonly wake: () => void;
}

/** Sleepers by time and order. */
function sleeperQueue() {
  /** The first one is last, where it is taken from without moving the others. */
  const sleepers: Sleeper[] = [];

  /** How many are later. */
  const laterThan = ({ at, order }: Sleeper): number => {
    let [low, high] = [0, sleepers.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = sleepers[middle];
      if (other !== undefined && (other.at > at || (other.at === at && other.order > order))) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  return {
    add: (at: number, order: number, wake: () => void): Sleeper => {
      const sleeper = { at, order, wake };
      sleepers.splice(laterThan(sleeper), 0, sleeper);
      return sleeper;
    },
    /** Removes a sleeper that was woken by other means. */
    drop: (sleeper: Sleeper): void => {
      const place = laterThan(sleeper);
      if (sleepers[place] === sleeper) sleepers.splice(place, 1);
    },
    first: (): Sleeper | null => sleepers.at(-1) ?? null,
    takeFirst: (): void => {
      sleepers.pop();
    },
    get size() {
      return sleepers.length;
    },
  };
}
