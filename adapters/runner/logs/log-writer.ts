import { closeSync, constants, openSync, rmSync, writeSync } from 'node:fs';
import { type LogLimits, logPosition } from './log-files.js';

/** Flags for appending to a file: links are not followed, and a pipe without a reader fails instead of blocking. */
const appending =
  constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Writes the lines of one stream of a function's log to `<base>.0`, `<base>.1` and so on, keeping the newest files. A
 * line that cannot be written is dropped: a log must not make a task fail.
 */
export class LogWriter {
  readonly #base: string;
  readonly #limits: LogLimits;
  #number = 0;
  #size = 0;
  #file: number | undefined;

  constructor(base: string, limits: LogLimits) {
    this.#base = base;
    this.#limits = limits;
  }

  line(text: string): void {
    if (this.#limits.disabled) return;
    const bytes = Buffer.from(`${text}\n`);
    try {
      let file = this.#file ?? this.#open();
      if (this.#size > 0 && this.#size + bytes.length > this.#limits.maximumFileBytes) file = this.#next();
      writeSync(file, bytes);
      this.#size += bytes.length;
    } catch {
      this.close();
    }
  }

  close(): void {
    const file = this.#file;
    this.#file = undefined;
    if (file !== undefined) closeSync(file);
  }

  #open(): number {
    const { number, size } = logPosition(this.#base);
    return this.#use(number, size);
  }

  #next(): number {
    this.close();
    const file = this.#use(this.#number + 1, 0);
    rmSync(`${this.#base}.${this.#number - Math.max(1, this.#limits.maximumFiles)}`, { force: true });
    return file;
  }

  #use(number: number, size: number): number {
    const file = openSync(`${this.#base}.${number}`, appending, 0o600);
    this.#number = number;
    this.#size = size;
    this.#file = file;
    return file;
  }
}
