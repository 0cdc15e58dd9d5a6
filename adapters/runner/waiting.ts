import type { Clock } from '../../src/ports/clock.js';
import type { Logger } from '../../src/ports/logger.js';
import { timerOf } from '../../src/shared/duration.js';
import { isTransientFault, messageOf } from './disk/text-file.js';

/**
 * Work that its caller does not await. Its exceptions are logged and have no other effect, and a stopping runner can
 * wait for all of it.
 */
export class Background {
  readonly #running = new Set<Promise<void>>();
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  run(what: string, work: Promise<unknown>): void {
    const watched: Promise<void> = work.then(
      () => this.#end(watched),
      (error: unknown) => {
        this.#logger.error({ work: what, error: messageOf(error) }, 'Internal error of the runner');
        this.#end(watched);
      },
    );
    this.#running.add(watched);
  }

  /** Resolves when all work has ended, including work that it started. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #end(work: Promise<void>): void {
    this.#running.delete(work);
  }
}

/** Waits for the work until the signal aborts. */
export function beforeAbort(signal: AbortSignal, work: Promise<unknown>): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      signal.removeEventListener('abort', end);
      resolve();
    };
    signal.addEventListener('abort', end);
    work.then(end, end);
  });
}

/** Waits for the work at most this many milliseconds of real time. */
export function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  return beforeAbort(AbortSignal.timeout(timerOf(milliseconds)), work);
}

/** Milliseconds for which work is repeated while the disk is full or file handles are used up. */
const transientTimeout = 5 * 60_000;

/** Repeats work for a limited time after temporary shortages. `onWait` is called once, after the first failure. */
export async function insist<T>(
  clock: Clock,
  signal: AbortSignal,
  work: () => T | Promise<T>,
  onWait?: (error: unknown) => void,
): Promise<T> {
  let until: number | undefined;
  for (let pause = 100; ; pause = Math.min(pause * 2, 5000)) {
    try {
      return await work();
    } catch (error) {
      const isFirst = until === undefined;
      until ??= clock.monotonic() + transientTimeout;
      if (!isTransientFault(error) || signal.aborted || clock.monotonic() >= until) throw error;
      if (isFirst) onWait?.(error);
    }
    await clock.sleep(pause, signal);
  }
}

/** Milliseconds of real time between two attempts of `untilPossible`. */
const attemptPause = 100;

/** The same without a limit, for work without which nothing can continue. */
export async function untilPossible<T>(work: () => T | Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isTransientFault(error)) throw error;
    }
    await new Promise((resume) => setTimeout(resume, attemptPause).unref());
  }
}
