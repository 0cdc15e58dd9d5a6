import type { Logger } from '../../src/ports/logger.js';
import { messageOf } from './disk/transient-fault.js';

/**
 * Work that is not awaited where it is begun. Its exceptions are logged and have no other effect, and a runner that stops can
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
        this.#logger.error({ work: what, error: messageOf(error) }, 'The runner met a fault of its own');
        this.#end(watched);
      },
    );
    this.#running.add(watched);
  }

  /** Resolves when everything that was begun has ended, and what that began. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #end(work: Promise<void>): void {
    this.#running.delete(work);
  }
}
