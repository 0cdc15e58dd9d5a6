import { closeSync, constants, type Dirent, openSync, readdirSync, rmSync, statSync, writeSync } from 'node:fs';
import { opendir, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { type StreamEnd, tailBytes } from '../../../src/agent/output/output-tail.js';
import { openToRead } from '../disk/text-file.js';

/** How much output of a task is kept, for each of its two streams (job interface, directories and logs). */
export interface LogLimits {
  readonly maximumFiles: number;
  readonly maximumFileBytes: number;
  readonly disabled: boolean;
}

/** Where a stream continues: in `<base>.<number>`, which already has `size` bytes. */
interface LogPosition {
  readonly number: number;
  readonly size: number;
}

const fileNumber = /^(?:0|[1-9][0-9]{0,14})$/;

/** The most files of one stream that are read, the newest; a task can create any number of similar files. */
const mostFiles = 10_000;

/** Directory entries per read. */
const entriesAtOnce = 256;

/**
 * The numbers of the existing files `<base>.N`, ascending. Tasks can write in the same folder: links, pipes and directories with
 * such a name are ignored. The folder is read in steps, so that a large one does not block the event loop; empty if the folder is
 * missing.
 */
export async function logNumbers(base: string): Promise<number[]> {
  const numbers: number[] = [];
  try {
    for await (const entry of await opendir(dirname(base), { bufferSize: entriesAtOnce })) {
      const number = numberOf(entry, `${basename(base)}.`);
      if (number !== undefined) numbers.push(number);
      if (numbers.length >= 2 * mostFiles) keepNewest(numbers);
    }
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  keepNewest(numbers);
  return numbers;
}

function numberOf(entry: Dirent, prefix: string): number | undefined {
  if (!entry.name.startsWith(prefix) || !entry.isFile()) return undefined;
  const text = entry.name.slice(prefix.length);
  return fileNumber.test(text) ? Number(text) : undefined;
}

function keepNewest(numbers: number[]): void {
  numbers.sort((left, right) => left - right).splice(0, Math.max(0, numbers.length - mostFiles));
}

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** The newest file, or file 0 if there is none. */
export async function findLogPosition(base: string): Promise<LogPosition> {
  const number = (await logNumbers(base)).at(-1);
  return number === undefined ? { number: 0, size: 0 } : { number, size: (await stat(`${base}.${number}`)).size };
}

/** The synchronous variant, for functions, which write from this process. */
function logPosition(base: string): LogPosition {
  const numbers = readdirSync(dirname(base), { withFileTypes: true }).flatMap(
    (entry) => numberOf(entry, `${basename(base)}.`) ?? [],
  );
  const number = numbers.reduce((newest, each) => Math.max(newest, each), -1);
  return number === -1 ? { number: 0, size: 0 } : { number, size: statSync(`${base}.${number}`).size };
}

const nothing: StreamEnd = { text: '', isCut: false };

/** The end of one stream of a task's log, from its two newest files; empty if they cannot be read. */
export async function logEnd(base: string): Promise<StreamEnd> {
  try {
    const newest = (await logNumbers(base)).slice(-2).toReversed();
    const parts: Buffer[] = [];
    let left = tailBytes;
    let isCut = false;
    for (const number of newest) {
      const part = await fileEnd(`${base}.${number}`, left);
      parts.unshift(part.bytes);
      left -= part.bytes.length;
      isCut = part.isCut;
      if (isCut || left <= 0) break;
    }
    return { text: Buffer.concat(parts).toString('utf8'), isCut };
  } catch {
    return nothing;
  }
}

async function fileEnd(file: string, most: number): Promise<{ readonly bytes: Buffer; readonly isCut: boolean }> {
  const handle = await openToRead(file);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) return { bytes: Buffer.alloc(0), isCut: false };
    const start = Math.max(0, stats.size - most);
    const bytes = Buffer.alloc(Math.min(most, stats.size));
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, start);
    return { bytes: bytes.subarray(0, bytesRead), isCut: start > 0 };
  } finally {
    await handle.close();
  }
}

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
