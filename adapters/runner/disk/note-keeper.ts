import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '../../../src/ports/clock.js';
import type { Logger } from '../../../src/ports/logger.js';
import type { Background } from '../background.js';
import { messageOf } from './transient-fault.js';

interface Note {
  text: string;
  /** Number of times it was set; `written` is the version on disk. */
  version: number;
  written: number;
  readonly waiters: { readonly version: number; readonly resolve: (kept: boolean) => void }[];
  writing: boolean;
}

const shortestPause = 100;
const longestPause = 5000;

/**
 * Keeps small files up to date: the newest text of each wins, a write that fails is repeated until it succeeds, and nobody
 * waits for it but those who ask to. A file is replaced as a whole, so that a reader finds the old text or the new one.
 */
export class NoteKeeper {
  readonly #notes = new Map<string, Note>();
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #background: Background;
  readonly #closed = new AbortController();

  constructor(clock: Clock, logger: Logger, background: Background) {
    this.#clock = clock;
    this.#logger = logger;
    this.#background = background;
  }

  set(file: string, text: string): void {
    const note = this.#notes.get(file) ?? { text: '', version: 0, written: 0, waiters: [], writing: false };
    this.#notes.set(file, note);
    note.text = text;
    note.version += 1;
    if (note.writing || this.#closed.signal.aborted) return;
    note.writing = true;
    this.#background.run('notes of a task', this.#write(file, note));
  }

  /** Resolves to true when the last value is on disk, false if it will not be written any more. */
  kept(file: string): Promise<boolean> {
    const note = this.#notes.get(file);
    if (note === undefined || note.written >= note.version) return Promise.resolve(true);
    if (this.#closed.signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => note.waiters.push({ version: note.version, resolve }));
  }

  /** Resolves when everything that was set is on disk, or will not be any more. */
  async flushed(): Promise<void> {
    await Promise.all([...this.#notes.keys()].map((file) => this.kept(file)));
  }

  /** Nothing more is to be written to files below the directory. */
  forget(directory: string): void {
    for (const [file, note] of this.#notes) {
      if (!file.startsWith(`${directory}/`)) continue;
      this.#notes.delete(file);
      for (const { resolve } of note.waiters.splice(0)) resolve(false);
    }
  }

  /** Stops repeating what fails. */
  close(): void {
    this.#closed.abort();
  }

  async #write(file: string, note: Note): Promise<void> {
    let pause = shortestPause;
    while (this.#notes.get(file) === note && note.written < note.version) {
      const { version } = note;
      const fault = await replace(file, note.text);
      if (fault === undefined) {
        note.written = version;
        pause = shortestPause;
        for (const waiter of note.waiters.splice(0)) {
          if (waiter.version <= version) waiter.resolve(true);
          else note.waiters.push(waiter);
        }
        continue;
      }
      if (pause === shortestPause)
        this.#logger.warn({ file, error: fault }, 'A note could not be written; trying again');
      if (this.#closed.signal.aborted) break;
      await this.#clock.sleep(pause, this.#closed.signal);
      pause = Math.min(pause * 2, longestPause);
    }
    note.writing = false;
    for (const { resolve } of note.waiters.splice(0)) resolve(false);
    if (note.written >= note.version && this.#notes.get(file) === note) this.#notes.delete(file);
  }
}

/** Gives what went wrong. */
async function replace(file: string, text: string): Promise<string | undefined> {
  try {
    await writeFile(`${file}.new`, text, { mode: 0o600 });
    await rename(`${file}.new`, file);
    return undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return messageOf(error);
  }
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(`${file}.new`, text, { mode: 0o600 });
    await rename(`${file}.new`, file);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
