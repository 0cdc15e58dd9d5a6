import type { CommandOutput } from '../../../src/agent/link/node-command.js';
import type { ExecRequest } from './task-driver.js';

/** Queued messages at which `put` starts to block. */
const room = 16;

/** A bounded queue of output between its producer and the caller. Closing the iterator, or `end`, notifies the producer. */
export class Outlet implements AsyncIterable<CommandOutput> {
  readonly #queue: CommandOutput[] = [];
  readonly #onEnd: () => void;
  #taker: (() => void) | undefined;
  readonly #putters: (() => void)[] = [];
  #ended = false;

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  push(output: CommandOutput): void {
    if (this.#ended) return;
    this.#queue.push(output);
    this.#wake();
  }

  /** Resolves when there is room for more; false if the reader has ended. */
  async put(output: CommandOutput): Promise<boolean> {
    this.push(output);
    while (!this.#ended && this.#queue.length >= room) await new Promise<void>((resume) => this.#putters.push(resume));
    return !this.#ended;
  }

  /** Queued messages are still delivered. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#onEnd();
    this.#wake();
    this.#release();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<CommandOutput> {
    try {
      for (;;) {
        const next = this.#queue.shift();
        if (this.#queue.length < room) this.#release();
        if (next !== undefined) yield next;
        else if (this.#ended) return;
        else await new Promise<void>((resume) => (this.#taker = resume));
      }
    } finally {
      this.end();
    }
  }

  #wake(): void {
    this.#taker?.();
    this.#taker = undefined;
  }

  #release(): void {
    for (const resume of this.#putters.splice(0)) resume();
  }
}

/** The output of a command in a task's environment. It ends with the caller's connection or with the task, which the caller sees. */
export function commandOutlet(
  { signal, taskEnded }: Pick<ExecRequest, 'signal' | 'taskEnded'>,
  onEnd: () => void,
): Outlet {
  const endWithAsker = (): void => outlet.end();
  const endWithTask = (): void => {
    outlet.push({ type: 'failed', message: 'plugin is shut down' });
    outlet.end();
  };
  const outlet = new Outlet(() => {
    signal.removeEventListener('abort', endWithAsker);
    taskEnded.removeEventListener('abort', endWithTask);
    onEnd();
  });
  signal.addEventListener('abort', endWithAsker);
  taskEnded.addEventListener('abort', endWithTask);
  // An aborted signal fires no further events.
  if (signal.aborted) endWithAsker();
  if (taskEnded.aborted) endWithTask();
  return outlet;
}
