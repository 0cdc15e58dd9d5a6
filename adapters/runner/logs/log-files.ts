import { type Dirent, readdirSync, statSync } from 'node:fs';
import { opendir, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

/** What of a task's output is kept, for each of its two streams (job interface, directories and logs). */
export interface LogLimits {
  readonly maximumFiles: number;
  readonly maximumFileBytes: number;
  readonly disabled: boolean;
}

/** Where a stream of output continues: in `<base>.<number>`, which holds `size` bytes already. */
interface LogPosition {
  readonly number: number;
  readonly size: number;
}

const fileNumber = /^(?:0|[1-9][0-9]{0,14})$/;

/** Files of one stream that are considered, the newest; a task can make any number of files beside them. */
const mostFiles = 10_000;

/** Entries of a folder that are read in one step. */
const entriesAtOnce = 256;

/**
 * The numbers of the files `<base>.N` that are there, rising. Tasks can write in the same folder: links, pipes and directories that
 * have such a name are none of them. The folder is read in steps, so that a large one holds up nobody; it has none when it is
 * not there.
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

/** The newest file; file 0 where there is none. */
export async function findLogPosition(base: string): Promise<LogPosition> {
  const number = (await logNumbers(base)).at(-1);
  return number === undefined ? { number: 0, size: 0 } : { number, size: (await stat(`${base}.${number}`)).size };
}

/** The same at once, for functions, which write from within this process. */
export function logPosition(base: string): LogPosition {
  const numbers = readdirSync(dirname(base), { withFileTypes: true }).flatMap(
    (entry) => numberOf(entry, `${basename(base)}.`) ?? [],
  );
  const number = numbers.reduce((newest, each) => Math.max(newest, each), -1);
  return number === -1 ? { number: 0, size: 0 } : { number, size: statSync(`${base}.${number}`).size };
}
