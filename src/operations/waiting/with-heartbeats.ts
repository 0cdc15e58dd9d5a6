import type { Clock } from '../../ports/clock.js';
import type { Milliseconds } from '../../shared/duration.js';
import { untilFirst } from './until-change.js';

interface Heartbeats {
  readonly clock: Clock;
  /** Milliseconds without an item after which a heartbeat is emitted; repeated. */
  readonly period: Milliseconds;
  /** Ends the heartbeats. The items must end on their own when it aborts. */
  readonly signal: AbortSignal;
}

/** The items, with `undefined` as a heartbeat after each period without an item. Requests at most one item in advance. */
export async function* withHeartbeats<T>(items: AsyncIterable<T>, how: Heartbeats): AsyncGenerator<T | undefined> {
  const source = items[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = source.next();
      const arrival = new Arrival(next);
      while (!(await arrival.within(how))) yield undefined;
      const { done, value } = await next;
      if (done === true) return;
      yield value;
    }
  } finally {
    await source.return?.();
  }
}

/** Shows whether a promise has settled. Adds a single reaction to it, however often it is awaited: an item may take days. */
class Arrival {
  #isThere = false;
  #wake = (): void => undefined;

  constructor(next: Promise<unknown>) {
    const arrived = (): void => {
      this.#isThere = true;
      this.#wake();
    };
    next.then(arrived, arrived);
  }

  /** Whether it settles within a period, or the signal aborts. */
  async within({ clock, period, signal }: Heartbeats): Promise<boolean> {
    if (this.#isThere) return true;
    await untilFirst(signal, (either) => [
      new Promise<void>((resolve) => {
        this.#wake = resolve;
        either.addEventListener('abort', () => resolve(), { once: true });
      }),
      clock.sleep(period, either),
    ]);
    return this.#isThere || signal.aborted;
  }
}
