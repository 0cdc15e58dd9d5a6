import { write } from 'node:fs';

/** The most bytes per write: the size of a terminal's input buffer. */
const pieceBytes = 4096;
/** The shortest and the longest pause between attempts while the buffer is full, in milliseconds. */
const firstPause = 1;
const longestPause = 50;

/**
 * Writes to a terminal as fast as its process reads. The library's own writer buffers without a limit, polls without a pause,
 * and continues after the terminal was closed, when its descriptor may belong to another file. For one writer at a time.
 */
export class TerminalInput {
  readonly #terminal: number;
  #writing: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  /** `terminal`: its non-blocking file descriptor. */
  constructor(terminal: number) {
    this.#terminal = terminal;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Resolves when all bytes are written or the input was closed. Rejects if the terminal accepts no more input. */
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

  /** Ends the input. When it resolves, the descriptor is unused and can be closed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#writing;
  }
}

/** Returns the number of bytes written. */
function writeOnce(file: number, bytes: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    write(file, bytes, (error, taken) => {
      if (error === null) resolve(taken);
      else if (error.code === 'EAGAIN') resolve(0);
      else reject(error);
    });
  });
}
