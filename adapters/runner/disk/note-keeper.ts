import { constants, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { chmod, lstat, mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DiskNote } from '../../../src/agent/disk/disk-note.js';
import type { Clock } from '../../../src/ports/clock.js';
import type { Logger } from '../../../src/ports/logger.js';
import { codeOf } from '../../../src/shared/values.js';
import type { Background } from '../waiting.js';
import type { TaskPaths } from './task-target.js';
import { jsonIn, messageOf } from './text-file.js';

interface Note {
  text: string;
  /** Counts the calls of `set`; `written` is the version on disk. */
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
 * Keeps small files up to date: the latest content of each wins, a failed write is repeated until it succeeds, and no caller
 * waits unless it asks to. Files are replaced atomically, so that a reader finds the old content or the new.
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
    this.#background.run('writing the notes of a task', this.#write(file, note));
  }

  /** Resolves to true when the last value is on disk, or false if it will not be written. */
  kept(file: string): Promise<boolean> {
    const note = this.#notes.get(file);
    if (note === undefined || note.written >= note.version) return Promise.resolve(true);
    if (this.#closed.signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => note.waiters.push({ version: note.version, resolve }));
  }

  /** Resolves when every value is on disk or will not be written. */
  async flushed(): Promise<void> {
    await Promise.all([...this.#notes.keys()].map((file) => this.kept(file)));
  }

  /** Stops writing below the directory. Resolves when no write is under way that could create the directory again. */
  async forget(directory: string): Promise<void> {
    const forgotten = [...this.#notes].filter(([file]) => file.startsWith(`${directory}/`));
    for (const [file, note] of forgotten) {
      this.#notes.delete(file);
      for (const { resolve } of note.waiters.splice(0)) resolve(false);
    }
    await Promise.all(forgotten.map(([, note]) => note.underWay));
  }

  /** Stops repeating failed writes. */
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
        this.#logger.warn({ file, error: fault }, 'The state of a task could not be written; retrying');
      if (this.#closed.signal.aborted) break;
      await this.#clock.sleep(pause, this.#closed.signal);
      pause = Math.min(pause * 2, longestPause);
    }
    note.writing = false;
    for (const { resolve } of note.waiters.splice(0)) resolve(false);
    if (note.written >= note.version && this.#notes.get(file) === note) this.#notes.delete(file);
  }
}

/** Returns the fault. */
async function replace(file: string, text: string): Promise<string | undefined> {
  try {
    return await replaceFile(file, text);
  } catch (error) {
    if (!inTheWay.has(codeOf(error))) return messageOf(error);
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

/** Error codes for folders that are missing or replaced by something else. */
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
 * A task has removed, locked or replaced its folder. The end of a task can be reported only after it was
 * recorded, so the folders of the notes, the task and the allocation are created again.
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

/**
 * Notes about disks that replacements may take over: one file each in `<directory>/disks`, where tasks cannot write.
 * A note is on disk when `set` returns. Throws if the disk is full.
 */
export class DiskNotes {
  readonly #folder: string;
  readonly #notes: Map<string, DiskNote>;

  constructor(directory: string) {
    this.#folder = join(directory, 'disks');
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const notes: DiskNote[] = [];
    for (const name of readdirSync(this.#folder)) {
      const note = readNote(join(this.#folder, name));
      if (note !== undefined) notes.push(note);
      // Incomplete after the runner was killed or the power failed.
      else rmSync(join(this.#folder, name), { recursive: true, force: true });
    }
    this.#notes = new Map(notes.map((note) => [note.allocation, note]));
    // A runner killed right after a takeover leaves the note of the previous allocation, which has no data any more.
    for (const { from, settled } of notes) if (settled && from !== null) this.remove(from);
  }

  all(): readonly DiskNote[] {
    return [...this.#notes.values()];
  }

  get(allocation: string): DiskNote | undefined {
    return this.#notes.get(allocation);
  }

  set(note: DiskNote): void {
    const file = this.#file(note.allocation);
    writeFileSync(`${file}.new`, JSON.stringify(note), { mode: 0o600 });
    renameSync(`${file}.new`, file);
    this.#notes.set(note.allocation, note);
  }

  remove(allocation: string): void {
    if (!this.#notes.delete(allocation)) return;
    rmSync(this.#file(allocation), { force: true });
  }

  #file(allocation: string): string {
    return join(this.#folder, `${allocation}.json`);
  }
}

function readNote(file: string): DiskNote | undefined {
  if (!file.endsWith('.json')) return undefined;
  const note = jsonIn(file) as Partial<DiskNote> | null | undefined;
  const isNote = typeof note?.allocation === 'string' && typeof note.settled === 'boolean';
  return isNote && file.endsWith(`/${note.allocation}.json`) ? (note as DiskNote) : undefined;
}

/** A set of numbers that an agent keeps on disk to find them after a restart; in memory without a disk. */
export class NumberNote {
  readonly #file: string | null;
  #numbers: readonly number[] | undefined;

  constructor(paths: TaskPaths | null, name: string) {
    this.#file = paths === null ? null : join(paths.notes, name);
    if (this.#file === null) this.#numbers = [];
  }

  async read(): Promise<readonly number[]> {
    this.#numbers ??= numbersIn(this.#file ?? '');
    return this.#numbers;
  }

  async add(numbers: readonly number[]): Promise<void> {
    const all = [...new Set([...(await this.read()), ...numbers])];
    await this.#write(all);
    this.#numbers = all;
  }

  /** Takes effect at once, even if the disk write fails. */
  async remove(number: number): Promise<void> {
    const left = (await this.read()).filter((each) => each !== number);
    this.#numbers = left;
    if (left.length > 0) await this.#write(left);
    else if (this.#file !== null) await rm(this.#file, { force: true });
  }

  async clear(): Promise<void> {
    if (this.#numbers?.length === 0) return;
    if (this.#file !== null) await rm(this.#file, { force: true });
    this.#numbers = [];
  }

  async #write(numbers: readonly number[]): Promise<void> {
    if (this.#file === null) return;
    await writeFile(`${this.#file}.new`, JSON.stringify(numbers), { mode: 0o600 });
    await rename(`${this.#file}.new`, this.#file);
  }
}

function numbersIn(file: string): readonly number[] {
  const numbers = jsonIn(file);
  return Array.isArray(numbers) ? numbers.filter((number): number is number => Number.isInteger(number)) : [];
}
