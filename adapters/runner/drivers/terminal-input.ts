import { write } from 'node:fs';

/** Bytes that are offered at once: what a terminal holds for its process. */
const pieceBytes = 4096;
/** Between two attempts while a terminal takes nothing, at first and at last. In milliseconds. */
const firstPause = 1;
const longestPause = 50;

/**
 * Writes to a terminal as fast as its process reads. The library's own writer holds any amount in memory, asks without a pause whether there
 * is room, and continues after the terminal was closed, when its number may be that of another file. For one writer at a time.
 */
export class TerminalInput {
  readonly #terminal: number;
  #writing: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  /** `terminal`: the number of its open file, which takes no more than it has room for. */
  constructor(terminal: number) {
    this.#terminal = terminal;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Resolves when everything was taken, or when the input was closed. Rejects when the terminal takes no more. */
  async write(bytes: Uint8Array): Promise<void> {
    let pause = firstPause;
    for (let at = 0; at < bytes.length && !this.#isClosed; ) {
      const attempt = writeOnce(this.#terminal, bytes.subarray(at, at + pieceBytes));
      this.#writing = attempt.catch(() => undefined);
      const taken = await attempt;
      at += taken;
      if (taken > 0) pause = firstPause;
      else {
        await new Promise((resume) => setTimeout(resume, pause).unref());
        pause = Math.min(pause * 2, longestPause);
      }
    }
  }

  /** When it resolves, nothing uses the terminal any more, and it can be closed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#writing;
  }
}

/** Gives how many bytes were taken. */
function writeOnce(file: number, bytes: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    write(file, bytes, (error, taken) => {
      if (error === null) resolve(taken);
      else if (error.code === 'EAGAIN') resolve(0);
      else reject(error);
    });
  });
}
