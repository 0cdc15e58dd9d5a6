import type { Logger } from '../../src/ports/logger.js';
import { messageOf } from './disk/transient-fault.js';

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
