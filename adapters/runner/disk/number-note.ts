import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TaskPaths } from './task-paths.js';
import { textIn } from './text-file.js';

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
