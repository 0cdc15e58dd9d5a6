import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DiskNote } from '../../../src/agent/disk/disk-note.js';
import type { TaskPaths } from './task-paths.js';
import { textIn } from './text-file.js';

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
  const text = textIn(file);
  try {
    const note = JSON.parse(text ?? '') as Partial<DiskNote> | null;
    const isNote = typeof note?.allocation === 'string' && typeof note.settled === 'boolean';
    return isNote && file.endsWith(`/${note.allocation}.json`) ? (note as DiskNote) : undefined;
  } catch {
    return undefined;
  }
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
  const text = textIn(file) ?? '[]';
  try {
    const numbers: unknown = JSON.parse(text);
    return Array.isArray(numbers) ? numbers.filter((number): number is number => Number.isInteger(number)) : [];
  } catch {
    return [];
  }
}
