import { constants } from 'node:fs';
import { chmod, lstat, mkdir, open, rename, rm } from 'node:fs/promises';
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
  /** The write under way, which never rejects. */
  underWay: Promise<unknown>;
}

const noWrite = Promise.resolve();
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
    const note = this.#notes.get(file) ?? {
      text: '',
      version: 0,
      written: 0,
      waiters: [],
      writing: false,
      underWay: noWrite,
    };
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

  /** Nothing more is to be written to files below the directory. Resolves when no write to them is under way, which could make it anew. */
  async forget(directory: string): Promise<void> {
    const forgotten = [...this.#notes].filter(([file]) => file.startsWith(`${directory}/`));
    for (const [file, note] of forgotten) {
      this.#notes.delete(file);
      for (const { resolve } of note.waiters.splice(0)) resolve(false);
    }
    await Promise.all(forgotten.map(([, note]) => note.underWay));
  }

  /** Stops repeating what fails. */
  close(): void {
    this.#closed.abort();
  }

  async #write(file: string, note: Note): Promise<void> {
    let pause = shortestPause;
    while (this.#notes.get(file) === note && note.written < note.version) {
      const { version } = note;
      const replaced = replace(file, note.text);
      note.underWay = replaced;
      const fault = await replaced;
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
    return await replaceFile(file, text);
  } catch (error) {
    if (!inTheWay.has(String((error as NodeJS.ErrnoException).code))) return messageOf(error);
  }
  try {
    await clearTheWay(file);
    return await replaceFile(file, text);
  } catch (error) {
    return messageOf(error);
  }
}

const writing =
  constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW | constants.O_NONBLOCK;

async function replaceFile(file: string, text: string): Promise<undefined> {
  const handle = await open(`${file}.new`, writing, 0o600);
  try {
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
  await rename(`${file}.new`, file);
}

/** Errors that mean that the file's folders are missing, or that something else is in their place. */
const inTheWay: ReadonlySet<string> = new Set([
  'ENOENT',
  'ENOTDIR',
  'EISDIR',
  'ENOTEMPTY',
  'EEXIST',
  'ELOOP',
  'ENXIO',
  'EACCES',
]);

/**
 * A task has removed its folder, locked it, or put something else in its place. The end of a task can be reported only after it was
 * noted, so the folders are made anew: that of the notes, that of the task and that of the allocation.
 */
async function clearTheWay(file: string): Promise<void> {
  const notes = dirname(file);
  for (const folder of [dirname(dirname(notes)), dirname(notes), notes]) {
    const there = await lstat(folder).catch(() => undefined);
    if (there === undefined) continue;
    if (there.isDirectory()) await chmod(folder, there.mode | 0o700);
    else await rm(folder);
  }
  await mkdir(notes, { recursive: true, mode: 0o700 });
  await rm(`${file}.new`, { recursive: true, force: true });
  const old = await lstat(file).catch(() => undefined);
  if (old?.isDirectory() === true) await rm(file, { recursive: true });
}
