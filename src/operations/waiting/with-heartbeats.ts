import type { Clock } from '../../ports/clock.js';
import type { Milliseconds } from '../../shared/duration.js';
import { untilFirst } from './until-first.js';

interface Heartbeats {
  readonly clock: Clock;
  /** Milliseconds without an item after which a heartbeat comes, and then the next one. */
  readonly period: Milliseconds;
  /** Ends the heartbeats. The items must end by themselves when it aborts. */
  readonly signal: AbortSignal;
}

/** The items, with `undefined` as a heartbeat where none has come for a period. At most one item is asked for in advance. */
export async function* withHeartbeats<T>(items: AsyncIterable<T>, how: Heartbeats): AsyncGenerator<T | undefined> {
  const source = items[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = source.next();
      while (!(await comesInTime(next, how))) yield undefined;
      const { done, value } = await next;
      if (done === true) return;
      yield value;
    }
  } finally {
    await source.return?.();
  }
}

async function comesInTime(next: Promise<unknown>, { clock, period, signal }: Heartbeats): Promise<boolean> {
  let isThere = false;
  await untilFirst(signal, (either) => [
    new Promise<void>((resolve) => {
      const arrived = (): void => {
        isThere = true;
        resolve();
      };
      next.then(arrived, arrived);
      either.addEventListener('abort', () => resolve(), { once: true });
    }),
    clock.sleep(period, either),
  ]);
  return isThere || signal.aborted;
}
